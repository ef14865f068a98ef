"""How a run ends where the engine does not end it: cancelled or failed."""

from __future__ import annotations

from typing import Any

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from research import notify
from research.commands import Kind
from research.engine import records
from research.engine.records import Status, StopReason
from research.leases import Lease, hold
from research.models import Command, Problem
from research.projection import problem_key
from research.writer import upsert

CANCELLED = "Cancelled before it was finished."
CANCEL_PLACE = "cancelled"


def cancelled_columns() -> dict[str, Any]:
    return {
        **_ended_columns(Status.CANCELLED, CANCELLED),
        "termination_reason": StopReason.CANCELLED.value,
    }


def cancel_run(lease: Lease) -> None:
    """End a leased run as cancelled and give it back. Raises `LeaseLost`."""
    with transaction.atomic():
        hold(lease, **cancelled_columns())
        mark_cancel_taken(lease.run_id)
        notify.sequence_after_commit(lease.run_id)


def mark_cancel_taken(run_id: int) -> None:
    untaken = Command.objects.filter(run_id=run_id, kind=Kind.CANCEL, taken_at_place=None)
    untaken.update(taken_at_place=CANCEL_PLACE)


def fail_run(lease: Lease, sentence: str) -> None:
    """End a leased run as failed, with the sentence as its problem. Raises `LeaseLost`."""
    problem = records.Problem("run", sentence)
    with transaction.atomic():
        hold(lease, **_ended_columns(Status.FAILED, sentence))
        row = Problem(
            run_id=lease.run_id,
            key=problem_key(problem),
            where=problem.where,
            message=problem.message,
        )
        upsert(Problem, [row])
        notify.sequence_after_commit(lease.run_id)


def _ended_columns(status: Status, sentence: str) -> dict[str, Any]:
    return {
        "status": status.value,
        "verdict": sentence,
        "termination_reason": None,
        "termination_text": sentence,
        "action": "",
        "action_at": None,
        "draft": [],
        "finished_at": timezone.now(),
        "lease_owner": "",
        "lease_until": None,
        "lease_epoch": F("lease_epoch") + 1,
        "sequence": F("sequence") + 1,
    }
