"""Deleting a run for good: when it may be, and what goes with it."""

from __future__ import annotations

from django.contrib.auth.models import AbstractUser
from django.db import transaction

from research.engine.records import ENDED
from research.leases import is_held
from research.models import PageText, Run
from research.services.access import require
from research.services.errors import ServiceError
from research.services.runs import locked

NOT_ENDED = "This run has not ended yet; cancel it first."
STILL_HELD = "A worker is still finishing this run; try again in a moment."
BUILT_ON = "A later run builds on this one and has not ended yet; cancel it, or wait for its end."


def delete(actor: AbstractUser, run: Run) -> None:
    """Delete a run that has ended: its journal, records, and pages of its own."""
    require(actor, run)
    with transaction.atomic():
        now = locked(run)
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
    """Why a run can't be deleted at the moment; '' where it can.

    A later run takes over what reviewers said of its evidence only as it ends.
    """
    if not run.ended:
        return NOT_ENDED
    if is_held(run):
        return STILL_HELD
    if run.children.exclude(status__in=ENDED).exists():
        return BUILT_ON
    return ""


def _hand_on(run: Run) -> None:
    """The next version becomes the one that the others are versions of."""
    later = run.versions.order_by("pk").first()
    if later is not None:
        run.versions.update(origin=later)
        Run.objects.filter(pk=later.pk).update(origin=None)
