"""Requests with an `Idempotency-Key`: what creates something creates it once.

Runs that ask a question keep the key themselves (`Run.idempotency_key`).
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Annotated, TypeVar

from django.db import transaction
from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django.utils import timezone
from ninja import Header
from pydantic import BaseModel

from dashboard.models import RepeatableRequest
from research.engine.journal import digest_of
from research.services.errors import ServiceError

KEY_LENGTH = 100
KEPT = timedelta(days=30)
KEY_USED = "This idempotency key was used for a different request."

IdempotencyKey = Annotated[
    str | None, Header(alias="Idempotency-Key", min_length=1, max_length=KEY_LENGTH)
]
Made = TypeVar("Made", bound=Model)


def make_once(
    request: HttpRequest,
    key: str | None,
    payload: BaseModel | None,
    rows: QuerySet[Made],
    make: Callable[[], Made],
    *,
    field: str = "public_id",
) -> Made:
    """Return what `make` makes, or the row that the same request with this key made before.

    `field` names a row of `rows`. A row that was deleted since is made anew. Raise `ServiceError`
    if the caller used the key for another request within `KEPT`.
    """
    if key is None:
        return make()
    body = payload and payload.model_dump(mode="json")
    digest = digest_of([request.method, request.path, body])
    caller = request.auth
    kept = RepeatableRequest.objects.filter(owner=caller.user)
    with transaction.atomic():
        kept.filter(created__lt=timezone.now() - KEPT).delete()
        told, is_new = kept.select_for_update().get_or_create(
            owner=caller.user, key=f"{caller.key}/{key}", defaults={"digest": digest}
        )
        if told.digest != digest:
            raise ServiceError(KEY_USED)
        made = None if is_new else rows.filter(**{field: told.made}).first()
        if made is None:
            made = make()
            told.made = str(getattr(made, field))
            told.save(update_fields=("made",))
    return made
