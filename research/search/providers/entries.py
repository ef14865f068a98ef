"""Validation of providers' results: invalid entries are counted and skipped.

An invalid optional field is left empty.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date
from typing import Annotated, Any, TypeVar
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, BeforeValidator, ValidationError

from research.search.pipeline import canonical_url
from research.search.providers.words import plain_words, strip_html

MOST_ADDRESS = 2_000
MOST_HOST = 253

# control characters and lone surrogates
_NO_SIGN = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]")
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


def page_address(written: str) -> str:
    """Return the address of a web page; raise `ValueError` if it is not one."""
    address = written.strip()
    parts = urlsplit(address)
    host = parts.hostname or ""
    if parts.scheme not in {"http", "https"} or not canonical_url(address):
        raise ValueError("not the address of a page")
    if len(host) > MOST_HOST or " " in host or len(address) > MOST_ADDRESS:
        raise ValueError("an implausible address")
    if _NO_SIGN.search(address):
        raise ValueError("invalid characters")
    return address


def _as_string(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _texts(value: Any) -> list[str]:
    return [part for part in value if isinstance(part, str)] if isinstance(value, list) else []


Address = Annotated[str, AfterValidator(page_address)]
Words = Annotated[str, BeforeValidator(_as_string), AfterValidator(plain_words)]
Markup = Annotated[str, BeforeValidator(_as_string), AfterValidator(strip_html)]
Passages = Annotated[
    str, BeforeValidator(lambda value: " … ".join(map(plain_words, _texts(value))))
]
Day = Annotated[str | None, BeforeValidator(lambda value: day_of(_as_string(value)))]


class Result(BaseModel):
    """Fields common to most providers' results; an entry without an address is invalid.

    A provider with other names for them declares aliases.
    """

    url: Address
    title: Words = ""
    snippet: Words = ""
    published: Day = None


Entry = TypeVar("Entry", bound=BaseModel)


def parse_entries(model: type[Entry], entries: Sequence[Any]) -> list[Entry]:
    """Return the valid entries in their order."""
    found = []
    for entry in entries:
        try:
            found.append(model.model_validate(entry))
        except ValidationError:
            continue
    return found


def left_out(label: str, given: int, used: int) -> tuple[str, ...]:
    """Return a note on the number of invalid entries, or nothing if there are none."""
    lost = given - used
    if not lost:
        return ()
    were = "was" if lost == 1 else "were"
    return (f"{label}: {lost} of its {given} results could not be read and {were} left out.",)
