"""Leases of runs: which worker executes a run, decided by conditional updates.

A lease consists of an owner, an expiry time and an epoch in the run's row. Each claim increments
the epoch, and writes with an older one are rejected (epoch fence, `assert_lease`), so a worker
that was believed dead can do no harm when it returns. No lock outlives a transaction.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import connection, transaction
from django.db.models import F, QuerySet
from django.db.models.expressions import RawSQL
from django.utils import timezone
from django.utils.crypto import get_random_string

from research.errors import PlumblineError
from research.models import Run
from research.runtime.program import REPLAY_VERSIONS
from research.worker import notify
from research.worker.commands import WAKES, WORKING
from research.worker.prepared import fetch_row

LEASE_SECONDS = 15.0
CRASHES = 3
"""Worker deaths without progress after which a run is executed alone; one more stalls it."""


class LeaseLostError(PlumblineError):
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


def listed(values: Iterable[str]) -> str:
    """Return constants as a list in SQL."""
    return ", ".join(f"'{value}'" for value in sorted(values))


FREE = f"""(run.lease_until IS NULL OR run.lease_until < %(now)s)
    AND run.engine_version IN ({listed(REPLAY_VERSIONS)})"""
"""In SQL, of `run`: no worker has it, and this code can continue its journal."""

_WAKING = [f"{status} {kind}" for status, kinds in WAKES.items() for kind in kinds]
ACTED = f"run.status || ' ' || command.kind IN ({listed(_WAKING)})"
"""In SQL, of `run` and `command`: the command makes the run go on. PostgreSQL plans this one
comparison in a fraction of the time that it takes for a disjunction over both tables.
"""

CLAIMABLE = f"""{FREE} AND (run.status IN ({listed(WORKING)}) OR EXISTS (
    SELECT 1 FROM research_command AS command
    WHERE command.run_id = run.id AND command.taken_at_place IS NULL AND ({ACTED})))"""
"""In SQL, of `run`: it is free and doesn't wait for a user."""

CLAIM = f"""
UPDATE research_run AS run SET
    lease_owner = %(owner)s,
    lease_until = %(until)s,
    lease_epoch = lease_epoch + 1,
    crashes = CASE
        WHEN settled.number > entries_at_claim THEN 0
        WHEN lease_until IS NOT NULL THEN crashes + 1
        ELSE crashes END,
    entries_at_claim = settled.number,
    started_at = coalesce(started_at, %(now)s)
FROM (
    SELECT count(*) AS number FROM research_journalentry
    WHERE run_id = %(run)s AND status <> 'pending'
) AS settled
WHERE run.id = %(run)s AND {CLAIMABLE}
RETURNING id, public_id, lease_epoch, lease_owner, crashes
"""


def claimable_runs(now: datetime) -> QuerySet[Run]:
    """Return the free runs that don't wait for a user."""
    found = f"SELECT run.id FROM research_run AS run WHERE {CLAIMABLE}" % {"now": "%s"}
    return Run.objects.filter(pk__in=RawSQL(found, [in_sql(now)]))


def in_sql(moment: datetime) -> Any:
    """Return a moment as a parameter of a statement in SQL."""
    return connection.ops.adapt_datetimefield_value(moment)


def claim_run(run_id: int, owner: str, seconds: float = LEASE_SECONDS) -> Lease | None:
    """Lease a run; return None if it is leased, waits for a user, has ended or was deleted.

    An expired lease means that its worker died. That counts as a crash, unless the journal has
    more settled entries than at the last claim.
    """
    now = database_now()
    until = now + timedelta(seconds=seconds)
    values = {"run": run_id, "owner": owner, "now": in_sql(now), "until": in_sql(until)}
    row = fetch_row(CLAIM, values)
    return Lease(*row) if row else None


def lease_of(run_id: int) -> Lease:
    """Return the lease in the run's row, right after creating or claiming it."""
    columns = ("public_id", "lease_epoch", "lease_owner", "crashes")
    return Lease(run_id, *Run.objects.values_list(*columns).get(pk=run_id))


def assert_lease(lease: Lease, **columns: Any) -> None:
    """Fence a transaction: lock the run's row if the epoch is current, and set `columns`.

    Raise `LeaseLostError`. Must be the first statement of the transaction.
    """
    ours = Run.objects.filter(pk=lease.run_id, lease_epoch=lease.epoch)
    if not ours.update(**(columns or {"lease_epoch": lease.epoch})):
        raise LeaseLostError(lease.run_id)


def renew_lease(lease: Lease, seconds: float = LEASE_SECONDS) -> None:
    """Extend the lease; raise `LeaseLostError`."""
    assert_lease(lease, lease_until=database_now() + timedelta(seconds=seconds))


def release_lease(lease: Lease) -> None:
    """Release the run, so that it can be claimed at once; raise `LeaseLostError`.

    The epoch is incremented too, so nothing more can be written under this lease.
    """
    with transaction.atomic():
        assert_lease(lease, lease_owner="", lease_until=None, lease_epoch=F("lease_epoch") + 1)
        notify.wake_after_commit()


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
    with transaction.atomic():
        assert_lease(lease, lease_until=database_now())
        notify.wake_after_commit()
