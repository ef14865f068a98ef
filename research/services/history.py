"""Names, folders, pins, the archive and deletion of threads.

A deleted thread is hidden at once and can be restored until it is removed for good, with its runs
and the files attached to it, after `KEPT_SECONDS`. Raises `ServiceError` with a sentence for the
user, `PermissionDenied` for the thread of another user.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from django.contrib.auth.models import AbstractUser
from django.core.exceptions import PermissionDenied
from django.utils import timezone

from research.engine.records import ENDED
from research.models import Thread
from research.services import deleting, documents
from research.services.errors import InvalidValueError, ServiceError

NAME_LENGTH = 200
FOLDER_LENGTH = 60
KEPT_SECONDS = 24 * 3600
NOT_ENDED = "A run of this question has not ended yet; cancel it first."


def rename_thread(actor: AbstractUser, thread: Thread, name: str, folder: str) -> None:
    """Set the name shown in lists and the folder; '' shows the question, or removes the folder."""
    _update(
        actor,
        thread,
        name=_clean(name, "A name", NAME_LENGTH, "name"),
        folder=_clean(folder, "The name of a folder", FOLDER_LENGTH, "folder"),
    )


def pin_thread(actor: AbstractUser, thread: Thread, pinned: bool) -> None:
    _update(actor, thread, pinned=pinned)


def archive_thread(actor: AbstractUser, thread: Thread, archived: bool) -> None:
    _update(actor, thread, archived=archived)


def delete_thread(actor: AbstractUser, thread: Thread) -> None:
    """Hide the thread; every run of it must have ended."""
    _require(actor, thread)
    if thread.runs.exclude(status__in=ENDED).exists():
        raise ServiceError(NOT_ENDED)
    _update(actor, thread, deleted_at=timezone.now())


def restore_thread(actor: AbstractUser, thread: Thread) -> None:
    _update(actor, thread, deleted_at=None)


def purge_deleted(now: datetime) -> int:
    """Remove what was deleted `KEPT_SECONDS` ago for good; return the number of threads.

    A thread that a worker still finishes is left for the next time.
    """
    due = Thread.objects.filter(deleted_at__lt=now - timedelta(seconds=KEPT_SECONDS))
    return sum(_purge(thread) for thread in due.select_related("owner"))


def _purge(thread: Thread) -> bool:
    for collection in thread.attached.filter(deleted_at=None).select_related("owner"):
        documents.delete_collection(collection.owner, collection)
    try:
        for run in thread.runs.order_by("-pk"):
            deleting.delete_run(thread.owner, run)
    except ServiceError:
        return False
    Thread.objects.filter(pk=thread.pk).delete()
    return True


def _update(actor: AbstractUser, thread: Thread, **columns: object) -> None:
    _require(actor, thread)
    Thread.objects.filter(pk=thread.pk).update(**columns)


def _require(actor: AbstractUser, thread: Thread) -> None:
    if not (actor.is_staff or thread.owner_id == actor.pk):
        raise PermissionDenied("This question belongs to another user.")


def _clean(text: str, what: str, limit: int, about: str) -> str:
    cleaned = " ".join(text.split())
    if len(cleaned) > limit:
        raise InvalidValueError(f"{what} has at most {limit} characters.", about)
    return cleaned
