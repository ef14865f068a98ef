"""Tasks of a process that look again and again for what is due in the database."""

from __future__ import annotations

import asyncio
import logging

from django.db import Error as DatabaseError

from research.worker import notify
from research.worker.notify import wait_at_most
from research.worker.writer import Writer

log = logging.getLogger(__name__)


class Background:
    """Looks for `subject` from `start` to `stop`, every `look_seconds`, in as many `tasks`.

    While the database can't be reached, that is logged and tried again.
    """

    subject = ""
    tasks = 1

    def __init__(self, look_seconds: float) -> None:
        self.look_seconds = look_seconds
        self.writer = Writer()
        self._tasks: list[asyncio.Task[None]] = []

    async def start(self) -> None:
        self.writer.start()
        await self.prepare()
        self._tasks = [
            asyncio.create_task(self._work(), name=f"{self.subject} {number}")
            for number in range(self.tasks)
        ]

    async def stop(self) -> None:
        if not self._tasks:
            return
        for task in self._tasks:
            task.cancel()
        await asyncio.wait(self._tasks)
        self._tasks.clear()
        await self.release()
        await self.writer.stop()

    async def look(self) -> None:
        """Do all that is due. Errors of the database may be raised."""
        raise NotImplementedError

    async def prepare(self) -> None:
        """Do what comes before the first look."""

    async def release(self) -> None:
        """Do what comes after the last look."""

    async def pause(self) -> None:
        await asyncio.sleep(self.look_seconds)

    async def _work(self) -> None:
        while True:
            try:
                await self.look()
            except DatabaseError:
                log.warning("the database cannot be queried for %s", self.subject, exc_info=True)
            await self.pause()


class Wakeable(Background):
    """Also looks when something may have become due in this process or another."""

    def __init__(self, look_seconds: float) -> None:
        super().__init__(look_seconds)
        self._woken = asyncio.Event()

    async def prepare(self) -> None:
        self._loop = asyncio.get_running_loop()
        notify.on_wake.append(self.wake)

    async def release(self) -> None:
        notify.on_wake.remove(self.wake)

    def wake(self) -> None:
        """Look for work immediately; thread-safe."""
        self._loop.call_soon_threadsafe(self._woken.set)

    async def pause(self) -> None:
        await wait_at_most(self._woken, notify.patience(self.look_seconds))
