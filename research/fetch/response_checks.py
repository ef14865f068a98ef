"""Checks of a response before it is read: status, content type and magic bytes."""

from __future__ import annotations

import httpx

from research.engine.ports import FetchFailure
from research.extract.extract import type_name
from research.fetch.rate_limit import retry_after_seconds
from research.fetch.sniffing import DOCX, PDF, UNTOLD_TYPES, is_binary, packed_type

READABLE_TYPES = (
    *("text/html", "application/xhtml+xml", "text/plain", "text/markdown", "text/x-markdown"),
    *(PDF, DOCX),
)
_MAY_SAY_WHEN = frozenset({429, 503})
_WORTH_ANOTHER_TRY = frozenset({408, 425, 429})


class Busy(FetchFailure):
    """A response 429 or 503 with Retry-After."""

    def __init__(self, status: int, wait_seconds: float) -> None:
        super().__init__(f"the server answered {status}", status="failed", permanent=False)
        self.wait_seconds = wait_seconds


def check_status(response: httpx.Response) -> None:
    status = response.status_code
    wait = retry_after_seconds(response) if status in _MAY_SAY_WHEN else None
    if wait is not None:
        raise Busy(status, wait)
    if status >= 400:
        again = status in _WORTH_ANOTHER_TRY or status >= 500
        raise fetch_failure(f"the server answered {status}", permanent=not again)
    if status != 200:
        raise FetchFailure(f"the server answered {status} without a page", status="empty")


def check_type(header: str) -> str:
    """Return the raw header if its type is readable or generic; raise `FetchFailure` otherwise."""
    name = type_name(header)
    if name not in READABLE_TYPES and name not in UNTOLD_TYPES:
        raise _not_read(name)
    return header


def settled_type(header: str, body: bytes) -> str:
    """Return the header, or the sniffed type if it is generic; "" means some kind of text."""
    name = type_name(header)
    if packed := packed_type(body):
        return header if name == packed else packed
    if name not in UNTOLD_TYPES:
        return header
    if is_binary(body):
        raise _not_read(name or "unknown")
    return ""


def _not_read(name: str) -> FetchFailure:
    shown = name if len(name) <= 60 and name.isprintable() else "unknown"
    return FetchFailure(f"refused: pages of type {shown} are not read", status="refused")


def is_packed(content_type: str) -> bool:
    """Return whether the type is PDF or Word: most of the bytes are images and fonts, not text."""
    return type_name(content_type) in (PDF, DOCX)


def may_be_packed(header: str) -> bool:
    """Return whether the declared type is PDF or Word, or too generic to exclude them."""
    return type_name(header) in (*UNTOLD_TYPES, PDF, DOCX)


def fetch_failure(reason: str, *, permanent: bool = True) -> FetchFailure:
    return FetchFailure(reason, status="failed", permanent=permanent)
