"""Amounts: the numbers of a text with their units, so that equal quantities can be found equal.

30 minutes are 1,800 seconds, a quarter is 25 %, and 45 mm are not 45 cm.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache

from research.engine.text.dates import without_dates
from research.engine.text.numerals import Numeral, find_numerals
from research.engine.text.tokens import STOP_WORDS, in_lower_case, stem
from research.engine.text.units import (
    NO_UNIT,
    Unit,
    find_unit,
    rate_at,
    sign_before,
    unit_at,
)

APPROXIMATE = Fraction(5, 100)
"""How far a rounded figure behind "about" may be from the exact one, as a share of it."""

_ABOUT = re.compile(
    r"(?:\b(?:about|around|some|roughly|approximately|nearly|almost|circa|over|under|more than"
    r"|less than|a little over|just over|just under|up to|as much as|close to|towards)|~|≈)"
    r"\s?(?:the\s|a\s)?"
    r"(?:[$€£¥]\s?)?$",
    re.IGNORECASE,
)
_ABOUT_REACH = 24
_TO_UNIT = re.compile(r"(?:\s?-\s?|\s)?(?:(?:of\s)?(?:an?|the)\s)?", re.IGNORECASE)
_INNER_UNIT = re.compile(  # "an hour and a half"
    r"(?:an?|one)\s(?P<unit>[^\W\d_]+)\sand\sa\s(?:half|quarter|third)\b", re.IGNORECASE
)
_NOUN = re.compile(r"[\s-]*([^\W\d_]+)")
_RANGE = re.compile(
    r"\s?(?:to|and|or|by|through|[-–x×])\s(?:about\s|around\s|some\s|from\s)?(?:[$€£¥]\s?)?$"
    r"|\s?[-–]\s?(?:[$€£¥]\s?)?$"
)
_ELAPSED = re.compile(r"(?<![\d:])(\d{1,3}):(\d{2}):(\d{2})(?![\d:])")
_CLOCK = re.compile(
    r"(?<![\d:.])(?P<hour>\d{1,2})(?:[:.](?P<minute>\d{2}))?\s?(?P<half>[ap])\.?m\b\.?"
    r"|(?<![\d:])(?P<hours>\d{1,2}):(?P<minutes>\d{2})(?![\d:])"
    r"|\b(?P<word>one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\d{1,2})"
    r"(?:\so['’]clock)?\sin\sthe\s(?P<part>morning|afternoon|evening)\b",
    re.IGNORECASE,
)
_CLOCK_WORDS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
                "eleven", "twelve")  # fmt: skip
_JOINS = re.compile(r",?\s(?:and\s)?$")
_ONE_UNIT = re.compile(  # "a week", "every second day", "weekly"
    r"\b(?:an?|per|each|every|within the)\s(?P<unit>second|minute|hour|day|week|fortnight|month"
    r"|year|decade|century|kilometre|metre|mile|tonne|litre)\b(?!-)"
    r"|\b(?P<adverb>hour|dai|week|month|year|annual)ly\b|\b(?P<annual>annual)\b",
    re.IGNORECASE,
)
_ADVERBS = {"dai": "day", "annual": "year"}
_CLOCK_UNIT = Unit("o'clock", "clock", Fraction(1))
_SHARE_UNIT = find_unit("%")
_TIMES = Unit("times", "times")
_PLURALS = frozenset(("times", "time", "fold"))


@dataclass(frozen=True)
class Amount:
    """A number with a unit at `text[start:end]`.

    `noun` is the stem of the following word if there is no unit. `step` is the value of one unit in
    the last digit written, 0 for exact fractions; `is_about` means that the text rounds.
    """

    value: Fraction
    unit: Unit
    noun: str
    step: Fraction
    start: int
    end: int
    kind: str = "number"
    is_about: bool = False
    scale: int = 1

    @property
    def base(self) -> Fraction:
        """Return the value in the base unit of its dimension."""
        return self.unit.to_base(self.value)

    @property
    def dimension(self) -> str:
        return self.unit.dimension

    @property
    def base_step(self) -> Fraction:
        return self.step * self.unit.factor


@lru_cache(maxsize=4096)
def find_amounts(text: str) -> tuple[Amount, ...]:
    """Return the amounts of a text in order; dates are none."""
    plain = without_dates(text)
    found = [*_elapsed(plain)]
    for each in found:
        plain = _blank(plain, each.start, each.end)
    clocks = list(_clocks(plain))
    for each in clocks:
        plain = _blank(plain, each.start, each.end)
    signs = [match.start() for match in re.finditer(r"(?<=[$€£¥])\s?\d|(?<=SFr\s)\d", plain)]
    money = frozenset(at + (plain[at].isspace()) for at in signs)
    measured = [_measured(plain, each) for each in find_numerals(plain, money)]
    found += [*clocks, *_merged(plain, _carried(plain, measured))]
    return tuple(sorted(found, key=lambda each: (each.start, each.end)))


def _blank(text: str, start: int, end: int) -> str:
    return f"{text[:start]}{' ' * (end - start)}{text[end:]}"


def _elapsed(text: str) -> Iterator[Amount]:
    """ "2:14:37" as a duration."""
    second = find_unit("s") or NO_UNIT
    for match in _ELAPSED.finditer(text):
        hours, minutes, seconds = (int(part) for part in match.groups())
        value = Fraction(hours * 3600 + minutes * 60 + seconds)
        yield Amount(value, second, "", Fraction(1), match.start(), match.end())


def _clocks(text: str) -> Iterator[Amount]:
    """Times of the day, in minutes since midnight."""
    for match in _CLOCK.finditer(text):
        hour, minute = _time_of_day(match)
        value = Fraction(hour * 60 + minute)
        yield Amount(value, _CLOCK_UNIT, "", Fraction(0), match.start(), match.end())


def _time_of_day(match: re.Match[str]) -> tuple[int, int]:
    if match["hours"]:
        return int(match["hours"]), int(match["minutes"])
    if match["word"]:
        word = in_lower_case(match["word"])
        hour = int(word) if word.isdigit() else _CLOCK_WORDS.index(word) + 1
        return hour % 12 + (0 if in_lower_case(match["part"]) == "morning" else 12), 0
    late = match["half"].lower() == "p"
    return int(match["hour"]) % 12 + (12 if late else 0), int(match["minute"] or 0)


def _measured(text: str, numeral: Numeral) -> Amount:
    """Return the number with the unit after it, the currency before it, and what it is a
    rate of.
    """
    start, end, unit, noun = numeral.start, numeral.end, NO_UNIT, ""
    link = _TO_UNIT.match(text, end)
    here = link.end() if link else end
    if inner := _INNER_UNIT.match(text, start):
        unit = find_unit(inner["unit"]) or NO_UNIT
        noun = "" if unit is not NO_UNIT else stem(inner["unit"].lower())
    elif sign := sign_before(text, start):
        unit, start = sign
    elif spelled := unit_at(text, end) or (
        unit_at(text, here) if _may_link(text, numeral, here) else None
    ):
        unit, end = spelled
    elif word := _NOUN.match(text, end):
        noun = "" if word[1].lower() in STOP_WORDS else stem(word[1].lower())
        end = _end_of_noun(numeral, word, noun)
    while rate := rate_at(text, end):
        unit, end = unit.per(rate[0]), rate[1]
    if not unit.dimension:
        unit, noun = _implied(numeral, noun)
        end = end if noun or unit is _TIMES else numeral.end
    about = bool(_ABOUT.search(text, max(0, start - _ABOUT_REACH), start))
    return Amount(
        numeral.value, unit, noun, numeral.step, start, end, numeral.kind, about, numeral.scale
    )


def _may_link(text: str, numeral: Numeral, here: int) -> bool:
    """Return whether these words may link a number to its unit: "half an hour", "24-hour"."""
    between = text[numeral.end : here].strip().lower()
    return between in {"", "-"} or numeral.kind == "fraction"


def _end_of_noun(numeral: Numeral, word: re.Match[str], noun: str) -> int:
    """Behind the noun, so that "three times a week" is a rate; right behind a bare number."""
    return word.end() if noun else numeral.end


def _implied(numeral: Numeral, noun: str) -> tuple[Unit, str]:
    """Return the unit of a number that names none: a share is one of the whole."""
    if numeral.kind in {"fraction", "share"}:
        return Unit("", "ratio"), ""
    if numeral.kind == "multiple" or noun in _PLURALS:
        return _TIMES, ""
    return NO_UNIT, noun


def _carried(text: str, amounts: Sequence[Amount]) -> list[Amount]:
    """Amounts with the unit and the scale that the next one of a range has: "10 to 12 %"."""
    found = list(amounts)
    for at in range(len(found) - 2, -1, -1):
        one, other = found[at], found[at + 1]
        gap = text[one.end : other.start] if one.end <= other.start else "?"
        if not _RANGE.fullmatch(gap + " " if gap and not gap[-1].isspace() else gap):
            continue
        if (not one.dimension and not one.noun) or one.noun in {"to", "and"}:
            scale = other.scale if one.scale == 1 and one.value < 1000 else 1
            found[at] = replace(
                one,
                value=one.value * scale,
                step=one.step * scale,
                unit=other.unit,
                noun=other.noun,
                scale=one.scale * scale,
            )
        elif one.dimension and not other.dimension and not other.noun:
            found[at + 1] = replace(other, unit=one.unit)
            found[at] = _scaled_as(one, other)
        elif one.dimension and one.unit == other.unit:
            found[at] = _scaled_as(one, other)
    return found


def _scaled_as(one: Amount, other: Amount) -> Amount:
    """Return the first amount of a range with the scale of the second: "€2–3 million"."""
    if one.scale != 1 or other.scale == 1:
        return one
    return replace(
        one, value=one.value * other.scale, step=one.step * other.scale, scale=other.scale
    )


def _merged(text: str, amounts: Sequence[Amount]) -> list[Amount]:
    """One amount of hours, minutes and seconds: "27 hours and 11 minutes"."""
    found: list[Amount] = []
    for each in amounts:
        last = found[-1] if found else None
        joined = (
            last is not None
            and last.dimension == each.dimension == "time"
            and each.unit.factor < last.unit.factor
            and last.end <= each.start
            and _JOINS.fullmatch(text[last.end : each.start])
        )
        if joined and last is not None:
            value = (last.base + each.base) / each.unit.factor
            found[-1] = replace(each, value=value, start=last.start, is_about=last.is_about)
        else:
            found.append(each)
    return found


def find_single_units(text: str) -> Iterator[Amount]:
    """Yield one unit for each unit without a number: "a week", "daily"."""
    for match in _ONE_UNIT.finditer(text):
        name = in_lower_case(match["unit"] or match["adverb"] or match["annual"])
        if unit := find_unit(_ADVERBS.get(name, name)):
            yield Amount(Fraction(1), unit, "", Fraction(1), match.start(), match.end())


def same_amount(said: Amount, known: Amount) -> bool:
    """Return whether a claim's amount equals the known one, to the digits given.

    A value in another unit may be rounded to the claim's last digit, one after "about" by
    `APPROXIMATE`. A number without a unit is compared as written.
    """
    if not said.dimension or not known.dimension:
        return said.value == known.value
    if said.dimension != known.dimension:
        return False
    off = abs(said.base - known.base)
    if off == 0:
        return True
    if said.is_about and off <= abs(known.base) * APPROXIMATE:
        return True
    converted = said.unit.name != known.unit.name or known.kind != said.kind
    return converted and off <= _rounding(said)


def _rounding(said: Amount) -> Fraction:
    """Half of the last digit given; for a fraction of "about two thirds" kind, 1 % of the whole."""
    return said.base_step / 2 if said.step else abs(said.base) * Fraction(1, 100)
