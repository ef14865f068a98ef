"""Key claims that nothing confirms: they rest on too few sources, or sources disagree on them."""

from __future__ import annotations

from research.engine.evidence.ledger import ANSWERING, Ledger
from research.engine.limits import Limits
from research.engine.records import Evidence

CORROBORATED = 2


def unchecked_claims(ledger: Ledger, limits: Limits) -> list[Evidence]:
    """Return the key claims of answered sub-questions that are not cross-checked, disputed ones
    first.

    A claim is cross-checked where as many independent sources say it as the question asks for
    (two at most) and none contradicts it.
    """
    found = [r for r in key_claims(ledger) if not is_cross_checked(r, limits)]
    return sorted(found, key=lambda record: not record.contradicts)


def key_claims(ledger: Ledger) -> list[Evidence]:
    """Return the best claim of each sub-question that has an answer."""
    answered = {a.id for a in ledger.aspects.values() if a.state in ANSWERING}
    return [r for r in ledger.statable if r.key and answered.intersection(r.answers)]


def is_cross_checked(record: Evidence, limits: Limits) -> bool:
    wanted = min(CORROBORATED, limits.sources_per_aspect)
    return len(record.keys) >= wanted and not record.contradicts
