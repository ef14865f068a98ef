"""Parses the date of a search result, in any unambiguous notation that providers use."""

from __future__ import annotations

import re
from datetime import date

EARLIEST_YEAR = 1000
NOUGHT = date(1970, 1, 1)
"""The Unix epoch, which many systems send for an unknown date."""

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_NAME = rf"(?P<name>{'|'.join(_MONTHS)})[a-z]*\.?"
# "2024-05-06", "20240506T120000", "Mon, 6 May 2024 12:00:00 GMT", "May 6, 2024"
_FORMS = (
    re.compile(r"(?P<year>\d{4})(?:[-/](?P<month>\d\d?)(?:[-/](?P<day>\d\d?)(?:[ t].*)?)?)?"),
    re.compile(r"(?P<year>\d{4})(?P<month>\d\d)(?P<day>\d\d)(?:t.*)?"),
    re.compile(rf"(?:[a-z]+,? +)?(?P<day>\d\d?) +{_NAME},? +(?P<year>\d{{4}})(?: .*)?"),
    re.compile(rf"{_NAME} +(?P<day>\d\d?),? +(?P<year>\d{{4}})(?: .*)?"),
)


def day_of(written: str) -> str | None:
    """Return a date in ISO 8601, at most to the day; None if it is ambiguous or not a date.

    Accepts ISO notations, e-mail dates and English dates with the month's name. Rejects 06/05/2024,
    whose month is ambiguous, and "2 weeks ago", which depends on when it was written.
    """
    plain = written.strip().lower()
    match = next(filter(None, (form.fullmatch(plain) for form in _FORMS)), None)
    if match is None:
        return None
    parts = match.groupdict()
    name = parts.pop("name", None)
    month = str(_MONTHS.index(name) + 1) if name else parts["month"]
    return _iso(parts["year"], month, parts["day"])


def _iso(year: str, month: str | None, day: str | None) -> str | None:
    try:
        found = date(int(year), int(month or 1), int(day or 1))
    except ValueError:
        return None
    if found.year < EARLIEST_YEAR or (day and found == NOUGHT):
        return None
    return "-".join([year, *(part.zfill(2) for part in (month, day) if part)])
