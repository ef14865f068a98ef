"""Which differences between a claim and its quote are proven, and which only seem to be there.

Only a proven one refuses a statement: another quantity of the same thing, a negation of the same
predicate, another name in the same role. What may follow from the quote, or says the same from the
other side, is for the verifier to judge.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from research.engine.evidence.claims.comparing import comparatives
from research.engine.evidence.claims.derived import may_follow
from research.engine.evidence.claims.figures import (
    counts_another_thing,
    foreign_amounts,
    foreign_dates,
    is_known_year,
)
from research.engine.evidence.claims.names import has_foreign_name
from research.engine.text import entities
from research.engine.text.amounts import find_amounts

_THAN = re.compile(r"\bthan\b", re.IGNORECASE)
_LIKELIER = re.compile(r"\b(?:more|less|as) likely\b", re.IGNORECASE)
_EXCEPTS = re.compile(r"\b(?:unless|except\w*|but (?:for|one)|no longer)\b", re.IGNORECASE)
_NOT_YET = re.compile(r"\b(?:yet|still) to\b", re.IGNORECASE)
_NO_NAME = re.compile(r"[A-Z][a-z]+\s(?:in|at|on|by|to|as|into|from)\b")  # "Born in Leith, …"


def proven_differences(
    found: Sequence[str], claim: str, quote: str, context: str
) -> tuple[str, ...]:
    """Return those of the differences that cannot be explained away."""
    return tuple(
        reason
        for reason in found
        if reason not in _SEEMING or not _SEEMING[reason](claim, quote, context)
    )


def _may_follow(claim: str, quote: str, context: str) -> bool:
    """Return whether figures are not the quote's, and all of them may follow from its own."""
    if counts_another_thing(claim, quote):
        return False
    if any(not is_known_year(date, quote) for date in foreign_dates(claim, quote, context)):
        return False
    missing = foreign_amounts(claim, quote, context)
    return bool(missing) and all(may_follow(amount, claim, quote) for amount in missing)


def _may_measure_so(claim: str, quote: str, context: str) -> bool:
    """Return whether it gives a mean or a total that may follow, or nothing but times of day."""
    is_clock = all(amount.dimension == "clock" for amount in find_amounts(claim))
    return is_clock or _may_follow(claim, quote, context)


def _is_from_other_side(claim: str, quote: str, context: str) -> bool:
    """Return whether the claim compares by other words: "smaller than" for "larger than"."""
    return bool(_THAN.search(claim)) and comparatives(claim) != comparatives(quote)


def _is_rate(claim: str, quote: str, context: str) -> bool:
    """Return whether "more likely" is all that the quote hedges by."""
    return not entities.is_uncertain(_LIKELIER.sub(" ", quote))


def _is_negated_elsewhere(claim: str, quote: str, context: str) -> bool:
    """Return whether an exception takes the negation back, or the claim negates by "yet to"."""
    return bool(_EXCEPTS.search(quote) or _NOT_YET.search(claim))


def _has_no_other_name(claim: str, quote: str, context: str) -> bool:
    """Return whether all names are known, and the word that opens the quote is none."""
    return not has_foreign_name(claim, quote, context) and bool(_NO_NAME.match(quote))


_SEEMING: Mapping[str, Callable[[str, str, str], bool]] = {
    "number differs": _may_follow,
    "another thing": _is_from_other_side,
    "hedge lost": _is_rate,
    "negation differs": _is_negated_elsewhere,
    "name differs": _has_no_other_name,
    "measured otherwise": _may_measure_so,
}
"""What shows for each difference that it may be none."""
