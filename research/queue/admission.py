"""Admission: whose run is executed next, and how many wait before one.

Interactive runs come before scheduled ones, then runs of whoever has the fewest at work, then by
`turn`. A new run's turn continues from its owner's last waiting one, or from the head of the
queue: so a person with 500 waiting runs delays another one by a single run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime

from django.conf import settings
from django.contrib.auth.base_user import AbstractBaseUser
from django.db import connection, transaction
from django.db.models import F, Max, Q, QuerySet

from research.engine.records import Status
from research.models import Command, Run
from research.models.runs import Priority
from research.queue.presence import count_slots
from research.worker import notify
from research.worker.commands import WAKES
from research.worker.leases import CRASHES, LEASE_SECONDS, Lease, claim_run, database_now, free_runs

LOCK = int.from_bytes(b"admit", "big")
"""Key of the PostgreSQL advisory lock that serialises admissions."""

LOOKED_AT = 200
"""Runs at the head of the queue among which the next one is chosen."""

BEGUN = (Status.INTAKE.value, Status.RESEARCHING.value, Status.WRITING.value)
SHOWN = 20
"""Waiting runs whose pages are told when the queue moves."""

RESERVED = 4
"""One in so many places is reserved for interactive runs."""

COLUMNS = ("priority", "owner_id", "turn", "pk", "crashes")


@dataclass(frozen=True)
class Caps:
    """Most runs at work, of one person and of all processes together; 0 means no cap."""

    per_person: int = 0
    at_once: int = 0

    @classmethod
    def configured(cls) -> Caps:
        return cls(settings.RUNS_PER_PERSON, settings.RUNS_AT_ONCE)


NO_CAPS = Caps()


@dataclass(frozen=True)
class Candidate:
    """A run that could be claimed; `begun` ones were at work before."""

    priority: int
    owner_id: int
    turn: int
    pk: int
    crashes: int
    begun: bool


@dataclass
class AtWork:
    """Runs that workers have, counted by person and by class."""

    by_person: Counter[int] = field(default_factory=Counter)
    scheduled: int = 0

    @classmethod
    def count(cls, now: datetime) -> AtWork:
        found = cls()
        leased = Run.objects.filter(lease_until__gte=now).values_list("owner_id", "priority")
        for owner_id, priority in leased:
            found.by_person[owner_id] += 1
            found.scheduled += priority == Priority.SCHEDULED
        return found

    def capped(self, caps: Caps) -> set[int]:
        """Return the people of whom no further run may start."""
        if not caps.per_person:
            return set()
        return {owner for owner, number in self.by_person.items() if number >= caps.per_person}

    def is_full(self, caps: Caps) -> bool:
        return bool(caps.at_once) and self.by_person.total() >= caps.at_once

    def allows_scheduled(self, caps: Caps) -> bool:
        """Return whether a scheduled run may start: some places are kept for interactive ones."""
        places = caps.at_once or count_slots()
        return not places or self.scheduled < places - places // RESERVED

    def allows(self, candidate: Candidate, caps: Caps) -> bool:
        if self.is_full(caps) or candidate.owner_id in self.capped(caps):
            return False
        return candidate.priority != Priority.SCHEDULED or self.allows_scheduled(caps)


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
    candidates = waiting_runs(database_now(), caps)
    if not candidates:
        return None
    with transaction.atomic():
        _lock_admission()
        at_work = AtWork.count(database_now())
        for candidate in candidates:
            if candidate.crashes >= CRASHES and not is_idle:
                return None
            if not at_work.allows(candidate, caps):
                continue
            lease = claim_run(candidate.pk, owner, seconds)
            if lease is not None:
                if not candidate.begun:
                    announce_places()
                return lease
    return None


def waiting_runs(now: datetime, caps: Caps = NO_CAPS) -> list[Candidate]:
    """Return the runs that may start now, the next one first."""
    at_work = AtWork.count(now)
    if at_work.is_full(caps):
        return []
    capped = at_work.capped(caps)
    found = [each for each in _candidates(now, capped) if each.owner_id not in capped]
    if any(each.priority == Priority.SCHEDULED for each in found):
        all_start = at_work.allows_scheduled(caps)
        found = [each for each in found if all_start or each.priority != Priority.SCHEDULED]
    return sorted(found, key=_rank(at_work))


def _candidates(now: datetime, capped: set[int]) -> Iterator[Candidate]:
    """Yield runs that were interrupted, runs whose owner has acted, and the head of the queue."""
    free = free_runs(now)
    for row in free.filter(status__in=BEGUN).values_list(*COLUMNS):
        yield Candidate(*row, begun=True)
    queued = free.filter(status=Status.QUEUED.value).exclude(owner_id__in=capped)
    ordered = queued.order_by("priority", "turn", "pk")
    for row in (*_woken(free), *ordered.values_list(*COLUMNS)[:LOOKED_AT]):
        yield Candidate(*row, begun=False)


def _woken(free: QuerySet[Run]) -> Iterator[tuple[int, int, int, int, int]]:
    """Yield the waiting runs to which a command was given; begins at the few commands."""
    untaken = Command.objects.filter(taken_at_place__isnull=True)
    acted = Q()
    for status, kinds in WAKES.items():
        acted |= Q(run__status=status.value, kind__in=sorted(kinds))
    keys = set(untaken.filter(acted).order_by().values_list("run_id", flat=True))
    if keys:
        yield from free.filter(pk__in=keys).values_list(*COLUMNS)


def _rank(at_work: AtWork) -> Callable[[Candidate], tuple[int, ...]]:
    def rank(each: Candidate) -> tuple[int, ...]:
        busy = at_work.by_person[each.owner_id]
        return (each.priority, not each.begun, busy, each.turn, each.pk)

    return rank


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
