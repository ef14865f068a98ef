"""Response bodies, decompressed under a size cap while they stream in (guard against zip bombs)."""

from __future__ import annotations

import zlib
from collections.abc import Iterator

import httpx

from research.engine.ports import FetchFailure

_GZIP_OR_ZLIB = 47
_RAW_DEFLATE = -15
_PLAIN = ("", "identity")
_COMPRESSED = ("gzip", "x-gzip", "deflate")


async def read_body(response: httpx.Response, max_bytes: int) -> bytes:
    """Return the body, at most `max_bytes` after decompression; raise `FetchFailure` beyond.

    A zip bomb never unfolds: no step decompresses more than the cap leaves room for.
    """
    body = await read_start(response, max_bytes + 1)
    if len(body) > max_bytes:
        raise too_large(max_bytes)
    return body


async def read_start(response: httpx.Response, most_bytes: int) -> bytes:
    """Return at most `most_bytes` after decompression, leaving the rest unread.

    Raise `FetchFailure` if the encoding is unsupported or the data is corrupt.
    """
    encoding = response.headers.get("content-encoding", "").strip().lower()
    if encoding not in (*_PLAIN, *_COMPRESSED):
        raise FetchFailure(
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


def too_large(max_bytes: int) -> FetchFailure:
    size = f"{max_bytes / 1_000_000:g} MB"
    return FetchFailure(f"refused: the page is larger than {size}", status="refused")


def _garbled() -> FetchFailure:
    return FetchFailure("the page could not be decompressed", status="failed", permanent=False)
