"""Both sides of a disagreement next to each other, in sections and in the summary."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from research.engine.evidence.ledger import Ledger
from research.engine.report.draft import Draft, Section, Statement


def join_rivals(draft: Draft, ledger: Ledger, goes_on: bool = True) -> Draft:
    """Return the draft with each statement followed by the one that contradicts it.

    If the draft lacks the other side, its claim is inserted. If a side `goes_on` in further
    statements, the other one stays behind them; in earlier runs it came behind the first.
    """
    every = [said for section in draft.sections for said in section.statements]
    moved: set[Statement] = set()

    def joined(section: Section) -> Section:
        told: list[Statement] = []
        for at, said in enumerate(section.statements):
            if said in moved:
                continue
            moved.add(said)
            told.append(said)
            for rival in _rivals_of(said, ledger):
                if goes_on and _follows(rival, said, section.statements[at + 1 :]):
                    continue
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


def _follows(rival: str, said: Statement, rest: Sequence[Statement]) -> bool:
    """Return whether a record is cited by the first statement after those that share evidence with
    this one.
    """
    other = next(
        (s for s in rest if rival in s.evidence or not {*s.evidence} & {*said.evidence}), said
    )
    return rival in other.evidence


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


def rival_groups(statements: Iterable[Statement], ledger: Ledger) -> Iterator[list[Statement]]:
    """Yield the statements, together with those right behind them that contradict them."""
    group: list[Statement] = []
    for said in statements:
        if group and any(_disagree(said, other, ledger) for other in group):
            group.append(said)
            continue
        if group:
            yield group
        group = [said]
    if group:
        yield group


def untold_rivals(draft: Draft, ledger: Ledger) -> dict[Statement, list[str]]:
    """Return the records that contradict what a draft says and that it doesn't cite, each with the
    first statement that it contradicts, in a section if there is one.
    """
    records = ledger.book.records
    known = {i for said in draft.statements for i in said.evidence}
    found: dict[Statement, list[str]] = {}
    for said in (*(s for each in draft.sections for s in each.statements), *draft.short_answer):
        for record_id in () if said.is_column or said.is_verdict else said.evidence:
            for rival in records[record_id].contradicts:
                if rival in records and rival not in known:
                    found.setdefault(said, []).append(rival)
                    known.add(rival)
    return found


def _disagree(one: Statement, other: Statement, ledger: Ledger) -> bool:
    if any(each.is_column or each.is_verdict for each in (one, other)):
        return False
    records = ledger.book.records
    rivals = {i for each in one.evidence if each in records for i in records[each].contradicts}
    return not rivals.isdisjoint(other.evidence)


def _rivals_of(said: Statement, ledger: Ledger) -> list[str]:
    """Return the records that contradict those that a statement cites, without its own."""
    records = ledger.book.records
    if said.quoted or said.is_column or said.is_verdict:
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
