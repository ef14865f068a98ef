"""One computation per key at a time: later callers wait for the first one's record."""

from __future__ import annotations

import asyncio
from weakref import WeakValueDictionary


class InFlight:
    """A lock per key, kept as long as it is held or awaited.

    A caller that gets the lock checks the record first, because the previous computation may have
    settled the key. If that one was cancelled or failed, the caller computes.
    """

    def __init__(self) -> None:
        self._locks: WeakValueDictionary[tuple[str, int], asyncio.Lock] = WeakValueDictionary()

    def alone(self, place: str, attempt: int = 1) -> asyncio.Lock:
        """Return the lock of this place and attempt, for an `async with`."""
        return self._locks.setdefault((place, attempt), asyncio.Lock())
