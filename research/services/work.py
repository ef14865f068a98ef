"""The work of all people, for admins: what is queued, in progress or stuck, and retrying it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.contrib.auth.models import AbstractUser
from django.core.exceptions import PermissionDenied
from django.db.models import Q, QuerySet

from research.engine.records import ENDED, Status
from research.models import Run
from research.operations.work_status import WorkStatus, read_work_status
from research.services import runs
from research.services.errors import ServiceError
from research.worker.leases import claimable_runs

LISTED = 20
FIELDS = (
    "public_id",
    "question",
    "status",
    "action",
    "crashes",
    "created_at",
    "started_at",
    "lease_owner",
    "lease_until",
    "owner__username",
)


@dataclass(frozen=True)
class Work:
    """State of the work, with the first `LISTED` runs of each kind.

    `stuck` are stalled runs, and those whose worker died without progress.
    """

    status: WorkStatus
    queued: Sequence[Run]
    executing: Sequence[Run]
    stuck: Sequence[Run]
    stuck_count: int


def read_work(actor: AbstractUser) -> Work:
    """Return the present state; raise `PermissionDenied` for anybody but staff."""
    if not actor.is_staff:
        raise PermissionDenied("The work of all people is for admins.")
    status = read_work_status()
    queued = claimable_runs(status.now).order_by("created_at", "pk")
    executing = Run.objects.filter(lease_until__gte=status.now).order_by("started_at", "pk")
    stuck = stuck_runs()
    return Work(status, _listed(queued), _listed(executing), _listed(stuck), stuck.count())


def stuck_runs() -> QuerySet[Run]:
    stuck = Q(status=Status.STALLED) | Q(crashes__gt=0)
    return Run.objects.exclude(status__in=ENDED).filter(stuck).order_by("created_at", "pk")


def retry_stalled(actor: AbstractUser, public_ids: Sequence[str]) -> int:
    """Retry those of these runs that are stalled; return how many."""
    if not actor.is_staff:
        raise PermissionDenied("The work of all people is for admins.")
    retried = 0
    for run in Run.objects.filter(public_id__in=public_ids, status=Status.STALLED):
        try:
            runs.retry_run(actor, run)
        except ServiceError:
            continue  # somebody else retried or cancelled it meanwhile
        retried += 1
    return retried


def _listed(found: QuerySet[Run]) -> list[Run]:
    return list(found.select_related("owner").only(*FIELDS)[:LISTED])
