"""Retention: deletes ended runs that are older than `KEEP_RUNS_DAYS`, and purges deleted threads.

One transaction per run keeps locks short. Several processes may do this concurrently: a run that
another one has deleted is skipped.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from datetime import timedelta

from django.utils import timezone

from research.engine.records import ENDED
from research.models import Run
from research.services import deleting, history
from research.services.errors import ServiceError
from research.worker.background import Background

log = logging.getLogger(__name__)

LOOK_SECONDS = 3_600.0
AT_ONCE = 50


class Retention(Background):
    """Deletes what is too old, once an hour; `days` 0 keeps runs of any age."""

    subject = "old runs"

    def __init__(self, days: int, *, look_seconds: float = LOOK_SECONDS) -> None:
        super().__init__(look_seconds)
        self.days = days

    async def look(self) -> None:
        while await self.step():
            pass

    async def step(self) -> int:
        """Delete the oldest runs that are due; return how many were deleted."""
        await self.writer.call(history.purge_deleted, timezone.now())
        if not self.days:
            return 0
        due = await self.writer.call(too_old, self.days)
        gone = sum([await self.writer.call(delete_if_due, run) for run in due])
        if gone:
            log.info("older than KEEP_RUNS_DAYS (%d): %d runs deleted", self.days, gone)
        return gone


def too_old(days: int) -> Sequence[Run]:
    """Return runs that ended more than `days` ago, oldest first, at most `AT_ONCE`."""
    then = timezone.now() - timedelta(days=days)
    old = Run.objects.filter(status__in=ENDED, finished_at__lt=then).select_related("owner")
    return list(old.only("public_id", "owner").order_by("finished_at", "pk")[:AT_ONCE])


def delete_if_due(run: Run) -> bool:
    """Delete a run; return False if it is still needed or already deleted."""
    try:
        deleting.delete_run(run.owner, run)
    except ServiceError as error:
        log.info("run %s is kept for now: %s", run.public_id, error)
        return False
    return True
