"""How often and how many at once something outside is asked: a place in line, and its time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import httpx

MOST = 1_000


class Pace:
    """At most `at_once` turns, each beginning `interval_seconds` or more after the last one."""

    def __init__(self, at_once: int, interval_seconds: float = 0.0) -> None:
        self.interval_seconds = interval_seconds
        self._places = asyncio.Semaphore(at_once)
        self._next = 0.0
        self._turns = 0

    @property
    def idle(self) -> bool:
        """Whether nobody has a turn or waits for one, and the next may begin at once."""
        return not self._turns and not self.held_seconds

    @property
    def held_seconds(self) -> float:
        """How long a turn that began now would wait for its time."""
        return max(0.0, self._next - _now())

    def hold(self, seconds: float) -> None:
        """No turn begins within so many seconds from now."""
        self._next = max(self._next, _now() + seconds)

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        self._turns += 1
        try:
            async with self._places:
                wait = self.held_seconds
                self._next = _now() + wait + self.interval_seconds
                if wait:
                    await asyncio.sleep(wait)
                yield
        finally:
            self._turns -= 1


class Paces:
    """A pace for each name, such as a host's; those that are idle are forgotten in time."""

    def __init__(self, at_once: int, interval_seconds: float) -> None:
        self._at_once = at_once
        self._interval_seconds = interval_seconds
        self._paces: dict[str, Pace] = {}

    def of(self, name: str) -> Pace:
        if name not in self._paces:
            if len(self._paces) >= MOST:
                self._paces = {n: pace for n, pace in self._paces.items() if not pace.idle}
            self._paces[name] = Pace(self._at_once, self._interval_seconds)
        return self._paces[name]


def retry_after_seconds(response: httpx.Response) -> float | None:
    """The wait that a server asks for, as seconds or as a date (RFC 9110, 10.2.3)."""
    value = response.headers.get("Retry-After", "").strip()
    if value.isascii() and value.isdecimal():
        return float(value)
    try:
        when = parsedate_to_datetime(value)
    except ValueError:
        return None
    if when.tzinfo is None:
        when = when.replace(tzinfo=UTC)
    return max(0.0, (when - datetime.now(UTC)).total_seconds())


def _now() -> float:
    return asyncio.get_running_loop().time()
