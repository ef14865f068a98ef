"""Rate limiting (throttle) of outgoing requests: concurrency and interval per host or service."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import httpx

from research.limits.limiter import Shared, Store
from research.limits.state import Rule

MOST = 1_000


class RateLimiter:
    """Throttle: at most `at_once` concurrent turns, starting `interval_seconds` or more apart.

    A `shared` limit applies to the turns of all processes together.
    """

    def __init__(
        self, at_once: int, interval_seconds: float = 0.0, shared: Shared | None = None
    ) -> None:
        self._shared = shared.limiter(Rule(at_once, interval_seconds)) if shared else None
        self._holding: set[asyncio.Task[None]] = set()
        self.interval_seconds = interval_seconds
        self._places = asyncio.Semaphore(at_once)
        self._next = 0.0
        self._turns = 0

    @property
    def idle(self) -> bool:
        """Return whether no turn is active or waiting, and the next one could start at once."""
        return not self._turns and not self.held_seconds

    @property
    def held_seconds(self) -> float:
        """Seconds that a turn requested now would wait for the interval."""
        return max(0.0, self._next - _now())

    def hold(self, seconds: float) -> None:
        """Start no turn within the next `seconds`, for example after a Retry-After."""
        self._next = max(self._next, _now() + seconds)
        if self._shared is not None:
            task = asyncio.ensure_future(self._shared.hold(seconds))
            self._holding.add(task)
            task.add_done_callback(self._holding.discard)

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        self._turns += 1
        try:
            async with self._places:
                wait = self.held_seconds
                self._next = _now() + wait + self.interval_seconds
                if wait:
                    await asyncio.sleep(wait)
                async with self._shared_turn():
                    yield
        finally:
            self._turns -= 1

    @asynccontextmanager
    async def _shared_turn(self) -> AsyncIterator[None]:
        if self._shared is None:
            yield
            return
        self._shared.rule = replace(self._shared.rule, interval_seconds=self.interval_seconds)
        async with self._shared.turn():
            yield


class RateLimiters:
    """One rate limiter per name, such as a host; idle ones are evicted once there are many."""

    def __init__(self, at_once: int, interval_seconds: float, store: Store | None = None) -> None:
        self._store = store
        self._at_once = at_once
        self._interval_seconds = interval_seconds
        self._paces: dict[str, RateLimiter] = {}

    def of(self, name: str) -> RateLimiter:
        if name not in self._paces:
            if len(self._paces) >= MOST:
                self._paces = {n: pace for n, pace in self._paces.items() if not pace.idle}
            shared = Shared(self._store, shared_name(name)) if self._store else None
            self._paces[name] = RateLimiter(self._at_once, self._interval_seconds, shared)
        return self._paces[name]


def shared_name(host: str) -> str:
    """Return the name of a host's limit, which does not show whose pages are read."""
    return f"host {hashlib.sha256(host.encode()).hexdigest()[:32]}"


def retry_after_seconds(response: httpx.Response, now: datetime | None = None) -> float | None:
    """Return the seconds of Retry-After, a number or a date (RFC 9110, 10.2.3), or None."""
    value = response.headers.get("Retry-After", "").strip()
    if value.isascii() and value.isdecimal():
        return float(value)
    try:
        when = parsedate_to_datetime(value)
    except ValueError:
        return None
    if when.tzinfo is None:  # the offset "-0000" is parsed as a naive time
        when = when.replace(tzinfo=UTC)
    return max(0.0, (when - (now or datetime.now(UTC))).total_seconds())


def _now() -> float:
    return asyncio.get_running_loop().time()
