"""The embedded worker: advances runs beside a web server, in its process."""

from __future__ import annotations

import asyncio
import logging
from functools import partial

from django.db import Error as DatabaseError

from research import notify
from research.advancing import USUAL, BuildTools, Engine, Outcome, Timing, advance
from research.leases import Lease, claim_next, new_owner, release
from research.outages import Outages
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
        outages: Outages | None = None,
    ) -> None:
        self.build_tools = build_tools
        self.slots = slots
        self.timing = timing
        self.engine = engine
        self.outages = outages or Outages()
        self.owner = new_owner()
        self.writer = Writer()
        self._running: dict[asyncio.Task[Outcome], Lease] = {}
        self._polling: asyncio.Task[None] | None = None
        self._woken = asyncio.Event()
        self._stopping = asyncio.Event()

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
        self._stopping.set()
        self._woken.set()
        await self._polling
        self._polling = None
        running = list(self._running)
        for task in running:
            task.cancel()
        if running:
            await asyncio.wait(running, timeout=STOP_SECONDS)
        await self.writer.stop()

    def wake(self) -> None:
        """Look for work at once; may be called from any thread."""
        self._loop.call_soon_threadsafe(self._woken.set)

    async def _poll(self) -> None:
        failures = 0
        while not self._stopping.is_set():
            self._woken.clear()
            try:
                await self._fill()
                failures = 0
            except DatabaseError:
                failures += 1
                log.warning("the database cannot be asked for work", exc_info=True)
                await self._pause(failures)
            await wait_at_most(self._woken, self.timing.poll_seconds, clear=False)

    async def _pause(self, failures: int) -> None:
        """Claim nothing for a while, after so many failures in a row."""
        wait = self.outages.sleep(self.outages.seconds(failures))
        tasks = {asyncio.ensure_future(wait), asyncio.create_task(self._stopping.wait())}
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in tasks:
            task.cancel()

    async def _fill(self) -> None:
        while self._has_room():
            is_idle = not self._running
            claiming = partial(claim_next, is_idle=is_idle)
            lease = await self.writer.call(claiming, self.owner, self.timing.lease_seconds)
            if lease is None:
                return
            if lease.alone and not is_idle:
                await self.writer.call(release, lease)
                return
            self._begin(lease)

    def _has_room(self) -> bool:
        """Whether another run may be taken: none beside one that is to be alone, and none while
        what the runs need is not there.
        """
        closed = self._stopping.is_set() or self.outages.is_on
        alone = any(lease.alone for lease in self._running.values())
        return len(self._running) < self.slots and not closed and not alone

    def _begin(self, lease: Lease) -> None:
        work = advance(
            lease.run_id,
            self.build_tools,
            lease=lease,
            writer=self.writer,
            timing=self.timing,
            engine=self.engine,
            outages=self.outages,
        )
        task = self._loop.create_task(work, name=f"advance {lease.public_id}")
        self._running[task] = lease
        task.add_done_callback(partial(self._ended, lease))

    def _ended(self, lease: Lease, task: asyncio.Task[Outcome]) -> None:
        del self._running[task]
        self._woken.set()
        if not task.cancelled() and task.exception() is not None:
            log.error("run %s: left to its lease", lease.public_id, exc_info=task.exception())
