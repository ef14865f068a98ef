"""The embedded worker: advances runs beside a web server, in its process."""

from __future__ import annotations

import asyncio
import logging
from functools import partial

from django.db import Error as DatabaseError

from research import notify
from research.advancing import USUAL, BuildTools, Engine, Outcome, Timing, advance
from research.leases import Lease, claim_next, new_owner
from research.waiting import wait_at_most
from research.writer import Writer

log = logging.getLogger(__name__)

STOP_SECONDS = 0.9


class EmbeddedWorker:
    """Advances claimable runs beside a web server, `slots` at once, on its event loop."""

    def __init__(
        self,
        build_tools: BuildTools,
        slots: int = 2,
        *,
        timing: Timing = USUAL,
        engine: Engine | None = None,
    ) -> None:
        self.build_tools = build_tools
        self.slots = slots
        self.timing = timing
        self.engine = engine
        self.owner = new_owner()
        self.writer = Writer()
        self._running: set[asyncio.Task[Outcome]] = set()
        self._polling: asyncio.Task[None] | None = None
        self._woken = asyncio.Event()
        self._stopping = False

    async def start(self) -> None:
        self._loop = asyncio.get_running_loop()
        self.writer.start()
        notify.on_wake.append(self.wake)
        self._polling = self._loop.create_task(self._poll(), name="worker")

    async def stop(self) -> None:
        """Give every run back and end, within a second unless a tool will not be cancelled."""
        if self._polling is None:
            return
        notify.on_wake.remove(self.wake)
        self._stopping = True
        self._woken.set()
        await self._polling
        self._polling = None
        for task in self._running:
            task.cancel()
        if self._running:
            await asyncio.wait(self._running, timeout=STOP_SECONDS)
        await self.writer.stop()

    def wake(self) -> None:
        """Look for work at once; may be called from any thread."""
        self._loop.call_soon_threadsafe(self._woken.set)

    async def _poll(self) -> None:
        while not self._stopping:
            self._woken.clear()
            try:
                await self._fill()
            except DatabaseError:
                log.warning("the database cannot be asked for work", exc_info=True)
            await wait_at_most(self._woken, self.timing.poll_seconds, clear=False)

    async def _fill(self) -> None:
        while len(self._running) < self.slots and not self._stopping:
            lease = await self.writer.call(claim_next, self.owner, self.timing.lease_seconds)
            if lease is None:
                return
            self._begin(lease)

    def _begin(self, lease: Lease) -> None:
        work = advance(
            lease.run_id,
            self.build_tools,
            lease=lease,
            writer=self.writer,
            timing=self.timing,
            engine=self.engine,
        )
        task = self._loop.create_task(work, name=f"advance {lease.public_id}")
        self._running.add(task)
        task.add_done_callback(partial(self._ended, lease))

    def _ended(self, lease: Lease, task: asyncio.Task[Outcome]) -> None:
        self._running.discard(task)
        self._woken.set()
        if not task.cancelled() and task.exception() is not None:
            log.error("run %s: left to its lease", lease.public_id, exc_info=task.exception())
