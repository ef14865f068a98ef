"""Which answers of a server are worth reading: by status, type, and what the bytes show."""

from __future__ import annotations

import httpx

from research.engine.tools import FetchFailure
from research.retrieval.extract import type_name
from research.retrieval.pacing import retry_after_seconds
from research.retrieval.sniffing import DOCX, PDF, UNTOLD_TYPES, is_binary, packed_type

READABLE_TYPES = (
    *("text/html", "application/xhtml+xml", "text/plain", "text/markdown", "text/x-markdown"),
    *(PDF, DOCX),
)
_MAY_SAY_WHEN = frozenset({429, 503})
_WORTH_ANOTHER_TRY = frozenset({408, 425, 429})


class Busy(FetchFailure):
    """A server that says when to come again."""

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
        raise failed(f"the server answered {status}", permanent=not again)
    if status != 200:
        raise FetchFailure(f"the server answered {status} without a page", status="empty")


def check_type(header: str) -> str:
    """The header as it came, if it names something readable or says too little to know."""
    name = type_name(header)
    if name not in READABLE_TYPES and name not in UNTOLD_TYPES:
        raise _not_read(name)
    return header


def settled_type(header: str, body: bytes) -> str:
    """The header, or what the bytes show where it says too little; "" for some kind of text."""
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
    """Whether most of the bytes are no text: pictures and fonts."""
    return type_name(content_type) in (PDF, DOCX)


def may_be_packed(header: str) -> bool:
    """Whether it is packed, or too little is said to know."""
    return type_name(header) in (*UNTOLD_TYPES, PDF, DOCX)


def failed(reason: str, *, permanent: bool = True) -> FetchFailure:
    return FetchFailure(reason, status="failed", permanent=permanent)
