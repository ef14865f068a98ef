"""Dates as texts write them: ISO, day and month in either order, spans of days, years alone."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from research.engine.text.entities import MONTH
from research.engine.text.tokens import in_lower_case
from research.engine.text.units import find_unit

Date = tuple[int | None, int | None, int | None]
"""Year, month, day; None where it isn't said."""

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_YEAR = r"(?P<year>(?:1\d|20)\d\d)"
_EARLY_COUNT = r"(?!1[0-7]\d\d\s[a-z]{2,20}s\b)"  # "1000 tuples"
_MEASURED = (  # "1024 MB", "1000 s"
    r"(?!\d{4}\s?(?:[kKMGTP]i?[Bb](?:it)?|[kcm]?m|k?g|[mµn]?s|min|h|[kmM]?[VJ]|[km]A"
    r"|[kMG]?Hz|[kMG]?Wh?)\b)"
)
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_ALSO = r"(?P<also>\d{1,2})(?:st|nd|rd|th)?"
_AND = r"\s?(?:and|to|or|through|until|–|-)\s?"
_IN_TIME = (
    r"(?:\b(?i:in|since|until|till|by|from|to|before|after|during|of|circa|between|and|early|late|mid|year"
    r"|spring|summer|autumn|winter|of the)\s|[(,–-]\s?|^)"
)
_FORMS = tuple(
    re.compile(form)
    for form in (
        r"\b(?P<year>\d{4})-(?P<number>\d{2})(?:-(?P<day>\d{2}))?\b",
        r"(?<![\d.])(?P<day>\d{1,2})\.\s?(?P<number>\d{1,2})\.\s?(?P<year>(?:1\d|20)\d\d)\b",
        r"\b(?:on|by|until|since|from|to|am|vom|bis|seit)\s(?P<day>\d{1,2})\.(?P<number>0?[1-9]|1[0-2])\.(?!\d)",
        r"(?<![\d/])(?P<day>\d{1,2})/(?P<number>\d{1,2})/(?P<year>(?:1\d|20)\d\d)\b",
        rf"\b{_ALSO}{_AND}{_DAY}\s+(?P<month>{MONTH})\b\.?(?:,?\s+{_YEAR}\b)?",
        rf"\b{_DAY}\.?\s+(?P<month>{MONTH})\b\.?(?:,?\s+{_YEAR}\b)?",
        rf"\b(?P<month>{MONTH})\b\.?\s+{_DAY}{_AND}{_ALSO}\b(?!\d)(?:,?\s+{_YEAR}\b)?",
        rf"\b(?P<month>{MONTH})\b\.?\s+{_DAY}\b(?!\d)(?:,?\s+{_YEAR}\b)?",
        rf"\b(?P<month>{MONTH})\b\.?,?\s+{_YEAR}\b",
        rf"{_IN_TIME}{_EARLY_COUNT}{_MEASURED}{_YEAR}\b(?![.,]?\d|s?\s*[%$€£])",
    )
)

_DIGIT = re.compile(r"\d")
_FOR_A_YEAR = re.compile(
    r"\b(?:for|taking) ((?:19|20)\d\d)\b(?![.,]?\d)(?: ([^\W\d]+))?", re.IGNORECASE
)
_CLAUSE = re.compile(
    r"[;；]\s?|\s[–—]\s|,\s(?=(?:(?:of|for|in|by|from|with) )?(?:which|whose|whom)\b"
    r"|(?:who|where|when|while|whereas|although|though|until|since|before|after"
    r"|(?:as )?(?:against|compared)"
    r"|(?:in )?(?:der|die|das|dem|den|denen|dessen|deren)|welche[mnrs]?|wo|während|obwohl|nachdem"
    r"|bevor|ehe|seit|seitdem|bis|gegenüber|statt|qui|que|dont|où|tandis|alors|avant|après|depuis"
    r"|contre|quien|cuy[ao]s?|donde|mientras|aunque|desde|hasta|antes|después|frente|che|cui|dove"
    r"|mentre|benché|fino|prima|dopo|contro|cuj[ao]s?|onde|enquanto|embora|até|depois|dat|waar"
    r"|terwijl|hoewel|sinds|tot|voordat|nadat|tegenover)\b)",
    re.IGNORECASE,
)
"""Where a clause that is subordinate or set against the one before it begins."""


@dataclass(frozen=True)
class FoundDate:
    """A date and where its text begins and ends."""

    start: int
    end: int
    date: Date


def find_dates(text: str) -> tuple[FoundDate, ...]:
    """Return the dates of a text in order."""
    return _read(text)[0] if _DIGIT.search(text) else ()


def without_dates(text: str) -> str:
    """Return the text with a space for each character of a date."""
    return _read(text)[1] if _DIGIT.search(text) else text


@lru_cache(maxsize=2_000)
def _read(text: str) -> tuple[tuple[FoundDate, ...], str]:
    """Return the dates of a text, and the text without them; in one pass for each form."""
    found: list[FoundDate] = []
    for form in _FORMS:
        matches = list(form.finditer(text))
        for match in matches:
            found += [FoundDate(match.start(), match.end(), date) for date in _dates(match)]
        if matches:
            text = form.sub(lambda match: " " * len(match.group()), text)
    return tuple(sorted(found, key=lambda each: (each.start, each.date[2] or 0))), text


def _dates(match: re.Match[str]) -> list[Date]:
    """Return the date of a match: two for a span of days, or both readings of an ambiguous
    order.
    """
    said = match.groupdict()
    year = int(said["year"]) if said.get("year") else None
    day = int(said["day"]) if said.get("day") else None
    month = _month(said)
    if month and month > 12 and day:
        month, day = day, month
    found: list[Date] = [(year, month, day)]
    if also := said.get("also"):
        found.append((year, month, int(also)))
    return found


def _month(said: dict[str, str | None]) -> int | None:
    if name := said.get("month"):
        return _MONTHS.index(in_lower_case(name[:3])) + 1
    number = said.get("number")
    return int(number) if number else None


def latest_date(text: str) -> str:
    """Return the latest date in a text, as far as it is given; "" without any."""
    stated = [found.date for found in find_dates(text) if found.date[0] is not None]
    stated += [
        (int(found[1]), None, None)
        for found in _FOR_A_YEAR.finditer(text)
        if not find_unit((found[2] or "").lower())
    ]
    if not stated:
        return ""
    year, month, day = max(tuple(part or 0 for part in date) for date in stated)
    return "-".join(
        part for part in (f"{year:04}", f"{month:02}" if month else "", f"{day:02}" if day else "")
        if part
    )  # fmt: skip


def clauses_in(text: str) -> list[str]:
    """Return the clauses of a text, subordinate ones by themselves."""
    return _CLAUSE.split(text)


def is_within(date: Date, other: Date) -> bool:
    """Return whether the other date includes everything that this one states."""
    return all(part is None or part == known for part, known in zip(date, other, strict=True))
