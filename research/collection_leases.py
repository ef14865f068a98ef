"""Which process indexes a collection: taken, kept and given back by conditional updates.

As with runs (`leases.py`), but that the index itself takes turns: a late writer does no harm.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.db.models import F, Q, QuerySet
from django.utils import timezone

from research.leases import database_now
from research.models import Collection

LEASE_SECONDS = 15.0
LOOK_AGAIN = timedelta(minutes=5)


def claim(owner: str) -> Collection | None:
    """The next collection that needs the indexer and that nobody has, leased; None without."""
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
    """Have every collection looked at once more: the index may be another than the last time."""
    Collection.objects.update(revision=F("revision") + 1)


def renew(collection: Collection, counts: dict[str, int]) -> None:
    until = database_now() + timedelta(seconds=LEASE_SECONDS)
    _held(collection).update(lease_until=until, **counts)


def finish(collection: Collection, outcome: dict[str, Any]) -> None:
    """What was changed in the meantime leaves it due again."""
    _held(collection).update(
        indexed_revision=collection.revision,
        indexed_at=timezone.now(),
        lease_owner="",
        lease_until=None,
        **outcome,
    )


def release(collection: Collection) -> None:
    _held(collection).update(lease_owner="", lease_until=None)


def _held(collection: Collection) -> QuerySet[Collection]:
    return Collection.objects.filter(pk=collection.pk, lease_owner=collection.lease_owner)
