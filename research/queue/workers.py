"""The interface of a background worker: start and stop; and combinations of workers."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import Any, Protocol


class Worker(Protocol):
    async def start(self) -> None: ...

    async def stop(self) -> None: ...


@dataclass(frozen=True)
class Together:
    """Several workers as one: started in order, stopped in parallel."""

    workers: Sequence[Worker] = ()

    async def start(self) -> None:
        for worker in self.workers:
            await worker.start()

    async def stop(self) -> None:
        await asyncio.gather(*(worker.stop() for worker in self.workers))


class InThread:
    """A worker that runs on a separate event loop in its own thread.

    Research takes the CPU for up to a second at a time; on the event loop of the pages, every
    request would wait that long.
    """

    def __init__(self, worker: Worker) -> None:
        self.worker = worker
        self._thread = threading.Thread(target=self._work, name="worker", daemon=True)

    async def start(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread.start()
        await self._run(self.worker.start())

    async def stop(self) -> None:
        if self._thread.is_alive():
            await self._run(self.worker.stop())

    async def close(self, release: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Release what the worker has used, on the loop that it used it on, and end the thread."""
        if self._thread.is_alive():
            try:
                await self._run(release())
            finally:
                self._loop.call_soon_threadsafe(self._loop.stop)

    def _work(self) -> None:
        self._loop.run_forever()
        self._loop.close()

    async def _run(self, work: Coroutine[Any, Any, None]) -> None:
        """Await `work` on the worker's loop; cancelling this cancels it there."""
        await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, self._loop))
