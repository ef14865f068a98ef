"""A worker on its own thread's event loop: pages stay responsive, failures and stops reach it."""

from __future__ import annotations

import asyncio
import threading

import pytest

from research.queue.workers import InThread

GIVEN_UP_SECONDS = 30
STOP_SECONDS = 0.2


class Busy:
    """Blocks its event loop while it starts, until it is `released`; notes each call."""

    def __init__(self, failure: Exception | None = None) -> None:
        self.failure = failure
        self.released = threading.Event()
        self.told: list[str] = []
        self.threads: set[int] = set()

    async def start(self) -> None:
        self._note("start")
        if self.failure is not None:
            raise self.failure
        assert self.released.wait(GIVEN_UP_SECONDS), "nobody could release it"

    async def stop(self) -> None:
        self._note("stop")

    async def release(self) -> None:
        self._note("release")

    def _note(self, what: str) -> None:
        self.told.append(what)
        self.threads.add(threading.get_ident())


async def test_the_callers_loop_runs_while_the_worker_is_busy() -> None:
    busy = Busy()
    worker = InThread(busy)
    starting = asyncio.create_task(worker.start())
    while not busy.told:
        await asyncio.sleep(0.001)
    assert not starting.done()
    busy.released.set()
    await starting
    await worker.stop()
    await worker.close(busy.release)
    assert busy.told == ["start", "stop", "release"]
    assert len(busy.threads) == 1 and threading.get_ident() not in busy.threads
    worker._thread.join(timeout=10)
    assert not worker._thread.is_alive()


async def test_a_worker_that_cannot_start_is_reported() -> None:
    worker = InThread(Busy(ValueError("no table")))
    with pytest.raises(ValueError, match="no table"):
        await worker.start()
    await worker.close(Busy().release)


async def test_stopping_in_time_gives_up_a_worker_that_does_not_stop() -> None:
    class Endless(Busy):
        async def stop(self) -> None:
            try:
                await asyncio.Event().wait()
            finally:
                self._note("cancelled")

    endless = Endless()
    endless.released.set()
    worker = InThread(endless)
    await worker.start()
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(worker.stop(), STOP_SECONDS)
    await worker.close(endless.release)
    assert endless.told == ["start", "cancelled", "release"]


async def test_a_worker_that_never_started_can_be_stopped() -> None:
    worker = InThread(Busy())
    await worker.stop()
    await worker.close(Busy().release)
