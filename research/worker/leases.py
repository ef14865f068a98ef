"""Leases of runs: which worker executes a run, decided by conditional updates.

A lease consists of an owner, an expiry time and an epoch in the run's row. Each claim increments
the epoch, and writes with an older one are rejected (epoch fence, `assert_lease`), so a worker
that was believed dead can do no harm when it returns. No lock outlives a transaction.
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

from research.errors import PlumblineError
from research.models import Command, JournalEntry, Run
from research.runtime.versions import REPLAY_VERSIONS
from research.worker.commands import WAKES, WORKING

LEASE_SECONDS = 15.0
CRASHES = 3
"""Worker deaths without progress after which a run is executed alone; one more stalls it."""


class LeaseLost(PlumblineError):
    """Another worker has the run, or it was deleted; nothing was written."""

    def __init__(self, run_id: int) -> None:
        super().__init__(f"run {run_id} is no longer ours")
        self.run_id = run_id


@dataclass(frozen=True)
class Lease:
    """The right to write a run's engine rows, as long as `epoch` equals the run's.

    `crashes` counts the workers that died in a row with this run, without any progress.
    """

    run_id: int
    public_id: str
    epoch: int
    owner: str
    crashes: int = 0

    @property
    def alone(self) -> bool:
        """Return whether the process must not execute other runs at the same time."""
        return self.crashes >= CRASHES


def new_owner() -> str:
    """Return a unique name for this process: host, process id and random characters."""
    return f"{socket.gethostname()[:60]}:{os.getpid()}:{get_random_string(8)}"


def database_now() -> datetime:
    """Return the time that leases are measured by: the server's on PostgreSQL, else ours."""
    if connection.vendor != "postgresql":
        return timezone.now()
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        now: datetime = cursor.fetchone()[0]
    return now


def free_runs(now: datetime) -> QuerySet[Run]:
    """Return the runs that no worker has and whose journal this code can continue."""
    free = Q(lease_until=None) | Q(lease_until__lt=now)
    return Run.objects.filter(free, engine_version__in=sorted(REPLAY_VERSIONS))


def claimable_runs(now: datetime) -> QuerySet[Run]:
    """Return the free runs that don't wait for a user."""
    ready = Q(status__in=sorted(WORKING))
    for status, kinds in WAKES.items():
        untaken = Command.objects.filter(
            run=OuterRef("pk"), taken_at_place__isnull=True, kind__in=sorted(kinds)
        )
        ready |= Q(status=status.value) & Q(Exists(untaken))
    return free_runs(now).filter(ready)


def claim_run(run_id: int, owner: str, seconds: float = LEASE_SECONDS) -> Lease | None:
    """Lease a run; return None if it is leased, waits for a user, has ended or was deleted.

    An expired lease means that its worker died. That counts as a crash, unless the journal has
    more settled entries than at the last claim.
    """
    settled = JournalEntry.objects.filter(run=OuterRef("pk")).exclude(status="pending")
    entries = settled.order_by().values("run")
    grown = Coalesce(Subquery(entries.annotate(number=Count("pk")).values("number")), 0)
    with transaction.atomic(savepoint=False):
        now = database_now()
        taken = (
            claimable_runs(now)
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


def lease_of(run_id: int) -> Lease:
    """Return the lease in the run's row, right after creating or claiming it."""
    columns = ("public_id", "lease_epoch", "lease_owner", "crashes")
    return Lease(run_id, *Run.objects.values_list(*columns).get(pk=run_id))


def assert_lease(lease: Lease, **columns: Any) -> None:
    """Fence a transaction: lock the run's row if the epoch is current, and set `columns`.

    Raise `LeaseLost`. Must be the first statement of the transaction.
    """
    ours = Run.objects.filter(pk=lease.run_id, lease_epoch=lease.epoch)
    if not ours.update(**(columns or {"lease_epoch": lease.epoch})):
        raise LeaseLost(lease.run_id)


def renew_lease(lease: Lease, seconds: float = LEASE_SECONDS) -> None:
    """Extend the lease; raise `LeaseLost`."""
    assert_lease(lease, lease_until=database_now() + timedelta(seconds=seconds))


def release_lease(lease: Lease) -> None:
    """Release the run, so that it can be claimed at once; raise `LeaseLost`.

    The epoch is incremented too, so nothing more can be written under this lease.
    """
    assert_lease(lease, lease_owner="", lease_until=None, lease_epoch=F("lease_epoch") + 1)


def regain_lease(lease: Lease, seconds: float = LEASE_SECONDS) -> Lease | None:
    """Claim the run again for the same worker after an outage in which its lease expired.

    Return None if another worker has it by now; the crash counted then is taken back.
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
    """Return whether a worker currently has the run."""
    return run.lease_until is not None and run.lease_until >= database_now()


def abandon_lease(lease: Lease) -> None:
    """Let the lease expire now, so that the next claim counts a crash."""
    assert_lease(lease, lease_until=database_now())
