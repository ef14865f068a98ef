"""The background work of one process, by queue."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from django.conf import settings

from research.documents.indexing import Indexer
from research.notifications.dispatcher import Dispatcher
from research.queue.admission import Caps
from research.queue.embedded import EmbeddedWorker
from research.queue.host_process import HostProcess
from research.queue.presence import Presence, Registration
from research.queue.workers import Together, Worker
from research.runtime import tool_factory
from research.schedules.scheduler import Scheduler
from research.worker.leases import new_owner
from research.worker.notify import Listener
from research.worker.retention import Retention


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
