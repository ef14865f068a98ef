"""A response: checked before it is read, then decompressed under a size cap while it streams in.

The cap guards against zip bombs. Checked are status, content type and magic bytes.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator

import httpx

from research.engine.ports import FetchFailedError
from research.extract.extract import type_name
from research.fetch.rate_limit import retry_after_seconds
from research.fetch.sniffing import DOCX, PDF, UNTOLD_TYPES, is_binary, packed_type

_GZIP_OR_ZLIB = 47
_RAW_DEFLATE = -15
_PLAIN = ("", "identity")
_COMPRESSED = ("gzip", "x-gzip", "deflate")
READABLE_TYPES = (
    *("text/html", "application/xhtml+xml", "text/plain", "text/markdown", "text/x-markdown"),
    *(PDF, DOCX),
)
_MAY_SAY_WHEN = frozenset({429, 503})
_WORTH_ANOTHER_TRY = frozenset({408, 425, 429})


class BusyError(FetchFailedError):
    """A response 429 or 503 with Retry-After."""

    def __init__(self, status: int, wait_seconds: float) -> None:
        super().__init__(f"the server answered {status}", status="failed", permanent=False)
        self.wait_seconds = wait_seconds


def check_status(response: httpx.Response) -> None:
    status = response.status_code
    wait = retry_after_seconds(response) if status in _MAY_SAY_WHEN else None
    if wait is not None:
        raise BusyError(status, wait)
    if status >= 400:
        again = status in _WORTH_ANOTHER_TRY or status >= 500
        raise fetch_failure(f"the server answered {status}", permanent=not again)
    if status != 200:
        raise FetchFailedError(f"the server answered {status} without a page", status="empty")


def check_type(header: str) -> str:
    """Return the raw header if its type is readable or generic.

    Raise `FetchFailedError` otherwise.
    """
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


def _not_read(name: str) -> FetchFailedError:
    shown = name if len(name) <= 60 and name.isprintable() else "unknown"
    return FetchFailedError(f"refused: pages of type {shown} are not read", status="refused")


def is_packed(content_type: str) -> bool:
    """Return whether the type is PDF or Word: most of the bytes are images and fonts, not text."""
    return type_name(content_type) in (PDF, DOCX)


def may_be_packed(header: str) -> bool:
    """Return whether the declared type is PDF or Word, or too generic to exclude them."""
    return type_name(header) in (*UNTOLD_TYPES, PDF, DOCX)


def fetch_failure(reason: str, *, permanent: bool = True) -> FetchFailedError:
    return FetchFailedError(reason, status="failed", permanent=permanent)


async def read_body(response: httpx.Response, max_bytes: int) -> bytes:
    """Return the body, at most `max_bytes` after decompression; raise `FetchFailedError` beyond.

    A zip bomb never unfolds: no step decompresses more than the cap leaves room for.
    """
    body = await read_start(response, max_bytes + 1)
    if len(body) > max_bytes:
        raise too_large(max_bytes)
    return body


async def read_start(response: httpx.Response, most_bytes: int) -> bytes:
    """Return at most `most_bytes` after decompression, leaving the rest unread.

    Raise `FetchFailedError` if the encoding is unsupported or the data is corrupt.
    """
    encoding = response.headers.get("content-encoding", "").strip().lower()
    if encoding not in (*_PLAIN, *_COMPRESSED):
        raise FetchFailedError(
            "refused: the page is compressed in an unsupported way", status="refused"
        )
    decoder = _Inflate() if encoding in _COMPRESSED else None
    body = bytearray()
    async for chunk in response.aiter_raw():
        room = most_bytes - len(body)
        body += decoder.decode(chunk, room) if decoder else chunk[:room]
        if len(body) >= most_bytes:
            return bytes(body)
    if decoder and not decoder.finished:
        raise _garbled()
    return bytes(body)


class _Inflate:
    """Decompressor for gzip, zlib and bare deflate, which some servers send as "deflate"."""

    def __init__(self) -> None:
        self._stream = zlib.decompressobj(_GZIP_OR_ZLIB)
        self._started = False

    @property
    def finished(self) -> bool:
        return self._stream.eof or not self._started

    def decode(self, chunk: bytes, room: int) -> bytes:
        """Return at most `room` bytes; the excess is dropped, since the page is refused then."""
        for stream in self._streams():
            try:
                decoded = stream.decompress(chunk, room)
            except zlib.error:
                continue
            self._stream, self._started = stream, True
            return decoded
        raise _garbled()

    def _streams(self) -> Iterator[zlib._Decompress]:
        yield self._stream
        if not self._started:
            yield zlib.decompressobj(_RAW_DEFLATE)


def too_large(max_bytes: int) -> FetchFailedError:
    size = f"{max_bytes / 1_000_000:g} MB"
    return FetchFailedError(f"refused: the page is larger than {size}", status="refused")


def _garbled() -> FetchFailedError:
    return FetchFailedError("the page could not be decompressed", status="failed", permanent=False)
