"""Permanent deletion of runs: when it is allowed, and what is deleted with a run."""

from __future__ import annotations

from django.contrib.auth.models import AbstractUser
from django.db import transaction

from research.engine.records import ENDED
from research.models import PageText, Run
from research.services.errors import ServiceError
from research.services.people import require_access
from research.services.runs import lock_run
from research.worker.leases import is_held

NOT_ENDED = "This run has not ended yet; cancel it first."
STILL_HELD = "A worker is still finishing this run; try again in a moment."
BUILT_ON = "A later run builds on this one and has not ended yet; cancel it, or wait for its end."


def delete_run(actor: AbstractUser, run: Run) -> None:
    """Delete an ended run with its journal, its records, and pages that no other run uses."""
    require_access(actor, run)
    with transaction.atomic():
        now = lock_run(run)
        if reason := why_kept(now):
            raise ServiceError(reason)
        pages = list(now.pages.values_list("page_id", flat=True))
        thread = now.thread
        _hand_on(now)
        now.delete()
        PageText.objects.filter(pk__in=pages, uses=None).delete()
        if not thread.runs.exists():
            thread.delete()


def why_kept(run: Run) -> str:
    """Return why a run can't be deleted at the moment, or ''.

    A later run copies the verdicts on its evidence only when it ends, so it must have ended.
    """
    if not run.ended:
        return NOT_ENDED
    if is_held(run):
        return STILL_HELD
    if run.children.exclude(status__in=ENDED).exists():
        return BUILT_ON
    return ""


def _hand_on(run: Run) -> None:
    """Make the next version the origin of the remaining ones."""
    later = run.versions.order_by("pk").first()
    if later is not None:
        run.versions.update(origin=later)
        Run.objects.filter(pk=later.pk).update(origin=None)
