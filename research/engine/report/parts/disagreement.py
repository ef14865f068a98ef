"""Both sides of a disagreement next to each other, in sections and in the summary."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from research.engine.evidence.ledger import Ledger
from research.engine.report.draft import Draft, Section, Statement


def join_rivals(draft: Draft, ledger: Ledger) -> Draft:
    """Return the draft with each statement followed by the one that contradicts it.

    If the draft lacks the other side, its claim is inserted.
    """
    every = [said for section in draft.sections for said in section.statements]
    moved: set[Statement] = set()

    def joined(section: Section) -> Section:
        told: list[Statement] = []
        for said in section.statements:
            if said in moved:
                continue
            moved.add(said)
            told.append(said)
            for rival in _rivals_of(said, ledger):
                if any(rival in other.evidence for other in told[-3:]):
                    continue
                other = next((s for s in every if rival in s.evidence and s not in moved), None)
                if other is None and any(rival in each.evidence for each in moved):
                    continue
                other = other or _as_statement(rival, ledger)
                moved.add(other)
                told.append(replace(other, is_item=said.is_item))
        return replace(section, statements=tuple(told))

    sections = tuple(map(joined, draft.sections))
    return replace(draft, sections=tuple(each for each in sections if each.statements))


def with_both_sides(
    summary: Sequence[Statement], sections: Iterable[Section], ledger: Ledger
) -> tuple[Statement, ...]:
    """Return the summary with the other side behind each statement that sources contradict."""
    every = [said for section in sections for said in section.statements]
    told: list[Statement] = []
    cited = {i for said in summary for i in said.evidence}
    for said in summary:
        told.append(said)
        for rival in _rivals_of(said, ledger):
            other = next((s for s in every if rival in s.evidence and not s.quoted), None)
            if rival not in cited and other is not None:
                told.append(other)
                cited |= set(other.evidence)
    return tuple(told)


def _rivals_of(said: Statement, ledger: Ledger) -> list[str]:
    """Return the records that contradict those that a statement cites, without its own."""
    records = ledger.book.records
    if said.quoted or said.is_column:
        return []
    return [
        rival
        for record_id in said.evidence
        if record_id in records
        for rival in records[record_id].contradicts
        if rival in records and rival not in said.evidence
    ][:1]


def _as_statement(record_id: str, ledger: Ledger) -> Statement:
    return Statement(ledger.book.records[record_id].claim, (record_id,))
