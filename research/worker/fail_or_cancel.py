"""Ends or parks a run outside the engine: cancelled, failed or stalled; takes a pause back."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import AbstractUser
from django.db import transaction
from django.db.models import F
from django.utils import timezone

from research.engine import records
from research.engine.records import Status, StopReason
from research.models import Command, Problem, Run
from research.notifications.outbox import announce_status
from research.worker import notify
from research.worker.commands import Kind, is_pausing
from research.worker.leases import CRASHES, Lease, assert_lease
from research.worker.projection import problem_key
from research.worker.writer import upsert_rows

CANCELLED = "Cancelled before it was finished."
CANCEL_PLACE = "cancelled"
STALLED = (
    f"The run was put aside because its worker stopped unexpectedly {CRASHES + 1} times at the same"
    " point, the last time with no other run beside it. The server's log may say why; what was"
    " found so far is kept."
)
RETRY_PLACE, WITHDRAWN_PLACE = "retried", "withdrawn"


def cancelled_columns() -> dict[str, Any]:
    return {
        **_ended_columns(Status.CANCELLED, CANCELLED),
        "termination_reason": StopReason.CANCELLED.value,
    }


def cancel_run(lease: Lease) -> None:
    """End a leased run as cancelled and release it; raise `LeaseLostError`."""
    with transaction.atomic():
        assert_lease(lease, **cancelled_columns())
        mark_cancel_taken(lease.run_id)
        _tell_of_end(lease.run_id)


def mark_cancel_taken(run_id: int) -> None:
    untaken = Command.objects.filter(run_id=run_id, kind=Kind.CANCEL, taken_at_place=None)
    untaken.update(taken_at_place=CANCEL_PLACE)


def fail_run(lease: Lease, sentence: str) -> None:
    """End a leased run as failed, with the sentence as its problem; raise `LeaseLostError`."""
    with transaction.atomic():
        assert_lease(lease, **_ended_columns(Status.FAILED, sentence))
        upsert_rows(Problem, [_problem_row(lease, sentence)])
        announce_status(lease.run_id, Status.FAILED)
        _tell_of_end(lease.run_id)


def stall_run(lease: Lease) -> None:
    """Set aside a run that keeps killing its workers, until it is retried.

    Raise `LeaseLostError`.
    """
    with transaction.atomic():
        assert_lease(lease, status=Status.STALLED.value, verdict=STALLED, **_left_columns())
        upsert_rows(Problem, [_problem_row(lease, STALLED)])
        announce_status(lease.run_id, Status.STALLED)
        _tell_of_end(lease.run_id)


def try_again(run_id: int) -> None:
    """Make a stalled run claimable; it resumes where its journal ends."""
    Run.objects.filter(pk=run_id).update(status=Status.QUEUED.value, verdict="", crashes=0)
    retries = Command.objects.filter(run_id=run_id, kind=Kind.RETRY, taken_at_place=None)
    retries.update(taken_at_place=RETRY_PLACE)


def withdraw_pause(actor: AbstractUser, run: Run) -> Command | None:
    """Take back a pause that the engine has not taken yet; None if there is none.

    The command that does so isn't left pending, since it would end a later pause.
    """
    untaken = Command.objects.filter(run=run, taken_at_place=None)
    if not is_pausing(run.status, set(untaken.values_list("kind", flat=True))):
        return None
    untaken.filter(kind=Kind.PAUSE).update(taken_at_place=WITHDRAWN_PLACE)
    notify.sequence_after_commit(run.pk)
    return Command.objects.create(
        run=run, actor=actor, kind=Kind.RESUME, taken_at_place=WITHDRAWN_PLACE
    )


def _tell_of_end(run_id: int) -> None:
    """After the commit, show the run's new state and let the next run have its place."""
    notify.sequence_after_commit(run_id)
    notify.wake_after_commit()


def _problem_row(lease: Lease, sentence: str) -> Problem:
    problem = records.Problem("run", sentence)
    return Problem(
        run_id=lease.run_id,
        key=problem_key(problem),
        where=problem.where,
        message=problem.message,
    )


def _ended_columns(status: Status, sentence: str) -> dict[str, Any]:
    return {
        "status": status.value,
        "verdict": sentence,
        "termination_reason": None,
        "termination_text": sentence,
        "finished_at": timezone.now(),
        **_left_columns(),
    }


def _left_columns() -> dict[str, Any]:
    """Return the columns of a run that nothing and no worker is busy with."""
    return {
        "action": "",
        "action_at": None,
        "draft": [],
        "lease_owner": "",
        "lease_until": None,
        "lease_epoch": F("lease_epoch") + 1,
        "sequence": F("sequence") + 1,
    }
