"""How well a sub-question is answered: the one thing that verdict, lists, report, terminal and
JSON say of it.

The stop rule goes by an aspect's state, which takes every page with a relevant passage for a
source. What people are told claims no more than the passages show: where code alone read the
pages, the aspect's standing decides.
"""

from __future__ import annotations

from dataclasses import dataclass

from research.engine.ledger import Ledger
from research.engine.records import Aspect, AspectState, Mark, Standing

ANSWERED = frozenset({Mark.ANSWERED, Mark.ONE_SOURCE, Mark.PASSAGES, Mark.DISPUTED})
FROM_SEVERAL = frozenset({Mark.ANSWERED, Mark.PASSAGES})
_FOUND = frozenset({AspectState.ANSWERED, AspectState.ONE_SOURCE})


@dataclass(frozen=True)
class Marked:
    """`sources` are the independent ones behind the answer, or behind all its evidence where
    there is none or they disagree."""

    mark: Mark
    sources: int


def marked(state: AspectState, standing: Standing | None, sources: int) -> Marked:
    """`sources` counts the independent ones behind all evidence of the sub-question."""
    if standing is None or state not in _FOUND:
        return Marked(Mark(state), sources)
    giving = len(standing.sources)
    if not giving:
        return Marked(Mark.CLOSE, sources)
    if giving == 1:
        return Marked(Mark.ONE_SOURCE, 1)
    return Marked(Mark.ANSWERED if standing.agree else Mark.PASSAGES, giving)


def mark_of(ledger: Ledger, aspect: Aspect) -> Marked:
    return marked(aspect.state, aspect.standing, len(ledger.keys_of(aspect.id)))


def marks(ledger: Ledger) -> list[Marked]:
    return [mark_of(ledger, aspect) for aspect in ledger.aspects.values()]


def answered(ledger: Ledger) -> int:
    """How many sub-questions are said to be answered; those that passages come close to are not."""
    return sum(each.mark in ANSWERED for each in marks(ledger))


def is_close(aspect: Aspect) -> bool:
    """Whether what was found is passages that give no answer, whether or not they agree."""
    found = aspect.state in _FOUND or aspect.state is AspectState.DISPUTED
    return found and aspect.standing is not None and not aspect.standing.sources
