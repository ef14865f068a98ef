"""What providers' answers hold, brought to one form. An entry that cannot be read is counted and
spoils no other; a field that cannot be read is done without.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated, Any, TypeVar
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, BeforeValidator, ValidationError

from research.retrieval.pipeline import canonical_url
from research.retrieval.providers.days import day_of
from research.retrieval.providers.words import plain, unmarked

MOST_ADDRESS = 2_000
MOST_HOST = 253

_NO_SIGN = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]")


def page_address(written: str) -> str:
    """The address of a page on the web; raises `ValueError` for any other."""
    address = written.strip()
    parts = urlsplit(address)
    host = parts.hostname or ""
    if parts.scheme not in {"http", "https"} or not canonical_url(address):
        raise ValueError("no address of a page")
    if len(host) > MOST_HOST or " " in host or len(address) > MOST_ADDRESS:
        raise ValueError("no address that anybody has")
    if _NO_SIGN.search(address):
        raise ValueError("no signs of an address")
    return address


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _texts(value: Any) -> list[str]:
    return [part for part in value if isinstance(part, str)] if isinstance(value, list) else []


Address = Annotated[str, AfterValidator(page_address)]
Words = Annotated[str, BeforeValidator(_text), AfterValidator(plain)]
Markup = Annotated[str, BeforeValidator(_text), AfterValidator(unmarked)]
Passages = Annotated[str, BeforeValidator(lambda value: " … ".join(map(plain, _texts(value))))]
Day = Annotated[str | None, BeforeValidator(lambda value: day_of(_text(value)))]


class Result(BaseModel):
    """What most providers say of a result; one without an address is of no use here."""

    url: Address
    title: Words = ""


Entry = TypeVar("Entry", bound=BaseModel)


def readable(model: type[Entry], entries: Sequence[Any]) -> list[Entry]:
    """The entries that hold what the documentation says, in their order."""
    found = []
    for entry in entries:
        try:
            found.append(model.model_validate(entry))
        except ValidationError:
            continue
    return found


def left_out(label: str, given: int, used: int) -> tuple[str, ...]:
    """What a run tells of the entries that could not be read; nothing where there are none."""
    lost = given - used
    if not lost:
        return ()
    were = "was" if lost == 1 else "were"
    return (f"{label}: {lost} of its {given} results could not be read and {were} left out.",)
