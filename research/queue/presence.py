"""Table of processes: each registers, sends heartbeats, and takes over from dead ones.

A process that another one of the same host knows to be dead loses its leases at once; elsewhere
they expire. Either way the epoch fence keeps out a process that was believed dead.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from datetime import datetime, timedelta

from django.db import Error as DatabaseError
from django.db import transaction
from django.db.models import QuerySet, Sum

from research.limits.database import delete_unused, free_places
from research.limits.limiter import holder_prefix
from research.models import Collection, Run, WorkerProcess
from research.queue.host_process import HostProcess
from research.runtime.program import REPLAY_VERSIONS
from research.worker import notify
from research.worker.background import Background
from research.worker.leases import database_now

log = logging.getLogger(__name__)

LOOK_SECONDS = 1.0
BEAT_SECONDS = 4.0
GONE_SECONDS = 20.0
"""A process without a heartbeat for this long is no longer listed."""


@dataclass(frozen=True)
class Registration:
    """A process's own entry in the table; `name` is the lease owner of its runs."""

    name: str
    queues: Sequence[str]
    slots: int
    process: HostProcess

    def write(self, *, is_draining: bool = False) -> datetime:
        """Insert or renew the row; return the time of this heartbeat."""
        now = database_now()
        columns = {
            **asdict(self.process),
            "queues": list(self.queues),
            "slots": self.slots,
            "replay_versions": sorted(REPLAY_VERSIONS),
            "is_draining": is_draining,
            "seen_at": now,
        }
        WorkerProcess.objects.update_or_create(name=self.name, defaults=columns)
        return now


class Presence(Background):
    """Keeps this process in the table of processes from `start` to `stop`."""

    subject = "processes"

    def __init__(self, registration: Registration) -> None:
        super().__init__(LOOK_SECONDS)
        self.registration = registration
        self.is_draining = False
        self._beats_at = 0.0

    async def prepare(self) -> None:
        await self.writer.call(self.registration.write)

    async def release(self) -> None:
        try:
            await self.writer.call(remove_process, self.registration.name)
        except DatabaseError:
            log.warning("this process could not be removed from the table of processes")

    async def look(self) -> None:
        """Look for dead processes every second, and send a heartbeat every few of them."""
        now = asyncio.get_running_loop().time()
        if now >= self._beats_at:
            self._beats_at = now + BEAT_SECONDS
            await self.writer.call(self._beat)
        await self.writer.call(take_over, self.registration.process)

    async def drain(self) -> None:
        """Show that this process takes no more work."""
        self.is_draining = True
        try:
            await self.writer.call(self._beat)
        except DatabaseError:
            log.warning("the table of processes cannot be reached", exc_info=True)

    def _beat(self) -> None:
        with transaction.atomic():
            now = self.registration.write(is_draining=self.is_draining)
            notify.tell_processes(notify.BEAT)
        # Apart: holding the own row while waiting for another's could end in a deadlock.
        gone = now - timedelta(seconds=GONE_SECONDS)
        WorkerProcess.objects.filter(seen_at__lt=gone).delete()
        delete_unused()


def take_over(ours: HostProcess) -> int:
    """End the leases of dead processes of this host; return how many were dead."""
    dead = [row for row in WorkerProcess.objects.all() if ours.knows_dead(_process_of(row))]
    for row in dead:
        _end_leases(row)
        free_places(holder_prefix(row.host, row.pid))
        log.warning("%s, process %d, has died: its runs go on elsewhere", row.host, row.pid)
    return len(dead)


def remove_process(name: str) -> None:
    WorkerProcess.objects.filter(name=name).delete()


def live_processes() -> QuerySet[WorkerProcess]:
    """Return the processes that sent a heartbeat recently."""
    since = database_now() - timedelta(seconds=GONE_SECONDS)
    return WorkerProcess.objects.filter(seen_at__gte=since)


def count_slots() -> int:
    """Return how many runs all live processes can execute at once."""
    slots = live_processes().filter(is_draining=False).aggregate(slots=Sum("slots"))["slots"]
    return slots or 0


def _process_of(row: WorkerProcess) -> HostProcess:
    return HostProcess(**{field.name: getattr(row, field.name) for field in fields(HostProcess)})


def _end_leases(row: WorkerProcess) -> None:
    """Let the leases expire now, so that the next claim counts a crash."""
    now = database_now()
    with transaction.atomic():
        for model in (Run, Collection):
            leased = model._default_manager.filter(lease_owner=row.name, lease_until__gt=now)
            leased.update(lease_until=now)
        row.delete()
        notify.wake_after_commit()
