"""Figures and dates of a sentence with what they measure, so that like is compared with like.

24 % is no 24 km, 5 million is 5,000,000, and a year is no quantity.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from pathlib import Path

from research.engine.features import MONTH, NUMBER, number_words
from research.engine.text import STOP_WORDS, stem

_UNITS = {
    name: line.split()[0]
    for line in (Path(__file__).parent / "data" / "units_en.txt").read_text().splitlines()
    for name in line.split()
}
_SCALES = {"hundred": 2, "thousand": 3, "million": 6, "billion": 9, "trillion": 12}
_SCALE = re.compile(rf"[\s-]*({'|'.join(_SCALES)})s?\b", re.IGNORECASE)
BEFORE = 4
"""Characters before a number in which its currency may stand."""
_SIGN = re.compile(r"([$€£])\s*$")
_NEXT = re.compile(r"[\s-]*(per\s?cent|[%$€£]|°?[^\W\d_]+)")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_YEAR = r"(?P<year>(?:1\d|20)\d\d)"
_DAY = r"(?P<day>\d{1,2})"
_IN_TIME = (
    r"(?:\b(?i:in|since|until|till|by|from|to|before|after|during|of|circa|between|and|early|late|mid|year"
    r"|spring|summer|autumn|winter|of the)\s|[(,–-]\s?|^)"
)
_DATES = tuple(
    re.compile(form)
    for form in (
        r"\b(?P<year>\d{4})-(?P<number>\d{2})(?:-(?P<day>\d{2}))?\b",
        rf"\b{_DAY}(?:st|nd|rd|th)?\.?\s+(?P<month>{MONTH})\b\.?(?:,?\s+{_YEAR}\b)?",
        rf"\b(?P<month>{MONTH})\b\.?\s+{_DAY}(?:st|nd|rd|th)?\b(?!\d)(?:,?\s+{_YEAR}\b)?",
        rf"\b(?P<month>{MONTH})\b\.?,?\s+{_YEAR}\b",
        rf"{_IN_TIME}{_YEAR}\b(?![.,]?\d|s?\s*[%$€£])",
    )
)

Date = tuple[int | None, int | None, int | None]
"""Year, month, day; None where it isn't said."""


@dataclass(frozen=True)
class Figure:
    """A number in one form, its unit ("" where it has none of a known kind), and the stem of
    the word that follows it.
    """

    value: str
    unit: str
    noun: str

    @property
    def measures(self) -> str:
        return self.unit or self.noun


@dataclass(frozen=True)
class Figures:
    """What a text counts and dates; a year counts as a date only."""

    amounts: tuple[Figure, ...]
    dates: frozenset[Date]

    @property
    def values(self) -> frozenset[str]:
        """All numbers, those of dates among them."""
        dated = (str(part) for year, _, day in self.dates for part in (year, day) if part)
        return frozenset([*(amount.value for amount in self.amounts), *dated])

    @property
    def years(self) -> frozenset[int]:
        return frozenset(year for year, _, _ in self.dates if year is not None)


@lru_cache(maxsize=4096)
def figures(text: str) -> Figures:
    """The figures and dates of a text, in no more than a pass for each form of date."""
    dates: set[Date] = set()
    for form in _DATES:
        dates.update(_date(match) for match in form.finditer(text))
        text = form.sub(lambda match: " " * len(match.group()), text)
    return Figures(tuple(dict.fromkeys(_amounts(text))), frozenset(dates))


def _date(match: re.Match[str]) -> Date:
    said = match.groupdict()
    month = said.get("number")
    if name := said.get("month"):
        month = str(_MONTHS.index(name[:3].lower()) + 1)
    year, day = said.get("year"), said.get("day")
    return (int(year) if year else None, int(month) if month else None, int(day) if day else None)


def _amounts(text: str) -> Iterator[Figure]:
    for match in NUMBER.finditer(text):
        yield _figure(text, match.start(), match.end(), match.group())
    for start, end, value in number_words(text):
        yield _figure(text, start, end, value)


def _figure(text: str, start: int, end: int, written: str) -> Figure:
    value = Decimal(re.sub(r"[,\u202f\u00a0 ]", "", written).replace("−", "-"))
    if scale := _SCALE.match(text, end):
        value *= 10 ** _SCALES[scale.group(1).lower()]
        end = scale.end()
    unit = (
        _UNITS[sign.group(1)] if (sign := _SIGN.search(text, max(0, start - BEFORE), start)) else ""
    )
    following = _NEXT.match(text, end)
    word = re.sub(r"\s", "", following.group(1).lower()) if following else ""
    unit = unit or _UNITS.get(word, "")
    noun = "" if unit or word in STOP_WORDS else stem(word)
    return Figure(format(value.normalize(), "f"), unit, noun)


def unit_of(word: str) -> str:
    """The one name of a unit, however it is written; "" for a word that is none."""
    return _UNITS.get(word.lower(), "")


def foreign(claim: Figures, quote: Figures) -> bool:
    """Whether the claim holds a number that the quote doesn't, or counts something else by it."""
    if claim.values - quote.values:
        return True
    return any(_miscounted(amount, quote.amounts) for amount in claim.amounts)


def _miscounted(amount: Figure, quoted: tuple[Figure, ...]) -> bool:
    same = [other for other in quoted if other.value == amount.value]
    if amount.unit and same and all(other.unit not in {"", amount.unit} for other in same):
        return True
    nouns = {other.measures for other in same}
    others = {other.measures for other in quoted if other.value != amount.value}
    return bool(amount.noun and nouns and amount.noun not in nouns and amount.noun in others)


def same_figures(one: Figures, other: Figures) -> bool:
    """Whether two claims hold the same numbers, of the same measures."""
    return not foreign(one, other) and not foreign(other, one)


def misdated(claim: Figures, quote: Figures) -> bool:
    """Whether a date of the claim is none of the quote's, as exact as the claim gives it."""
    dated = [date for date in claim.dates if date[1] is not None]
    return any(not any(_within(date, other) for other in quote.dates) for date in dated)


def _within(date: Date, other: Date) -> bool:
    return all(part is None or part == known for part, known in zip(date, other, strict=True))


def exclude(one: Figures, other: Figures) -> bool:
    """Whether two claims on the same thing give it different figures of the same measure.

    What both date in different years may differ; years alone exclude each other where there
    are no amounts that agree.
    """
    measured = {m for a in one.amounts if (m := a.measures)} & {a.measures for a in other.amounts}
    differing = [m for m in measured if not _of(one, m) & _of(other, m)]
    years_differ = bool(one.years and other.years and not one.years & other.years)
    if years_differ:
        return not measured and not one.amounts and not other.amounts
    if differing:
        return True
    bare = bool(one.amounts and other.amounts and not measured)
    return bare and not one.values & other.values and _plain(one) and _plain(other)


def _of(figures: Figures, measure: str) -> frozenset[str]:
    return frozenset(a.value for a in figures.amounts if a.measures == measure)


def _plain(figures: Figures) -> bool:
    return all(not amount.measures for amount in figures.amounts)
