"""The statements of a report that its summary is written from."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass
from itertools import pairwise, takewhile

from research.engine.evidence.ledger import Ledger
from research.engine.journal.forms import Form
from research.engine.report.draft import Section, Statement
from research.engine.report.parts.disagreement import rival_groups
from research.engine.report.parts.main_findings import MainFindings
from research.engine.report.parts.subjects import refers_back, turns_back_early
from research.engine.text.tokens import term_set

UNDISPUTED = 2
"""Places for what answers most directly that the sides of disputes leave."""


@dataclass(frozen=True)
class Summarised:
    """A statement, and the sentence that it refers back to if that isn't the one in front of it."""

    aspect_id: str
    statement: Statement
    before: str = ""

    @property
    def size(self) -> int:
        return len(self.statement.text) + len(self.before)


def summarised_of(
    section: Section, ledger: Ledger, most: int, wanted: Set[Statement] = frozenset()
) -> list[Summarised]:
    """Return about so many cited statements of a section: both sides of its disputes, and those
    that answer most directly, and further ones that are `wanted`. The most direct one leads, the
    others stand in the section's order.

    One that refers back is left out unless it is a side of a dispute, the sentence before it is
    shown too, or nothing else is there.
    """
    ranked = MainFindings(ledger).ranked(section)
    known = term_set(f"{ledger.question} {ledger.aspects[section.aspect_id].text}")
    language, is_full = ledger.plan.language, ledger.began >= Form.COMPUTED
    leaning = {s for s in ranked if refers_back(s.body, language, known)}
    if is_full:
        leaning |= {s for s in ranked if turns_back_early(s.body, language, known)}
    cited = [said for said in section.statements if said.evidence]
    disputes = [group for group in rival_groups(cited, ledger) if len(group) > 1]
    kept = _sides(disputes, ranked, most - UNDISPUTED, is_full)
    most = max(most, len(kept) + UNDISPUTED) if is_full else most
    disputed = {said for group in disputes for said in group}
    usual = [*ranked, *(said for said in cited if said.quoted and not _is_apart(said, ledger))]
    for said in usual:
        if said not in leaning | disputed and len(kept) < most:
            kept.add(said)
    for before, said in pairwise(section.statements):
        if said in leaning - disputed and before in kept and len(kept) < most:
            kept.add(said)
    kept = (kept | (wanted & {*cited})) or {*cited[:1]}
    openings = {group[0] for group in disputes}
    shown = [
        Summarised(section.aspect_id, said, _before(section, at, kept, leaning, openings))
        for at, said in enumerate(section.statements)
        if said in kept
    ]
    heads = [s for s in ranked if s in kept and (s in openings or s not in leaning | disputed)]
    return _led_by(heads[0], shown, leaning | (disputed - openings)) if heads else shown


def _is_apart(said: Statement, ledger: Ledger) -> bool:
    """Return whether a quotation has what nothing may be stated from."""
    records = (ledger.book.records[i] for i in said.evidence)
    return ledger.began >= Form.COMPUTED and any(record.is_dictated for record in records)


def _led_by(
    head: Statement, shown: Sequence[Summarised], followers: set[Statement]
) -> list[Summarised]:
    """Return what is shown with this statement first, and what belongs behind it."""
    start = next(at for at, each in enumerate(shown) if each.statement == head)
    rest = shown[start + 1 :]
    behind = [*takewhile(lambda each: each.statement in followers, rest)]
    return [shown[start], *behind, *shown[:start], *rest[len(behind) :]]


def _sides(
    disputes: Sequence[list[Statement]], ranked: Sequence[Statement], most: int, tells_all: bool
) -> set[Statement]:
    """Return the statements of as many disputes as there is room for, of a long one two; two of
    every one if it `tells_all`.
    """
    rank = {said: at for at, said in enumerate(ranked)}
    kept: set[Statement] = set()
    for group in sorted(disputes, key=lambda each: min(rank.get(s, len(rank)) for s in each)):
        for sides in (group, group[:2]):
            is_short = tells_all and sides is not group
            if is_short or len(kept | {*sides}) <= most:
                kept |= {*sides}
                break
    return kept


def _before(
    section: Section,
    at: int,
    kept: set[Statement],
    leaning: set[Statement],
    openings: set[Statement],
) -> str:
    """Return the sentence in front of a statement if it refers back to it, or introduces a dispute
    with it, unless that sentence is shown itself.
    """
    said, before = section.statements[at], section.statements[at - 1] if at else None
    if before is None or before in kept:
        return ""
    is_introduced = said in openings and not before.evidence
    return before.body if said in leaning or is_introduced else ""
