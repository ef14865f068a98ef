"""Leases of collections: which process indexes one, decided by conditional updates.

Like leases of runs (`leases.py`), but without an epoch fence: the index serialises writers itself,
so a late writer does no harm.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.db.models import F, Q, QuerySet
from django.utils import timezone

from research.models import Collection
from research.worker.leases import database_now

LEASE_SECONDS = 15.0
LOOK_AGAIN = timedelta(minutes=5)


def claim_next_collection(owner: str) -> Collection | None:
    """Lease and return the next free collection that needs indexing; None if there is none."""
    now = database_now()
    looked_at_long_ago = ~Q(folder="") & Q(indexed_at__lt=now - LOOK_AGAIN)
    due = Collection.objects.filter(
        Q(deleted_at__isnull=False) | Q(indexed_revision__lt=F("revision")) | looked_at_long_ago
    ).filter(Q(lease_until=None) | Q(lease_until__lt=now))
    for key in due.order_by("created_at", "pk").values_list("pk", flat=True)[:10]:
        held = {"lease_owner": owner, "lease_until": now + timedelta(seconds=LEASE_SECONDS)}
        if due.filter(pk=key).update(**held, done=0, total=0, failed=0):
            return Collection.objects.get(pk=key)
    return None


def make_due() -> None:
    """Mark every collection for indexing, since the index may have been replaced."""
    Collection.objects.update(revision=F("revision") + 1)


def renew_collection_lease(collection: Collection, counts: dict[str, int]) -> None:
    until = database_now() + timedelta(seconds=LEASE_SECONDS)
    _held(collection).update(lease_until=until, **counts)


def finish_indexing(collection: Collection, outcome: dict[str, Any]) -> None:
    """Store the outcome and release the lease; changes made meanwhile leave the collection due."""
    _held(collection).update(
        indexed_revision=collection.revision,
        indexed_at=timezone.now(),
        lease_owner="",
        lease_until=None,
        **outcome,
    )


def release_collection(collection: Collection) -> None:
    _held(collection).update(lease_owner="", lease_until=None)


def _held(collection: Collection) -> QuerySet[Collection]:
    return Collection.objects.filter(pk=collection.pk, lease_owner=collection.lease_owner)
