"""One computation per key at a time: whoever comes second waits for the first one's record."""

from __future__ import annotations

import asyncio
from weakref import WeakValueDictionary


class InFlight:
    """A lock per key, kept for as long as somebody holds or awaits it.

    Who gets the lock looks at the record first: the computation that held it before may have
    settled the key. Where that was cancelled or failed, the next one computes.
    """

    def __init__(self) -> None:
        self._locks: WeakValueDictionary[tuple[str, int], asyncio.Lock] = WeakValueDictionary()

    def alone(self, place: str, attempt: int = 1) -> asyncio.Lock:
        """The lock of this place and attempt, for an `async with`."""
        return self._locks.setdefault((place, attempt), asyncio.Lock())
