"""An event loop with virtual time: its clock stops during work and jumps while the loop is idle.

Tests marked `virtual_time` run on it: waiting for an hour takes no time, and timeouts never expire
before the work they guard, even on a busy machine. Loopback sockets are real: the loop waits
briefly before it advances the clock, so that data sent within this process arrives. The clock
doesn't move while a thread of the loop's executor is working. The loop is not aware of other
processes: tests that wait for one need the real clock.
"""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from datetime import UTC, datetime, timedelta
from typing import Any

POLLS, POLL_SECONDS = 5, 0.001
THREAD_POLL_SECONDS = 0.01
BEGIN = datetime(2026, 3, 1, 12, tzinfo=UTC)


class VirtualTimeLoop(asyncio.SelectorEventLoop):
    """An event loop whose `time` is virtual: seconds since its creation."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.threads_at_work = 0
        super().__init__(_JumpingSelector(self))

    def time(self) -> float:
        return self.seconds

    def close(self) -> None:
        """Notify sockets that were closed last, then close."""
        if not self.is_closed():
            self.run_until_complete(asyncio.sleep(POLL_SECONDS))
        super().close()

    def run_in_executor(
        self, executor: Executor | None, func: Callable[..., Any], *args: Any
    ) -> asyncio.Future[Any]:
        future = super().run_in_executor(executor, func, *args)
        self.threads_at_work += 1
        future.add_done_callback(self._thread_is_done)
        return future

    def _thread_is_done(self, _: asyncio.Future[Any]) -> None:
        self.threads_at_work -= 1


class _JumpingSelector(selectors.BaseSelector):
    """A selector that advances its loop's clock instead of waiting."""

    def __init__(self, loop: VirtualTimeLoop) -> None:
        self._loop = loop
        self._real = selectors.DefaultSelector()

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is None:
            return self._real.select(None)
        ready = self._real.select(0)
        if ready or timeout <= 0:
            return ready
        if self._loop.threads_at_work:
            return self._real.select(THREAD_POLL_SECONDS)
        ready = self._arriving()
        if not ready:
            self._loop.seconds += timeout
        return ready

    def _arriving(self) -> list[tuple[selectors.SelectorKey, int]]:
        """Return events of data in transit between sockets of this process."""
        has_sockets = len(self._real.get_map()) > 1  # the first one is the loop's wake-up socket
        for _ in range(POLLS if has_sockets else 0):
            if ready := self._real.select(POLL_SECONDS):
                return ready
        return []

    def register(self, fileobj: Any, events: int, data: Any = None) -> selectors.SelectorKey:
        return self._real.register(fileobj, events, data)

    def unregister(self, fileobj: Any) -> selectors.SelectorKey:
        return self._real.unregister(fileobj)

    def modify(self, fileobj: Any, events: int, data: Any = None) -> selectors.SelectorKey:
        return self._real.modify(fileobj, events, data)

    def get_map(self) -> Mapping[Any, selectors.SelectorKey]:
        return self._real.get_map()

    def close(self) -> None:
        self._real.close()


class LoopClock:
    """A clock for the engine that follows the running loop."""

    def now(self) -> datetime:
        return BEGIN + timedelta(seconds=self.monotonic())

    def monotonic(self) -> float:
        return asyncio.get_running_loop().time()
