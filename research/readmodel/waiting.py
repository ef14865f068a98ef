"""Why a queued run has not started yet."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import F, Sum

from research.engine.records import Status
from research.models import Collection, Run
from research.queue.admission import place_of


@dataclass(frozen=True)
class Waiting:
    """`ahead` counts queued runs with an earlier turn; `read` of `files` documents are indexed."""

    ahead: int
    read: int = 0
    files: int = 0


def why_waiting(run: Run) -> Waiting | None:
    """Return what a queued run waits for; None for other runs."""
    if run.status != Status.QUEUED:
        return None
    if (place := place_of(run)) is not None:
        return Waiting(place.position - 1)
    wanted = [each["id"] for each in run.sources.get("collections", ())]
    rows = Collection.objects.filter(public_id__in=wanted, done__lt=F("total"))
    counts = rows.aggregate(read=Sum("done"), files=Sum("total"))
    return Waiting(0, counts["read"] or 0, counts["files"] or 0)
