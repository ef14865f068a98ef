"""Tell proven differences between a claim and its quote from apparent ones.

Only a proven one refuses a statement: another quantity of the same thing, a negation of the same
predicate, another name in the same role. What may follow from the quote, or says the same from the
other side, is for the verifier to judge.

A number that follows from the quote's own ("a third" of "18 of 54"), or lies beyond a limit that
the quote sets, is no proof that the quote gives another one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations, permutations

from research.engine.evidence.claims.comparing import comparatives
from research.engine.evidence.claims.durations import is_time_between
from research.engine.evidence.claims.figures import (
    counts_another_thing,
    foreign_amounts,
    foreign_dates,
    is_known_year,
)
from research.engine.evidence.claims.names import has_foreign_name
from research.engine.evidence.claims.operands import Operand, is_rounded
from research.engine.text import entities
from research.engine.text.amounts import Amount, find_amounts
from research.engine.text.dates import find_dates

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


_MOST_FIGURES = 8
_PERCENT = 100
_SHARES = frozenset(("ratio", "times"))
_BEYOND = Fraction(5, 4)
"""How far beyond a limit that a claim sets the quote's figure may be: "more than half" of 54 %."""
_ABOVE = re.compile(
    r"\b(?:over|above|at least|exceed(?:s|ed|ing)?|upwards of|(?:\w+er|more) than)\s(?:an?\s)?$",
    re.IGNORECASE,
)
_BELOW = re.compile(
    r"\b(?:under|below|up to|at most|nearly|almost|(?:fewer|less|lower|shorter|smaller|younger)"
    r" than|not \w+ than|no \w+ than)\s(?:an?\s)?$",
    re.IGNORECASE,
)
_REACH = 20


def may_follow(said: Amount, claim: str, quote: str) -> bool:
    """Return whether a figure of the claim follows from figures of the quote by one operation, or
    from a limit on either side.
    """
    known = _figures(quote)
    limit = limit_of(claim, said)
    exact = [*_computed(said, known), *(each.base for each in known if _alike(said, each))]
    if any(is_rounded(said.base, said, value) for value in exact):
        return True
    if _is_span(said, quote, limit):
        return True
    if limit:
        return any(_is_beyond(said.base, value, limit) for value in exact)
    return any(
        (said.base - each.base) * limit_of(quote, each) > 0 for each in known if _alike(said, each)
    )


def _figures(quote: str) -> list[Amount]:
    """Return the first amounts of a quote; of "1 in 10" only the share, and no time of day."""
    every = find_amounts(quote)
    shares = [each for each in every if each.kind == "share"]
    found = [
        each
        for each in every
        if each.dimension != "clock"
        and not any(s is not each and s.start <= each.start < s.end for s in shares)
    ]
    return found[:_MOST_FIGURES]


def _alike(one: Amount, other: Amount) -> bool:
    return one.dimension == other.dimension and (
        bool(one.dimension) or not one.noun or not other.noun or one.noun == other.noun
    )


def limit_of(text: str, amount: Amount) -> int:
    """Return 1 where a figure is what something exceeds, -1 where something stays below it."""
    before = text[max(0, amount.start - _REACH) : amount.start]
    if _BELOW.search(before):
        return -1
    return 1 if _ABOVE.search(before) else 0


def _is_beyond(said: Fraction, exact: Fraction, limit: int) -> bool:
    low, high = (said, exact) if limit > 0 else (exact, said)
    return low <= high <= low * _BEYOND


def _computed(said: Amount, known: Sequence[Amount]) -> Iterator[Fraction]:
    """Yield what one operation makes of the quote's figures, in the dimension of the claim's."""
    is_share = said.dimension in _SHARES
    for one, other in combinations(known, 2):
        if one.dimension != other.dimension:
            continue
        if one.dimension == said.dimension:
            yield one.base + other.base
        apart = abs(one.base - other.base)
        if one.dimension == "ratio" and said.dimension == "points":
            yield apart * _PERCENT
        elif one.dimension == said.dimension != "ratio":
            yield apart
    for one, other in permutations(known, 2):
        if not other.base:
            continue
        if is_share and one.dimension == other.dimension != said.dimension:
            yield from (one.base / other.base, abs(one.base - other.base) / other.base)
        elif one.dimension == said.dimension and other.dimension in {"", "ratio"} and not is_share:
            yield from (one.base / other.base, one.base * other.base)


def _is_span(said: Amount, quote: str, limit: int) -> bool:
    """Return whether it is the time between two dates of the quote, or a limit of it."""
    if said.dimension != "time":
        return False
    dates = [Operand("", "", date=each) for each in find_dates(quote) if each.date[0]]
    return any(
        is_time_between(said, start, end, limit)
        for start, end in permutations(dates[:_MOST_FIGURES], 2)
    )
