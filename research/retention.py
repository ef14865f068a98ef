"""Deletes ended runs once they are older than the installation keeps them.

Each run goes in a transaction of its own, so that nobody waits long for the database. Any number
of processes may do this side by side: a run that another one deleted is no longer there.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from datetime import timedelta

from django.db import Error as DatabaseError
from django.utils import timezone

from research.engine.records import ENDED
from research.models import Run
from research.services import runs
from research.services.errors import ServiceError
from research.writer import Writer

log = logging.getLogger(__name__)

LOOK_SECONDS = 3_600.0
AT_ONCE = 50


class Retention:
    """Works from `start` to `stop`, beside a web server; `days` 0 keeps everything."""

    def __init__(self, days: int, *, look_seconds: float = LOOK_SECONDS) -> None:
        self.days = days
        self.look_seconds = look_seconds
        self.writer = Writer()
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        if self.days:
            self.writer.start()
            self._task = asyncio.get_running_loop().create_task(self._work(), name="retention")

    async def stop(self) -> None:
        if self._task is None:
            return
        self._task.cancel()
        await asyncio.wait([self._task])
        self._task = None
        await self.writer.stop()

    async def _work(self) -> None:
        while True:
            try:
                while await self.step():
                    pass
            except DatabaseError:
                log.warning("the database cannot be asked for old runs", exc_info=True)
            await asyncio.sleep(self.look_seconds)

    async def step(self) -> int:
        """Delete the oldest runs that are due; how many went."""
        due = await self.writer.call(too_old, self.days)
        gone = sum([await self.writer.call(delete, run) for run in due])
        if gone:
            log.info("older than KEEP_RUNS_DAYS (%d): %d runs deleted", self.days, gone)
        return gone


def too_old(days: int) -> Sequence[Run]:
    """The runs that ended before that many days, oldest first; some at a time."""
    then = timezone.now() - timedelta(days=days)
    old = Run.objects.filter(status__in=ENDED, finished_at__lt=then).select_related("owner")
    return list(old.only("public_id", "owner").order_by("finished_at", "pk")[:AT_ONCE])


def delete(run: Run) -> bool:
    """False where the run is needed a while longer, or is gone."""
    try:
        runs.delete(run.owner, run)
    except ServiceError as error:
        log.info("run %s is kept for now: %s", run.public_id, error)
        return False
    return True
