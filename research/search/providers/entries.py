"""Validation of providers' results: invalid entries are counted and skipped.

An invalid optional field is left empty.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated, Any, TypeVar
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, BeforeValidator, ValidationError

from research.search.pipeline import canonical_url
from research.search.providers.days import day_of
from research.search.providers.words import plain_words, strip_html

MOST_ADDRESS = 2_000
MOST_HOST = 253

# control characters and lone surrogates
_NO_SIGN = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]")


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
