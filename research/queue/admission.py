"""Admission: whose run is executed next, and how many wait before one.

Interactive runs come before scheduled ones, then runs of whoever has the fewest at work, then by
`turn`. A new run's turn continues from its owner's last waiting one, or from the head of the
queue: so a person with 500 waiting runs delays another one by a single run.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.contrib.auth.base_user import AbstractBaseUser
from django.db import connection, transaction
from django.db.models import F, Max, Q, QuerySet
from django.utils import timezone

from research.engine.records import Status
from research.models import Run
from research.models.runs import Priority
from research.queue.presence import GONE_SECONDS, count_slots
from research.worker import notify
from research.worker.leases import (
    ACTED,
    CRASHES,
    FREE,
    LEASE_SECONDS,
    Lease,
    claim_run,
    database_now,
    in_sql,
    listed,
)
from research.worker.prepared import fetch_row

LOCK = int.from_bytes(b"admit", "big")
"""Key of the PostgreSQL advisory lock that serialises admissions."""

LOOKED_AT = 200
"""Runs at the head of the queue among which the next one is chosen."""

BEGUN = (Status.INTAKE.value, Status.RESEARCHING.value, Status.WRITING.value)
SHOWN = 20
"""Waiting runs whose pages are told when the queue moves."""

RESERVED = 4
"""One in so many places is reserved for interactive runs."""


@dataclass(frozen=True)
class Caps:
    """Most runs at work, of one person and of all processes together; 0 means no cap."""

    per_person: int = 0
    at_once: int = 0

    @classmethod
    def configured(cls) -> Caps:
        return cls(settings.RUNS_PER_PERSON, settings.RUNS_AT_ONCE)


NO_CAPS = Caps()


def claim_next(
    owner: str,
    seconds: float = LEASE_SECONDS,
    *,
    is_idle: bool = True,
    caps: Caps = NO_CAPS,
) -> Lease | None:
    """Lease and return the run whose turn it is, or None if none may start; looks before it locks.

    A run that must be executed alone waits until the process is idle, and others queue behind
    it, so that it is not starved.
    """
    now = database_now()
    if _ask(WAITS, now) is None:
        return None
    with transaction.atomic():
        _lock_admission()
        found = _ask(NEXT, now, caps)
        if found is None:
            return None
        run_id, crashes = found
        if crashes >= CRASHES and not is_idle:
            return None
        return claim_run(run_id, owner, seconds)


def _ask(statement: str, now: datetime, caps: Caps = NO_CAPS) -> tuple[Any, ...] | None:
    """Return the row that a statement finds, if any."""
    seen = now - timedelta(seconds=GONE_SECONDS)
    values = {
        "now": in_sql(now),
        "seen": in_sql(seen),
        "looked_at": LOOKED_AT,
        "per_person": caps.per_person,
        "at_once": caps.at_once,
    }
    return fetch_row(statement, values)


_COLUMNS = "run.id, run.priority, run.owner_id, run.turn, run.crashes"
_QUEUED = f"FROM research_run AS run WHERE run.status = 'queued' AND {FREE}"
_BEGUN = f"FROM research_run AS run WHERE run.status IN ({listed(BEGUN)}) AND {FREE}"
_WOKEN = f"""FROM research_command AS command JOIN research_run AS run ON run.id = command.run_id
    WHERE command.taken_at_place IS NULL AND {FREE} AND ({ACTED})"""

_IN_TURN = "ORDER BY run.priority, run.turn, run.id"

WAITS = f"""
SELECT 1 WHERE (SELECT run.id {_QUEUED} {_IN_TURN} LIMIT 1) IS NOT NULL
    OR EXISTS (SELECT 1 {_BEGUN}) OR EXISTS (SELECT 1 {_WOKEN})
"""
"""Whether any run waits for a worker; the order leads PostgreSQL to the index of what is queued,
past runs that have ended.
"""

NEXT = f"""
WITH held AS MATERIALIZED (
    SELECT owner_id, priority, lease_until FROM research_run WHERE lease_until IS NOT NULL
), leased AS (
    SELECT owner_id, priority FROM held WHERE lease_until >= %(now)s
), busy AS (
    SELECT owner_id, count(*) AS runs FROM leased GROUP BY owner_id
), waiting AS (
    SELECT * FROM (
        SELECT {_COLUMNS}, 1 AS is_new {_QUEUED}
            AND (%(per_person)s = 0 OR run.owner_id NOT IN (
                SELECT owner_id FROM busy WHERE runs >= %(per_person)s))
        {_IN_TURN} LIMIT %(looked_at)s
    ) AS head
    UNION ALL SELECT {_COLUMNS}, 0 {_BEGUN}
    UNION ALL SELECT {_COLUMNS}, 1 {_WOKEN}
), places AS MATERIALIZED (
    SELECT CASE WHEN %(at_once)s > 0 THEN %(at_once)s ELSE coalesce((
        SELECT sum(slots) FROM research_workerprocess WHERE NOT is_draining AND seen_at >= %(seen)s
    ), 0) END AS number
)
SELECT waiting.id, waiting.crashes
FROM waiting LEFT JOIN busy ON busy.owner_id = waiting.owner_id
WHERE (%(at_once)s = 0 OR (SELECT count(*) FROM leased) < %(at_once)s)
    AND (%(per_person)s = 0 OR coalesce(busy.runs, 0) < %(per_person)s)
    AND (waiting.priority = {Priority.INTERACTIVE.value} OR (
        SELECT number = 0 OR number - number / {RESERVED} > (
            SELECT count(*) FROM leased WHERE priority = {Priority.SCHEDULED.value})
        FROM places))
ORDER BY waiting.priority, is_new, coalesce(busy.runs, 0), waiting.turn, waiting.id LIMIT 1
"""
"""Id and crashes of the run whose turn it is: of those begun and interrupted, those whose owner
has acted, and the head of the queue. One statement, since every process asks it again and again.
"""


def _lock_admission() -> None:
    """Let one process admit at a time, until the transaction ends; SQLite has one writer anyway."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [LOCK])


# --- places in the queue -------------------------------------------------------------------


@dataclass(frozen=True)
class Place:
    """A waiting run's place, counted from 1, of all that wait, and whether any process works."""

    position: int
    waiting: int
    has_worker: bool


def queued_runs() -> QuerySet[Run]:
    return Run.objects.filter(status=Status.QUEUED.value)


def next_turn(owner: AbstractBaseUser, priority: int = Priority.INTERACTIVE) -> int:
    """Return the turn of a new run: after its owner's last waiting run, else now."""
    queued = queued_runs().filter(priority=priority)
    head = queued.order_by("turn").values_list("turn", flat=True).first() or 0
    last = queued.filter(owner_id=owner.pk).aggregate(last=Max("turn"))["last"]
    return head if last is None else max(head, last + 1)


def announce_places() -> None:
    """Let the pages of the next runs show that they have moved up."""
    first = queued_runs().filter(lease_until=None).order_by("priority", "turn", "pk")
    moved = Run.objects.filter(pk__in=first.values("pk")[:SHOWN])
    if moved.update(sequence=F("sequence") + 1):
        for public_id, sequence in moved.values_list("public_id", "sequence"):
            notify.after_commit(public_id, sequence)


def place_of(run: Run) -> Place | None:
    """Return a run's place in the queue; None if it doesn't wait for a worker."""
    if run.status != Status.QUEUED or run.lease_until is not None:
        return None
    before = Q(priority__lt=run.priority) | Q(priority=run.priority, turn__lt=run.turn)
    before |= Q(priority=run.priority, turn=run.turn, pk__lt=run.pk)
    waiting = queued_runs().filter(lease_until=None)
    return Place(waiting.filter(before).count() + 1, waiting.count(), bool(count_slots()))


RECENT = timedelta(hours=1)
PACE_UNKNOWN_SECONDS = 60.0
"""Assumed time from one start to the next while no run has ended recently."""


def next_free_place(starts: int) -> datetime:
    """Return when so many runs will have started, at the pace of the last hour; rounded up."""
    now = timezone.now()
    ended = Run.objects.filter(finished_at__gte=now - RECENT).count()
    pace = RECENT.total_seconds() / ended if ended else PACE_UNKNOWN_SECONDS
    due = now + timedelta(seconds=max(60.0, starts * pace))
    return due.replace(second=0, microsecond=0) + timedelta(minutes=1)
