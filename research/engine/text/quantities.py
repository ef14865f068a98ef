"""Figures and dates of a sentence with what they measure, so that like is compared with like.

24 % is no 24 km, 5 million is 5,000,000, and a year is no quantity.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache

from research.engine.text.amounts import Amount, find_amounts
from research.engine.text.dates import Date, find_dates, without_dates
from research.engine.text.entities import NUMBER, find_numbers, number_words
from research.engine.text.language import ENGLISH, code_of
from research.engine.text.tokens import STOP_WORDS, in_lower_case, stem
from research.engine.text.units import find_unit

_SCALES = {"hundred": 2, "thousand": 3, "million": 6, "billion": 9, "trillion": 12}
_SCALE = re.compile(rf"[\s-]*({'|'.join(_SCALES)})s?\b", re.IGNORECASE)
BEFORE = 4
"""Characters before a number in which its currency may stand."""
_EITHER = re.compile(r"\d[.,]\d{3}(?!\d)")
_DECIMAL_COMMA = re.compile(r"(?<=\d),(?=\d)")
_SIGN = re.compile(r"([$€£])\s*$")
_COUNTS = re.compile(
    r"\b(?:(?:number|amount|share|proportion|rate|count) of|average|mean|median"
    r"|(?:an)?zahl der|anteil|durchschnitt\w*|(?:nombre|taux|part) de|moyenne?|(?:número|tasa) de"
    r"|media|promedio|(?:numero|tasso|quota) d\w*|(?:taxa|parcela) de|média|aantal|aandeel"
    r"|gemiddelde?)\b|数|率|平均",
    re.IGNORECASE,
)
_SETS_RULE = re.compile(
    r"\b(?:must|shall|should|may|needs?|ha(?:s|ve|d) to|muss|müssen|darf|dürfen|soll(?:en)?|doit"
    r"|doivent|peu(?:t|vent)|deben?|puede[n]?|dev(?:e|ono|em)|può|possono|pode[m]?|moet(?:en)?"
    r"|mag|mogen)\b",
    re.IGNORECASE,
)
_WAS = re.compile(r"\b(?:was|were|had|did)\b", re.IGNORECASE)
_IS = re.compile(
    r"\b(?:is|are|has|have|does|do|can|cannot|may|must|shall|should|will|needs?|today|now)\b"
    r"|n[’']t\b",
    re.IGNORECASE,
)
_LASTING = frozenset({"time", "clock", "angle"})
_MONEY = frozenset({"cent", "chf", "crown", "eur", "gbp", "usd", "yen"})
LEAST_COUNT = 100
"""The least number of things that is taken for a count where nothing says so."""
_NEXT = re.compile(r"[\s-]*(per\s?cent|[%$€£]|°?[^\W\d_]+)")


@dataclass(frozen=True)
class Figure:
    """A number in a normal form, its unit ("" if it has no known kind), and the stem of the
    following word.
    """

    value: str
    unit: str
    noun: str

    @property
    def measures(self) -> str:
        return self.unit or self.noun


@dataclass(frozen=True)
class Figures:
    """Counts and dates of a text; a year counts only as a date."""

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
def parse_figures(text: str) -> Figures:
    """Return the figures and dates of a text."""
    dates = frozenset(found.date for found in find_dates(text))
    return Figures(tuple(dict.fromkeys(_find_amounts(without_dates(text)))), dates)


def parse_value(text: str, language: str) -> tuple[Figure, ...]:
    """Return the amounts of a table's value; none where they may mean either of two numbers, as
    "1.200" does outside English.
    """
    if not language.lower().startswith(ENGLISH):
        if _EITHER.search(text):
            return ()
        text = _DECIMAL_COMMA.sub(".", text)
    return parse_figures(text).amounts


def _find_amounts(text: str) -> Iterator[Figure]:
    for match in NUMBER.finditer(text):
        yield _parse_figure(text, match.start(), match.end(), match.group())
    for start, end, value in number_words(text):
        yield _parse_figure(text, start, end, value)


def _parse_figure(text: str, start: int, end: int, written: str) -> Figure:
    value = Decimal(re.sub(r"[,\u202f\u00a0 ]", "", written).replace("−", "-"))
    if scale := _SCALE.match(text, end):
        value *= 10 ** _SCALES[in_lower_case(scale.group(1))]
        end = scale.end()
    sign = _SIGN.search(text, max(0, start - BEFORE), start)
    unit = unit_of(sign.group(1)) if sign else ""
    following = _NEXT.match(text, end)
    word = re.sub(r"\s", "", following.group(1).lower()) if following else ""
    unit = unit or unit_of(word)
    noun = "" if unit or word in STOP_WORDS else stem(word)
    return Figure(format(value.normalize(), "f"), unit, noun)


def written_amounts(text: str) -> list[tuple[str, str]]:
    """Return the numbers of a text without its dates, in its order: as `entities.find_numbers` has
    them, and as they are written, with scale and unit.
    """
    plain = without_dates(text)
    numbers = [(m.start(), m.end(), find_numbers(m.group())[0]) for m in NUMBER.finditer(plain)]
    numbers += number_words(plain)
    return [(value, _written(plain, start, end)) for start, end, value in sorted(numbers)]


def _written(text: str, start: int, end: int) -> str:
    """Return a number with the currency before it, and the scale and the word behind it."""
    sign = _SIGN.search(text, max(0, start - BEFORE), start)
    scale = _SCALE.match(text, end)
    end = scale.end() if scale else end
    following = _NEXT.match(text, end)
    if following and following.group(1).lower() not in STOP_WORDS:
        end = following.end()
    return text[sign.start() if sign else start : end].strip()


def unit_of(word: str) -> str:
    """Return the one name of a unit, however it is written; "" for a word that is none."""
    unit = find_unit(word)
    return unit.name if unit else ""


def has_foreign_number(claim: Figures, quote: Figures) -> bool:
    """Return whether the claim has a number that the quote lacks or uses for something else."""
    if claim.values - quote.values:
        return True
    return any(_is_miscounted(amount, quote.amounts) for amount in claim.amounts)


def _is_miscounted(amount: Figure, quoted: tuple[Figure, ...]) -> bool:
    same = [other for other in quoted if other.value == amount.value]
    if amount.unit and same and all(other.unit not in {"", amount.unit} for other in same):
        return True
    nouns = {other.measures for other in same}
    others = {other.measures for other in quoted if other.value != amount.value}
    return bool(amount.noun and nouns and amount.noun not in nouns and amount.noun in others)


def same_figures(one: Figures, other: Figures) -> bool:
    """Return whether two claims have the same numbers of the same measures."""
    return not has_foreign_number(one, other) and not has_foreign_number(other, one)


def figures_conflict(one: Figures, other: Figures) -> bool:
    """Return whether two claims on the same thing give different figures of one measure.

    Figures that are dated in different years may differ. Years alone exclude each other if there
    are no matching amounts.
    """
    measured = {m for a in one.amounts if (m := a.measures)} & {a.measures for a in other.amounts}
    differing = [m for m in measured if not _values_of(one, m) & _values_of(other, m)]
    years_differ = bool(one.years and other.years and not one.years & other.years)
    if years_differ:
        return not measured and not one.amounts and not other.amounts
    if differing:
        return True
    bare = bool(one.amounts and other.amounts and not measured)
    return bare and not one.values & other.values and _is_unitless(one) and _is_unitless(other)


def _values_of(figures: Figures, measure: str) -> frozenset[str]:
    return frozenset(a.value for a in figures.amounts if a.measures == measure)


def _is_unitless(figures: Figures) -> bool:
    return all(not amount.measures for amount in figures.amounts)


def gives_quantity(sentence: str) -> bool:
    """Return whether a sentence gives a quantity that is measured, counted or priced, and may have
    another value by now, as against the number of a rule or of an event.

    Of that kind are shares and money, and other numbers in digits where the sentence dates them to
    a year or says that it counts, or which are too large or too exact for a rule; times only if
    it says that it counts. What must or may be is a rule.
    """
    is_counted = bool(_COUNTS.search(sentence))
    is_dated = any(not found.date[1] for found in find_dates(sentence))
    if not (is_counted or is_dated) and _SETS_RULE.search(sentence):
        return False

    def is_measured(amount: Amount) -> bool:
        measure = amount.dimension.partition("/")[0]
        if measure in _LASTING:
            return is_counted
        if amount.unit.name == "%" or measure in _MONEY:
            return True
        if not any(map(str.isdigit, sentence[amount.start : amount.end])):
            return is_counted
        is_large = amount.value >= LEAST_COUNT or amount.step < 1
        return is_counted or is_dated or (not amount.dimension and is_large)

    return any(map(is_measured, find_amounts(sentence)))


def tells_event(sentence: str, language: str) -> bool:
    """Return whether a sentence tells only what was, which no later source overtakes; known only
    for English.
    """
    is_english = code_of(language).partition("-")[0] in {"", ENGLISH}
    return is_english and bool(_WAS.search(sentence)) and not _IS.search(sentence)
