"""Refusal of further questions while the queue is full."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.conf import settings
from django.contrib.auth.base_user import AbstractBaseUser
from django.utils import timezone

from research.models import Run
from research.queue.admission import queued_runs
from research.services.errors import ServiceError

RECENT = timedelta(hours=1)
PACE_UNKNOWN_SECONDS = 60.0
"""Assumed time from one start to the next while no run has ended recently."""

FULL = (
    "The queue is full: {waiting:,} questions wait, {own:,} of them yours. Please ask again after "
    "{when:%-d %B, %H:%M}, or cancel one that waits."
)


def refuse_when_full(owner: AbstractBaseUser) -> None:
    """Raise `ServiceError` with a date if the queue is full and the owner has their share of it."""
    limit = settings.QUEUE_LIMIT
    queued = queued_runs()
    waiting = queued.count() if limit else 0
    if not limit or waiting < limit:
        return
    people = queued.order_by().values("owner").distinct().count()
    own = queued.filter(owner_id=owner.pk).count()
    surplus = own - limit // max(people, 1)
    if own and surplus >= 0:
        when = timezone.localtime(next_free_place(waiting - limit + 1))
        raise ServiceError(FULL.format(waiting=waiting, own=own, when=when))


def next_free_place(starts: int) -> datetime:
    """Return when so many runs will have started, at the pace of the last hour; rounded up."""
    now = timezone.now()
    ended = Run.objects.filter(finished_at__gte=now - RECENT).count()
    pace = RECENT.total_seconds() / ended if ended else PACE_UNKNOWN_SECONDS
    due = now + timedelta(seconds=max(60.0, starts * pace))
    return due.replace(second=0, microsecond=0) + timedelta(minutes=1)
