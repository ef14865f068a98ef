"""Time between two dates, and whether a stated one is it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date
from fractions import Fraction

from research.engine.evidence.claims.operands import NotComputedError, Operand, is_rounded
from research.engine.text.amounts import Amount
from research.engine.text.dates import Date

_DAY, _MOST_DAYS = 86400, 31
_MONTH = 2629746
MONTHS = 12


def is_time_between(said: Amount, start: Operand, end: Operand, limit: int = 0) -> bool:
    """Return whether so much time lies between two dates; where it is a `limit`, whether more (1)
    or less (-1), by less than the unit or the part of one in which it is given: half a year of "two
    and a half years".
    """
    if said.dimension != "time" or said.unit.factor < _DAY:
        return False
    least = said.unit.factor / said.value.denominator
    if said.unit.factor < _MONTH:
        days = _days(start, end)
        if limit and days is not None:
            return 0 < (days * _DAY - said.base) * limit < max(least, Fraction(2 * _DAY))
        return days is not None and is_rounded(said.base, said, Fraction(days * _DAY))
    months = said.base / _MONTH
    exact = _exact_months(start, end)
    if limit and exact is not None:
        return 0 < (exact - months) * limit < least / _MONTH
    return is_span(months, said.is_about, said.step == 1, start, end)


def is_span(months: Fraction, is_about: bool, is_whole: bool, start: Operand, end: Operand) -> bool:
    """Return whether so many months lie between two dates, in full years where they have years
    only.
    """
    (year, month, day), (to_year, to_month, to_day) = parts_of(start), parts_of(end)
    years = to_year - year
    if month is None or to_month is None:
        return months == years * MONTHS
    exact = years * MONTHS + to_month - month
    if day is not None and to_day is not None and to_day < day:
        exact -= 1
    if months == exact:
        return True
    in_years = months.denominator == 1 and months % MONTHS == 0
    if in_years and is_whole:
        near = round(Fraction(exact, MONTHS)) if is_about else exact // MONTHS
        return months == near * MONTHS
    return False


def parts_of(operand: Operand) -> tuple[int, int | None, int | None]:
    found: Date = operand.date.date if operand.date else (None, None, None)
    return found[0] or 0, found[1], found[2]


def moment_of(operand: Operand) -> int:
    year, month, day = parts_of(operand)
    return (year * MONTHS + (month or 1) - 1) * 31 + (day or 1)


def _exact_months(start: Operand, end: Operand) -> Fraction | None:
    (year, month, day), (to_year, to_month, to_day) = parts_of(start), parts_of(end)
    if month is None or to_month is None or day is None or to_day is None:
        return None
    return (to_year - year) * MONTHS + to_month - month + Fraction(to_day - day, _MOST_DAYS)


def _days(start: Operand, end: Operand) -> int | None:
    first, last = parts_of(start), parts_of(end)
    if None in first or None in last:
        return None
    return (date(*last) - date(*first)).days  # type: ignore[arg-type]


def check_years(statement: str, years: Sequence[str]) -> None:
    """Refuse a change from the later year to the earlier one, or in the earlier one alone."""
    first, last = sorted(years)
    at, to = statement.find(first), statement.find(last)
    is_since = re.search(rf"\b(?:since|from) {first}\b", statement)
    if (at >= 0 and to < 0 and not is_since) or 0 <= to < at:
        raise NotComputedError("the years differ from the quotes'")
