"""Parses a response body while it arrives: one JSON value, or server-sent events."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

_BESIDE = (b":", b"event:", b"id:", b"retry:")


async def parse_events(chunks: AsyncIterator[bytes]) -> AsyncIterator[tuple[bool, Any]]:
    """Yield the JSON values of a body, each with whether it was a stream event.

    Detected from the body itself: servers stream without being asked or ignore the request to
    stream, with any content type. Raise `ValueError` if the body is neither.
    """
    is_stream, pending, others = False, b"", []
    async for line in _lines(chunks):
        if line.startswith(b"data:"):
            is_stream = True
            pending += line.removeprefix(b"data:").strip()
            if pending == b"[DONE]":
                return
            value = _json(pending)
            if value is not _UNFINISHED:
                pending = b""
                yield True, value
        elif not line.startswith(_BESIDE):
            others.append(line)
    if not is_stream:
        yield False, json.loads(b"\n".join(others))
    elif pending:
        raise ValueError("an event of the stream is no JSON")


_UNFINISHED = object()


def _json(text: bytes) -> Any:
    """Return an event's value; `_UNFINISHED` if it continues on the next line or is invalid."""
    try:
        return json.loads(text)
    except ValueError:
        return _UNFINISHED


async def _lines(chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    r"""Yield lines split at "\n" only: other line separators may occur within a JSON string."""
    parts: list[bytes] = []
    async for chunk in chunks:
        *lines, rest = chunk.split(b"\n")
        for line in lines:
            yield b"".join([*parts, line]).rstrip(b"\r")
            parts = []
        parts.append(rest)
    yield b"".join(parts).rstrip(b"\r")
