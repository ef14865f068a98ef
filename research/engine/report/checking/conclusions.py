"""Conclusions: sentences that rank, order or judge by findings, as no quote need do.

Code looks for what one has of its own, as with next steps, and a believed verifier judges whether
it follows from its quotes for who asked.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from research.engine.evidence.ledger import Ledger
from research.engine.report.checking.next_steps import find_strangeness
from research.engine.report.draft import Draft, Fault, Section, Statement

_COUNT = re.compile(r"\b(?:one|two|three|four|five|six|seven|eight|both)\b", re.IGNORECASE)
MOST_AUTHORED = 3
"""Conclusions that a short section of an author may have."""
NOT_FOLLOWING = (
    "a checker found that it doesn't follow: it has a ground that its quotes don't give, is firmer "
    "than they are, or takes silence for a no"
)


def with_few_conclusions(draft: Draft) -> Draft:
    """Return a draft in which only the short answer and the first such sentence of each section
    conclude, or in one that its author ordered half of its sentences, at least `MOST_AUTHORED`;
    others are statements like any.
    """

    def first_few(section: Section) -> Section:
        size = len(section.statements)
        most = max(MOST_AUTHORED, -(-size // 2)) if draft.is_authored else 1
        kept = [said for said in section.statements if said.concludes][:most]
        return replace(section, statements=_others_plain(section.statements, kept))

    return replace(draft, sections=tuple(map(first_few, draft.sections)))


def _others_plain(
    statements: Iterable[Statement], kept: Sequence[Statement]
) -> tuple[Statement, ...]:
    return tuple(
        replace(said, concludes=False) if said.concludes and said not in kept else said
        for said in statements
    )


def conclusion_faults(draft: Draft, ledger: Ledger) -> list[Fault]:
    """Return the conclusions with a figure, name or identifier of their own, or on nothing that may
    be stated, by their numbers in the draft.
    """
    return [
        Fault(number, said, strange)
        for number, said in enumerate(draft.statements, 1)
        if said.concludes and (strange := find_strangeness(_without_counts(said), ledger))
    ]


def _without_counts(said: Statement) -> Statement:
    """Return a conclusion without the small numbers in words by which it counts ("all three")."""
    return replace(said, text=_COUNT.sub("some", said.text))
