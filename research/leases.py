"""Which worker has a run: taken, kept and given back by conditional updates.

A lease is a row's owner, the time until which it holds, and an epoch. Every claim raises
the epoch; whoever still writes with an older one is refused (`hold`), so a worker that was
thought dead and comes back can do no harm. No lock is held between transactions.
"""

from __future__ import annotations

import os
import socket
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import connection, transaction
from django.db.models import (
    Case,
    Count,
    Exists,
    F,
    OuterRef,
    PositiveSmallIntegerField,
    Q,
    QuerySet,
    Subquery,
    When,
)
from django.db.models.functions import Coalesce
from django.db.models.lookups import GreaterThan
from django.utils import timezone
from django.utils.crypto import get_random_string

from research.commands import WAKES, WORKING
from research.models import Command, JournalEntry, Run

LEASE_SECONDS = 15.0
CRASHES = 3
"""Deaths without progress after which a run is worked on alone; one more stalls it."""


class LeaseLost(Exception):
    """Another worker has the run, or it is gone; nothing was written."""

    def __init__(self, run_id: int) -> None:
        super().__init__(f"run {run_id} is no longer ours")
        self.run_id = run_id


@dataclass(frozen=True)
class Lease:
    """The right to write a run's engine rows while `epoch` is the run's.

    `crashes`: how many workers died in a row of this run, without any progress.
    """

    run_id: int
    public_id: str
    epoch: int
    owner: str
    crashes: int = 0

    @property
    def alone(self) -> bool:
        """Whether the process is to work on nothing else meanwhile."""
        return self.crashes >= CRASHES


def new_owner() -> str:
    """A name for one process: host, process id and chance."""
    return f"{socket.gethostname()[:60]}:{os.getpid()}:{get_random_string(8)}"


def database_now() -> datetime:
    """The clock that leases go by: the server's, where workers are on many machines."""
    if connection.vendor != "postgresql":
        return timezone.now()
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        now: datetime = cursor.fetchone()[0]
    return now


def claimable(now: datetime) -> QuerySet[Run]:
    """Runs that no worker holds and that do not wait for a person."""
    ready = Q(status__in=sorted(WORKING))
    for status, kinds in WAKES.items():
        untaken = Command.objects.filter(
            run=OuterRef("pk"), taken_at_place__isnull=True, kind__in=sorted(kinds)
        )
        ready |= Q(status=status.value) & Q(Exists(untaken))
    return Run.objects.filter(ready).filter(Q(lease_until=None) | Q(lease_until__lt=now))


def claim(run_id: int, owner: str, seconds: float = LEASE_SECONDS) -> Lease | None:
    """None where the run is held, waits for a person, has ended or is gone.

    A lease that ran out was never given back: its worker died, and that is counted, unless the
    journal has more settled entries than when the run was last claimed.
    """
    settled = JournalEntry.objects.filter(run=OuterRef("pk")).exclude(status="pending")
    entries = settled.order_by().values("run")
    grown = Coalesce(Subquery(entries.annotate(number=Count("pk")).values("number")), 0)
    with transaction.atomic():
        now = database_now()
        taken = (
            claimable(now)
            .filter(pk=run_id)
            .update(
                lease_owner=owner,
                lease_until=now + timedelta(seconds=seconds),
                lease_epoch=F("lease_epoch") + 1,
                crashes=Case(
                    When(GreaterThan(grown, F("entries_at_claim")), then=0),
                    When(lease_until__isnull=False, then=F("crashes") + 1),
                    default=F("crashes"),
                    output_field=PositiveSmallIntegerField(),
                ),
                entries_at_claim=grown,
                started_at=Coalesce("started_at", now),
            )
        )
        return lease_of(run_id) if taken else None


def claim_next(owner: str, seconds: float = LEASE_SECONDS, *, is_idle: bool = True) -> Lease | None:
    """The oldest claimable run, or None; reads before it locks.

    A run that has to be worked on alone waits until the process is idle, and others wait behind
    it, so that its turn comes.
    """
    waiting = claimable(database_now()).order_by("created_at", "pk")
    for run_id, crashes in waiting.values_list("pk", "crashes")[:10]:
        if crashes >= CRASHES and not is_idle:
            return None
        lease = claim(run_id, owner, seconds)
        if lease is not None:
            return lease
    return None


def lease_of(run_id: int) -> Lease:
    """The lease that the run's row names: for whoever has just made or claimed it."""
    columns = ("public_id", "lease_epoch", "lease_owner", "crashes")
    return Lease(run_id, *Run.objects.values_list(*columns).get(pk=run_id))


def hold(lease: Lease, **columns: Any) -> None:
    """Fence a transaction: lock the run's row while the epoch is ours, and set `columns`.

    Raises `LeaseLost`. Call it first in the transaction.
    """
    ours = Run.objects.filter(pk=lease.run_id, lease_epoch=lease.epoch)
    if not ours.update(**(columns or {"lease_epoch": lease.epoch})):
        raise LeaseLost(lease.run_id)


def renew(lease: Lease, seconds: float = LEASE_SECONDS) -> None:
    """Raises `LeaseLost`."""
    hold(lease, lease_until=database_now() + timedelta(seconds=seconds))


def release(lease: Lease) -> None:
    """Give the run back, so that it can be claimed at once. Raises `LeaseLost`.

    The epoch is raised too: nothing more is written under this lease.
    """
    hold(lease, lease_owner="", lease_until=None, lease_epoch=F("lease_epoch") + 1)


def regain(lease: Lease, seconds: float = LEASE_SECONDS) -> Lease | None:
    """The run again, for the same worker after an outage in which no lease could be renewed.

    None where another has it by now; the death that was counted then was none.
    """
    until = database_now() + timedelta(seconds=seconds)
    with transaction.atomic():
        run = Run.objects.filter(pk=lease.run_id)
        ours = run.filter(lease_epoch=lease.epoch)
        if ours.update(lease_until=until, lease_epoch=F("lease_epoch") + 1):
            return lease_of(lease.run_id)
        run.filter(lease_epoch=lease.epoch + 1, crashes__gt=0).update(crashes=F("crashes") - 1)
        return None


def is_held(run: Run) -> bool:
    """Whether some worker has the run at this moment."""
    return run.lease_until is not None and run.lease_until >= database_now()


def abandon(lease: Lease) -> None:
    """Let the lease run out now: whoever claims the run next counts a crash."""
    hold(lease, lease_until=database_now())
