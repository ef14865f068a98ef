"""Computed statements: what follows from several quotes by arithmetic, recomputed by code.

A draft names an operation and the evidence. Code takes the figures from the quotes, computes, and
vouches for the statement only where its result, rounded as stated, and its direction are the
same. What can be read in two ways is refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction

from research.engine.evidence.claims.comparing import (
    compared_first,
    measures_the_same,
    mentions,
    own_words,
    polarity,
    sides_of,
    told_order,
    up_to_comparison,
    without_comparing,
)
from research.engine.evidence.claims.durations import (
    MONTHS,
    check_years,
    is_span,
    is_time_between,
    moment_of,
    parts_of,
)
from research.engine.evidence.claims.figures import foreign_amounts, foreign_dates
from research.engine.evidence.claims.names import is_misnamed
from research.engine.evidence.claims.operands import (
    ASKED,
    Calculation,
    NotComputedError,
    Operand,
    choose_amounts,
    choose_dates,
    choose_named,
    is_rounded,
)
from research.engine.evidence.claims.proof import limit_of
from research.engine.text import entities
from research.engine.text.amounts import Amount, find_amounts, find_single_units
from research.engine.text.tokens import term_set

LEAST_SHARE = 0.3
"""Share of a statement's plain words that its quotes and their titles must have."""

_AGE = re.compile(r"\b(?:aged?|age of)\s(\d{1,3})\b", re.IGNORECASE)
_OPPOSED = re.compile(
    r"\b(?:against|not|never|no|without|neither|nor|none)\b|n['’]t\b", re.IGNORECASE
)
_PERCENT = 100


def compute(
    statement: str,
    operation: str,
    quotes: Sequence[tuple[str, str]],
    context: str,
    *,
    reads_limits: bool = True,
) -> Calculation:
    """Recompute a statement from its quotes, pairs of a record's id, or `ASKED`, and its text. Runs
    before `Form.COMPUTED` read no limits ("more than six years") and put two things in order.

    Raises `NotComputedError` where the result, its unit or its direction differs, where the
    statement says anything else that the quotes don't, and where the figures could be read in two
    ways.
    """
    if operation not in OPERATIONS:
        raise NotComputedError(f"there is no operation {operation!r}")
    if len({quote for _, quote in quotes}) < max(2, len(quotes)):
        raise NotComputedError("a calculation needs a different quote for each figure")
    is_asked = any(name == ASKED for name, _ in quotes)
    if is_asked != (operation == "share_of"):
        raise NotComputedError("only a share may be one of an amount in the question")
    _check_words(statement, [each for each in quotes if each[0] != ASKED], context)
    if operation == "order" and not reads_limits:
        _two(quotes)
    if operation == "duration":
        calculation, results = _duration(statement, quotes, reads_limits)
    else:
        calculation, results = OPERATIONS[operation](statement, quotes)
    _check_other_figures(statement, results, quotes, context)
    return calculation


Computed = tuple[Calculation, list[Amount]]
"""A calculation, and the amounts of the statement that it accounts for."""


# --- wording around the figures ---------------------------------------------------------------


def _check_words(statement: str, quotes: Sequence[tuple[str, str]], context: str) -> None:
    joined = " ".join(quote for _, quote in quotes)
    if is_misnamed(statement, joined, context):
        raise NotComputedError("a name differs from the quotes")
    if bool(_OPPOSED.search(statement)) != bool(_OPPOSED.search(joined)):
        raise NotComputedError("a negation differs from the quotes")
    if entities.is_uncertain(joined) and not entities.is_uncertain(statement):
        raise NotComputedError("it is more certain than its quotes")
    plain = without_comparing(statement)
    for amount in find_amounts(statement):
        if not amount.noun:
            plain = plain.replace(statement[amount.start : amount.end], " ")
    words = {term for term in term_set(plain) if not any(map(str.isdigit, term))}
    known = words & term_set(f"{joined} {context}")
    if not measures_the_same(statement, joined):
        raise NotComputedError("it measures something else than its quotes")
    if len(known) < LEAST_SHARE * len(words):
        raise NotComputedError("its quotes are about something else")


def _check_other_figures(
    statement: str, results: Sequence[Amount], quotes: Sequence[tuple[str, str]], context: str
) -> None:
    """Refuse figures and dates that are neither the result nor the quotes'."""
    plain = statement
    for result in results:
        gap = " " * (result.end - result.start)
        plain = f"{plain[: result.start]}{gap}{plain[result.end :]}"
    joined = " ".join(quote for _, quote in quotes)
    others = [a for a in foreign_amounts(plain, joined, context) if a.value != len(quotes)]
    if others or foreign_dates(plain, joined, context):
        raise NotComputedError("it has a figure that is neither its result nor in its quotes")


# --- operations -------------------------------------------------------------------------------


def _amounts(statement: str, quotes: Sequence[tuple[str, str]]) -> list[Operand]:
    operands = choose_amounts(statement, quotes)
    if operands is None:
        raise NotComputedError("the quotes don't have exactly one comparable figure each")
    return operands


def _two(quotes: Sequence[tuple[str, str]]) -> None:
    if len(quotes) != 2:
        raise NotComputedError("this operation needs exactly two records")


def _is_time(operand: Operand) -> bool:
    """Return whether more of it is slower."""
    return operand.amount is not None and operand.amount.dimension == "time"


def _difference(statement: str, quotes: Sequence[tuple[str, str]]) -> Computed:
    _two(quotes)
    operands = _amounts(statement, quotes)
    first, base = _first_and_base(statement, quotes, operands)
    change = first.value - base.value
    _check_direction(statement, change, _is_time(first))
    larger, smaller = sorted(operands, key=lambda operand: operand.value, reverse=True)
    result = _stated(statement, lambda said: _is_difference(statement, said, abs(change), first))
    return _done("difference", (larger, smaller), statement, result)


def _is_difference(statement: str, said: Amount, exact: Fraction, operand: Operand) -> bool:
    measure = operand.amount.dimension if operand.amount else ""
    if measure == "ratio":
        return said.dimension == "points" and is_rounded(said.value, said, exact * _PERCENT)
    if said.dimension == measure:
        return is_rounded(said.base, said, exact)
    for period in find_single_units(statement):  # "over a year", of figures that are per month
        if measure == f"{said.dimension}/{period.dimension}":
            return is_rounded(said.base, said, exact * period.base)
    return False


def _sum(statement: str, quotes: Sequence[tuple[str, str]]) -> Computed:
    operands = _amounts(statement, quotes)
    total = sum((operand.value for operand in operands), Fraction(0))
    measure = operands[0].amount.dimension if operands[0].amount else ""
    result = _stated(
        statement,
        lambda said: said.dimension == measure and is_rounded(said.base, said, total),
    )
    return _done("sum", operands, statement, result)


def _ratio(statement: str, quotes: Sequence[tuple[str, str]]) -> Computed:
    _two(quotes)
    operands = _amounts(statement, quotes)
    place = compared_first(statement, [quote for _, quote in quotes])
    if place is None:
        raise NotComputedError("which of the two is compared with the other isn't clear")
    first, base = operands[place], operands[1 - place]
    if not base.value:
        raise NotComputedError("nothing can be a multiple of zero")
    exact = first.value / base.value
    result = _stated(statement, lambda said: _is_multiple(said, exact))
    return _done("ratio", (first, base), statement, result)


def _is_multiple(said: Amount, exact: Fraction) -> bool:
    is_share = said.dimension == "ratio" and exact < 1
    return (said.dimension == "times" or is_share) and is_rounded(said.base, said, exact)


def _percentage_change(statement: str, quotes: Sequence[tuple[str, str]]) -> Computed:
    _two(quotes)
    operands = _amounts(statement, quotes)
    first, base = _first_and_base(statement, quotes, operands)
    if not base.value:
        raise NotComputedError("there is no percentage of zero")
    change = (first.value - base.value) / base.value
    _check_direction(statement, change, _is_time(first))
    result = _stated(statement, lambda said: _is_share(said, abs(change)))
    return _done("percentage_change", (base, first), statement, result)


def _is_share(said: Amount, exact: Fraction) -> bool:
    if said.kind == "multiple":  # "doubled"
        return said.value == exact + 1
    return said.dimension == "ratio" and is_rounded(said.base, said, exact)


def _share_of(statement: str, quotes: Sequence[tuple[str, str]]) -> Computed:
    """A share in a quote, of an amount in the question; the statement gives both."""
    _two(quotes)
    asked, given = sorted(quotes, key=lambda each: each[0] != ASKED)
    share = choose_named(statement, *given, is_share=True)
    whole = choose_named(statement, *asked, is_share=False)
    measure, amount = (whole.amount.dimension, whole.value) if whole.amount else ("", whole.value)
    result = _stated(
        statement,
        lambda said: (
            said.dimension == measure
            and said.base != amount
            and is_rounded(said.base, said, share.value * amount)
        ),
    )
    calculation, results = _done("share_of", (share, whole), statement, result)
    return calculation, [*results, *(a for a in find_amounts(statement) if a.base == amount)]


def _order(statement: str, quotes: Sequence[tuple[str, str]]) -> Computed:
    if len(quotes) > 2:
        return _order_in_time(statement, quotes)
    operands = choose_amounts(statement, quotes) or choose_dates(quotes)
    place = compared_first(statement, [quote for _, quote in quotes])
    if operands is None or place is None:
        raise NotComputedError("which of the two is compared with the other isn't clear")
    first, base = operands[place], operands[1 - place]
    change = moment_of(first) - moment_of(base) if first.date else first.value - base.value
    _check_direction(statement, Fraction(change), _is_time(first))
    said = "more" if change > 0 else "less"
    if first.date:
        said = "later" if change > 0 else "earlier"
    return Calculation("order", (first, base), said), []


def _order_in_time(statement: str, quotes: Sequence[tuple[str, str]]) -> Computed:
    operands, pairs = choose_dates(quotes), told_order(statement, [text for _, text in quotes])
    if operands is None or not pairs:
        raise NotComputedError("which of them came before which isn't clear")
    if any(moment_of(operands[one]) >= moment_of(operands[other]) for one, other in pairs):
        raise NotComputedError("the order differs from the quotes' dates")
    return Calculation("order", tuple(sorted(operands, key=moment_of)), "in this order"), []


def _extreme(operation: str, statement: str, quotes: Sequence[tuple[str, str]]) -> Computed:
    operands = _amounts(statement, quotes)
    told = _told_of(statement, quotes, operands)
    wanted = 1 if operation == "maximum" else -1
    values = [operand.value for operand in operands]
    best = (max if wanted > 0 else min)(values)
    if told.count(max(told)) > 1 or values.count(best) > 1:
        raise NotComputedError("which record is the extreme one isn't clear")
    if polarity(statement, _is_time(operands[0])) != wanted:
        raise NotComputedError(f"it doesn't tell of a {operation}")
    if told.index(max(told)) != values.index(best):
        raise NotComputedError(f"another record has the {operation}")
    return Calculation(operation, tuple(operands), operands[values.index(best)].text), []


def _told_of(
    statement: str, quotes: Sequence[tuple[str, str]], operands: Sequence[Operand]
) -> list[int]:
    """Return how much the statement tells of each record: its own figure counts for more than
    words, and a year that is named less often than another record's rules a record out.
    """
    said = {amount.base for amount in find_amounts(statement)}
    told = [mentions(statement, own) for own in own_words([quote for _, quote in quotes])]
    told = [
        count + len(statement) * (operand.value in said)
        for count, operand in zip(told, operands, strict=True)
    ]
    dates = choose_dates(quotes)
    if dates is None:
        return told
    named = [statement.count(str(parts_of(each)[0])) for each in dates]
    return [count if named[at] == max(named) else 0 for at, count in enumerate(told)]


def _maximum(statement: str, quotes: Sequence[tuple[str, str]]) -> Computed:
    return _extreme("maximum", statement, quotes)


def _minimum(statement: str, quotes: Sequence[tuple[str, str]]) -> Computed:
    return _extreme("minimum", statement, quotes)


def _count(statement: str, quotes: Sequence[tuple[str, str]]) -> Computed:
    """As many as there are records, each of which says a word of what the statement says."""
    words = term_set(statement) - {term for term in term_set(statement) if term.isdigit()}
    shared = [len(words & term_set(quote)) for _, quote in quotes]
    if min(shared) < 1 or max(shared) < 2:
        raise NotComputedError("not every record is one of what is counted")
    result = _stated(statement, lambda said: not said.dimension and said.value == len(quotes))
    operands = tuple(Operand(record, quote) for record, quote in quotes)
    return _done("count", operands, statement, result)


# --- durations --------------------------------------------------------------------------------


def _duration(
    statement: str, quotes: Sequence[tuple[str, str]], reads_limits: bool = True
) -> Computed:
    _two(quotes)
    operands = choose_dates(quotes)
    if operands is None:
        raise NotComputedError("the quotes don't have exactly one date with a year each")
    start, end = sorted(operands, key=moment_of)
    if sides_of(statement):
        place = compared_first(statement, [quote for _, quote in quotes])
        if place is not None:
            after = moment_of(operands[place]) - moment_of(operands[1 - place])
            _check_direction(statement, Fraction(after), False)
    if age := _AGE.search(statement):
        if not is_span(Fraction(int(age[1]) * MONTHS), False, True, start, end):
            raise NotComputedError("the age differs from the dates")
        said = [a for a in find_amounts(statement) if a.start == age.start(1)]
        return Calculation("duration", (start, end), f"{age[1]} years"), said
    limit = limit_of if reads_limits else lambda *_: 0
    result = _stated(statement, lambda a: is_time_between(a, start, end, limit(statement, a)))
    return _done("duration", (start, end), statement, result)


# --- results ----------------------------------------------------------------------------------


def _first_and_base(
    statement: str, quotes: Sequence[tuple[str, str]], operands: Sequence[Operand]
) -> tuple[Operand, Operand]:
    """Return the figure that is said to be more or less, and the one that it is compared with: by
    the two sides of "than", by the years of the quotes, by the one that is named, by the order
    given.
    """
    texts = [quote for _, quote in quotes]
    place = compared_first(statement, texts)
    if place is None and (dates := choose_dates(quotes)):
        check_years(statement, [str(parts_of(each)[0]) for each in dates])
        place = max((0, 1), key=lambda at: moment_of(dates[at]))
    if place is None:
        named = [mentions(statement, own) for own in own_words(texts)]
        place = 1 if named[0] <= named[1] else 0
    return operands[place], operands[1 - place]


def _check_direction(statement: str, change: Fraction, is_time: bool) -> None:
    said = polarity(up_to_comparison(statement), is_time)
    if said == 0:
        raise NotComputedError("it tells of no direction")
    if change == 0 or (change > 0) != (said > 0):
        raise NotComputedError("the direction differs from the quotes' figures")


def _stated(statement: str, fits: Callable[[Amount], bool]) -> Amount:
    for said in find_amounts(statement):
        if fits(said):
            return said
    raise NotComputedError("its result differs from what the quotes' figures make")


def _done(operation: str, operands: Sequence[Operand], statement: str, result: Amount) -> Computed:
    text = statement[result.start : result.end].strip()
    return Calculation(operation, tuple(operands), text), [result]


OPERATIONS: Mapping[str, Callable[[str, Sequence[tuple[str, str]]], Computed]] = {
    "difference": _difference,
    "sum": _sum,
    "ratio": _ratio,
    "percentage_change": _percentage_change,
    "share_of": _share_of,
    "duration": _duration,
    "count": _count,
    "minimum": _minimum,
    "maximum": _maximum,
    "order": _order,
}
