"""Starts the runs of schedules when they are due, once per due date in all processes together."""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import datetime

from django.db import transaction

from research.engine.config import ResearchConfig
from research.engine.records import ENDED
from research.models import Occurrence, Run, Schedule
from research.models.runs import Priority
from research.schedules.due_dates import Rhythm
from research.services import runs
from research.services.errors import ServiceError
from research.worker.background import Background
from research.worker.leases import database_now

log = logging.getLogger(__name__)

LOOK_SECONDS = 5.0
AT_ONCE = 50
STILL_RUNNING = "The run before had not ended yet."
BROKEN = "The run could not be started; the server's log says more."
REASON = "Asked on schedule"


class Scheduler(Background):
    """Starts the runs of schedules on one of the processes that ask."""

    subject = "schedules"

    def __init__(
        self,
        *,
        look_seconds: float = LOOK_SECONDS,
        clock: Callable[[], datetime] = database_now,
    ) -> None:
        super().__init__(look_seconds)
        self.clock = clock

    async def look(self) -> None:
        await self.writer.call(start_due, self.clock)


def rhythm_of(schedule: Schedule) -> Rhythm:
    return Rhythm(schedule.cadence, schedule.at, schedule.time_zone, schedule.weekday, schedule.day)


def start_due(clock: Callable[[], datetime] = database_now) -> int:
    """Start the runs of the schedules that are due; return how many due dates were dealt with.

    Of due dates that passed while no process was running, only the last one counts.
    """
    now = clock()
    due = Schedule.objects.filter(paused=False, next_at__lte=now, owner__is_active=True)
    return sum(run_due(schedule, now) for schedule in due.order_by("next_at", "pk")[:AT_ONCE])


def run_due(schedule: Schedule, now: datetime) -> bool:
    """Ask a schedule's question for the due date; return False if another process has done so.

    The process that moves `next_at` on is the one that asks, in the same transaction.
    """
    rhythm = rhythm_of(schedule)
    dates = rhythm.between(schedule.next_at, now)
    with transaction.atomic():
        seen = Schedule.objects.filter(pk=schedule.pk, next_at=schedule.next_at, paused=False)
        if not seen.update(next_at=rhythm.after(now)):
            return False
        occurrence = Occurrence.objects.create(
            schedule=schedule, due_at=dates[-1], missed=len(dates) - 1
        )
        _ask(schedule, occurrence)
    return True


def _ask(schedule: Schedule, occurrence: Occurrence) -> None:
    """Start the run of an occurrence, or store why there is none."""
    started = Run.objects.filter(occurrence__schedule=schedule)
    if started.exclude(status__in=ENDED).exists():
        occurrence.skipped = STILL_RUNNING
    else:
        try:
            with transaction.atomic():
                occurrence.run = _start(schedule, occurrence)
        except ServiceError as error:
            occurrence.skipped = str(error)[:300]
        except ValueError:
            log.exception("schedule %s: its run could not be started", schedule.public_id)
            occurrence.skipped = BROKEN
    occurrence.save(update_fields=("run", "skipped"))


def _start(schedule: Schedule, occurrence: Occurrence) -> Run:
    """Start a run beside the earlier ones of the schedule, as another version of the question."""
    earlier = Run.objects.filter(occurrence__schedule=schedule, thread__deleted_at=None)
    return runs.ask_question(
        schedule.owner,
        schedule.question,
        agreed=True,
        config=ResearchConfig.model_validate(schedule.config),
        sources=schedule.sources,
        idempotency_key=f"schedule/{schedule.public_id}/{occurrence.due_at:%Y%m%dT%H%M%SZ}",
        priority=Priority.SCHEDULED,
        version_of=earlier.order_by("-pk").first(),
        reason=REASON,
    )
