"""The day of a search result, in whatever clear form its provider writes it."""

from __future__ import annotations

import re
from datetime import date

EARLIEST_YEAR = 1000
NOUGHT = date(1970, 1, 1)
"""A time of nought in many systems: it says that nothing is known."""

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_NAME = rf"(?P<name>{'|'.join(_MONTHS)})[a-z]*\.?"
_FORMS = (
    re.compile(r"(?P<year>\d{4})(?:[-/](?P<month>\d\d?)(?:[-/](?P<day>\d\d?)(?:[ t].*)?)?)?"),
    re.compile(r"(?P<year>\d{4})(?P<month>\d\d)(?P<day>\d\d)(?:t.*)?"),
    re.compile(rf"(?:[a-z]+,? +)?(?P<day>\d\d?) +{_NAME},? +(?P<year>\d{{4}})(?: .*)?"),
    re.compile(rf"{_NAME} +(?P<day>\d\d?),? +(?P<year>\d{{4}})(?: .*)?"),
)


def day_of(written: str) -> str | None:
    """ISO 8601, as precise as it was written, to the day; None for what is unclear or no date.

    Read are ISO's own forms, the form of e-mails, and English ones with the month's name. Which
    of 06/05/2024 is the month nobody knows, and "2 weeks ago" hangs on when it was said.
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
