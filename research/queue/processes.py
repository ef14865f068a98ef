"""The background work of one process, by queue; it executes runs on the loop that starts it."""

from __future__ import annotations

import asyncio
import logging
import signal
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial

from django.conf import settings
from django.db import Error as DatabaseError

from research.documents.indexing import Indexer
from research.notifications.dispatcher import Dispatcher
from research.queue.admission import NO_CAPS, Caps, announce_places, claim_next
from research.queue.host_process import HostProcess
from research.queue.presence import Presence, Registration
from research.queue.workers import Together, Worker
from research.runtime import tool_factory
from research.runtime.outages import Outages
from research.schedules.scheduler import Scheduler
from research.worker import notify
from research.worker.journal_store import CallGate
from research.worker.leases import Lease, new_owner, release_lease
from research.worker.notify import Listener, wait_at_most
from research.worker.retention import Retention
from research.worker.run_executor import USUAL, BuildTools, Engine, Outcome, Timing, advance_run
from research.worker.writer import Writer


@dataclass(frozen=True)
class Registered:
    """Workers of a registered process: it leaves the table once they have stopped."""

    presence: Presence
    workers: Together

    async def start(self) -> None:
        await self.presence.start()
        await self.workers.start()

    async def stop(self) -> None:
        await self.presence.drain()
        await self.workers.stop()
        await self.presence.stop()


def make_workers(queues: Sequence[str], slots: int, drain_seconds: float = 0.0) -> Registered:
    """Return the workers of these queues, with the installation's settings."""
    owner = new_owner()
    makers: dict[str, Callable[[], Worker]] = {
        "research": lambda: EmbeddedWorker(
            tool_factory.build_tools,
            slots,
            owner=owner,
            caps=Caps.configured(),
            drain_seconds=drain_seconds,
        ),
        "indexing": lambda: Indexer(tool_factory.index_and_pool, owner=owner),
        "retention": lambda: Retention(settings.KEEP_RUNS_DAYS),
        "deliveries": Dispatcher,
        "schedules": Scheduler,
    }
    own_slots = slots if "research" in queues else 0
    registration = Registration(owner, list(queues), own_slots, HostProcess.current())
    return Registered(
        Presence(registration), Together([Listener(), *(makers[queue]() for queue in queues)])
    )


async def work_until_stopped(worker: Worker, close: Callable[[], Awaitable[None]]) -> None:
    """Work until SIGTERM or SIGINT, then drain; a second signal ends the process at once."""
    loop = asyncio.get_running_loop()
    stopped = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopped.set)
    await worker.start()
    await stopped.wait()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.remove_signal_handler(number)
        signal.signal(number, signal.SIG_DFL)
    await worker.stop()
    await close()


log = logging.getLogger(__name__)

STOP_SECONDS = 0.9


class EmbeddedWorker:
    """Claims and executes up to `slots` runs at once.

    Told to stop, it starts no further call, lets those under way finish within `drain_seconds`, and
    gives its runs back.
    """

    def __init__(
        self,
        build_tools: BuildTools,
        slots: int = 2,
        *,
        timing: Timing = USUAL,
        engine: Engine | None = None,
        outages: Outages | None = None,
        owner: str = "",
        caps: Caps = NO_CAPS,
        drain_seconds: float = 0.0,
    ) -> None:
        self.build_tools = build_tools
        self.slots = slots
        self.timing = timing
        self.engine = engine
        self.outages = outages or Outages()
        self.owner = owner or new_owner()
        self.caps = caps
        self.drain_seconds = drain_seconds
        self.gate = CallGate()
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
        """Drain, release all runs and stop, within a second unless a tool resists cancellation."""
        if self._polling is None:
            return
        notify.on_wake.remove(self.wake)
        self._stopping.set()
        self._woken.set()
        self.gate.shut()
        await self._polling
        self._polling = None
        await self.gate.drain(self.drain_seconds if self._running else 0.0)
        running = list(self._running)
        for task in running:
            task.cancel()
        if running:
            await asyncio.wait(running, timeout=STOP_SECONDS)
        await self.writer.stop()

    def wake(self) -> None:
        """Look for work immediately; thread-safe."""
        self._loop.call_soon_threadsafe(self._woken.set)

    async def _poll(self) -> None:
        failures = 0
        while not self._stopping.is_set():
            self._woken.clear()
            try:
                await self._claim_runs()
                failures = 0
            except DatabaseError:
                failures += 1
                log.warning("the database cannot be queried for work", exc_info=True)
                await self._pause_after_failures(failures)
            await wait_at_most(self._woken, notify.patience(self.timing.poll_seconds), clear=False)

    async def _pause_after_failures(self, failures: int) -> None:
        """Claim nothing for a while after consecutive failures (backoff)."""
        wait = self.outages.sleep(self.outages.seconds(failures))
        tasks = {asyncio.ensure_future(wait), asyncio.create_task(self._stopping.wait())}
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in tasks:
            task.cancel()

    async def _claim_runs(self) -> None:
        has_moved = False
        while self._has_room() and await self._claim_run():
            has_moved = True
        if has_moved:
            await self.writer.call(announce_places)

    async def _claim_run(self) -> bool:
        """Begin the run whose turn it is; return False if none may start."""
        is_idle = not self._running
        claiming = partial(claim_next, is_idle=is_idle, caps=self.caps)
        lease = await self.writer.call(claiming, self.owner, self.timing.lease_seconds)
        if lease is None:
            return False
        # the claim itself counted the crash that makes it exclusive: wait until we are idle
        if lease.alone and not is_idle:
            await self.writer.call(release_lease, lease)
            return False
        self._begin(lease)
        return True

    def _has_room(self) -> bool:
        """Return whether another run may be claimed: not during an outage (backpressure), and not
        while a run must be executed alone.
        """
        closed = self._stopping.is_set() or self.outages.is_on
        alone = any(lease.alone for lease in self._running.values())
        return len(self._running) < self.slots and not closed and not alone

    def _begin(self, lease: Lease) -> None:
        work = advance_run(
            lease.run_id,
            self.build_tools,
            lease=lease,
            writer=self.writer,
            timing=self.timing,
            engine=self.engine,
            outages=self.outages,
            gate=self.gate,
        )
        task = self._loop.create_task(work, name=f"advance {lease.public_id}")
        self._running[task] = lease
        task.add_done_callback(partial(self._ended, lease))

    def _ended(self, lease: Lease, task: asyncio.Task[Outcome]) -> None:
        del self._running[task]
        self._woken.set()
        if not task.cancelled() and task.exception() is not None:
            log.error(
                "run %s: abandoned until its lease expires",
                lease.public_id,
                exc_info=task.exception(),
            )
