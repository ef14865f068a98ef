"""Reviewers' verdicts on evidence; verdicts are append-only."""

from __future__ import annotations

from collections.abc import Iterable

from django.contrib.auth.models import AbstractUser
from django.db import transaction
from django.db.models import F

from research.models import Evidence, Run, Verdict
from research.services.errors import InvalidValueError
from research.services.people import require_access
from research.worker import notify

NOTE_LENGTH = 2_000


def record_verdict(
    actor: AbstractUser, evidence: Evidence, verdict: str, note: str = ""
) -> Verdict:
    """Record accept, reject or flag; raise `ServiceError` or `PermissionDenied`."""
    return review_all(actor, [evidence], verdict, note)[0]


def review_all(
    actor: AbstractUser, evidence: Iterable[Evidence], verdict: str, note: str = ""
) -> list[Verdict]:
    """Record one verdict on many records in one transaction, all or none.

    Raise `ServiceError` with a sentence for the user, or `PermissionDenied` for another user's run.
    """
    if verdict not in Verdict.Kind.values:
        told = f"A verdict is one of {', '.join(Verdict.Kind.values)}."
        raise InvalidValueError(told, "verdict")
    if len(note) > NOTE_LENGTH:
        raise InvalidValueError(f"A note has at most {NOTE_LENGTH:,} characters.", "note")
    judged = list(evidence)
    runs = Run.objects.in_bulk({one.run_id for one in judged})
    for run in runs.values():
        require_access(actor, run)
    with transaction.atomic():
        Run.objects.filter(pk__in=runs).update(sequence=F("sequence") + 1)
        given = Verdict.objects.bulk_create(
            Verdict(evidence=one, actor=actor, verdict=verdict, note=note.strip()) for one in judged
        )
        for run_id in runs:
            notify.sequence_after_commit(run_id)
    return given
