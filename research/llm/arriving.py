"""The body of an answer as it arrives: one JSON value, or server-sent events."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

_BESIDE = (b":", b"event:", b"id:", b"retry:")


async def events(chunks: AsyncIterator[bytes]) -> AsyncIterator[tuple[bool, Any]]:
    """What came, each with whether it came as an event of a stream.

    Whether a body is a stream is read off itself: servers send one unasked, or none though
    asked, and under any content type. Raises `ValueError` for what is neither.
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
    """The value of an event; `_UNFINISHED` where it goes on in the next line, or is broken."""
    try:
        return json.loads(text)
    except ValueError:
        return _UNFINISHED


async def _lines(chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Split at line feeds alone: other line ends may stand within a JSON string."""
    parts: list[bytes] = []
    async for chunk in chunks:
        *lines, rest = chunk.split(b"\n")
        for line in lines:
            yield b"".join([*parts, line]).rstrip(b"\r")
            parts = []
        parts.append(rest)
    yield b"".join(parts).rstrip(b"\r")
