"""Statements of which only one can be right, as the author of a report's summary finds them.

Each section is drafted from its own evidence and each statement checked against its own quotes, so
two may contradict each other where a draft misread a quote, or where sources disagree. A repair
sees the quotes of both. What the quotes carry on both sides is told as a dispute, or as open where
both are from the same site.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from research.engine.evidence.ledger import Ledger
from research.engine.llm_tasks.compared_findings import find_disagreements
from research.engine.records import OpenPoint
from research.engine.report.draft import Clash, Draft, Fault, Section, Statement, aspect_of

ONLY_ONE = "only one of this and [{n}] can be right: {about}"
RESTS_ON = "it rests on [{n}], which may change"
Mended = Mapping[Statement, Statement | None]


def new_clashes(draft: Draft, ledger: Ledger) -> list[Clash]:
    """Return the clashes of statements that the sections still have and don't tell as a dispute, or
    as an earlier and a later value.
    """
    told = {said for section in draft.sections for said in section.statements}
    return [
        each
        for each in draft.clashes
        if told.issuperset((each.one, each.other)) and not _is_known(each, ledger)
    ]


def _is_known(clash: Clash, ledger: Ledger) -> bool:
    records, newer = ledger.book.records, ledger.relations.replaced
    pairs = [(one, other) for one in clash.one.evidence for other in clash.other.evidence]
    return any(
        other in records[one].contradicts or newer.get(one) == other or newer.get(other) == one
        for one, other in pairs
    )


def clash_faults(draft: Draft, clashes: Sequence[Clash]) -> list[Fault]:
    """Return the statements that clash, and those of the short answer and of the course of events
    that rest on one of them, as the repair is told of them; quotations stay as they are.
    """
    numbers = {said: number for number, said in reversed([*enumerate(draft.statements, 1)])}
    reasons = dict[Statement, str]()
    for each in clashes:
        for said, other in ((each.one, each.other), (each.other, each.one)):
            reasons.setdefault(said, ONLY_ONE.format(n=numbers[other], about=each.about))
    for said in [*reasons]:
        for summed in (*draft.short_answer, *draft.course):
            if {*summed.evidence} >= {*said.evidence}:
                reasons.setdefault(summed, RESTS_ON.format(n=numbers[said]))
    faults = (Fault(numbers[said], said, reason) for said, reason in reasons.items())
    return sorted((each for each in faults if not each.statement.quoted), key=lambda f: f.number)


def with_clashes_told(
    draft: Draft, clashes: Iterable[Clash], mended: Mended, ledger: Ledger
) -> Draft:
    """Return a repaired draft that tells the clashes of which neither side was `mended`: as a
    dispute where their sources are independent, otherwise as open.
    """
    before = dict(ledger.book.records)
    for each in clashes:
        if mended.keys().isdisjoint((each.one, each.other)):
            draft = _told(draft, each, ledger)
    ledger.emit_evidence(before)
    return draft


def _told(draft: Draft, clash: Clash, ledger: Ledger) -> Draft:
    one, other = clash.one.evidence[0], clash.other.evidence[0]
    if find_disagreements(ledger, [(one, other)]):
        records, matters = ledger.book.records, ledger.relations.matters
        ledger.book.oppose(records[one], records[other])
        ledger.relations = replace(ledger.relations, matters={**matters, (one, other): clash.about})
        return _side_by_side(draft, clash)
    part = aspect_of(clash.one, ledger)
    if part is None or not clash.about:
        return draft
    return replace(draft, open=(*(draft.open or ()), OpenPoint(part, clash.about)))


def _side_by_side(draft: Draft, clash: Clash) -> Draft:
    """Return the draft whose second statement of a clash stands behind the first."""

    def placed(section: Section) -> Section:
        told = [said for said in section.statements if said != clash.other]
        if clash.one in told:
            told.insert(told.index(clash.one) + 1, clash.other)
        return replace(section, statements=tuple(told))

    sections = tuple(map(placed, draft.sections))
    return replace(draft, sections=tuple(each for each in sections if each.statements))
