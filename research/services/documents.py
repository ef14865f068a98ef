"""Changes to collections of documents; nothing else may change one.

A change increments the collection's revision, which triggers the indexer
(`research/documents/indexing.py`). Raises `ServiceError` with a sentence for the user, and
`PermissionDenied` for the collection of another user.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence, Set
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import quote

from asgiref.sync import async_to_sync
from django.conf import settings
from django.contrib.auth import get_user_model
from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.models import AbstractUser, AnonymousUser
from django.core.exceptions import PermissionDenied
from django.db import IntegrityError, transaction
from django.db.models import F, Sum
from django.utils import timezone

from research.documents import uploads
from research.documents.folder import content_type_of, folder_title
from research.documents.uploads import strip_unprintable
from research.models import Collection, Document, Run
from research.models.base import key_digest
from research.models.documents import CollectionQuerySet
from research.services import people
from research.services.errors import InvalidValueError, ServiceError
from research.worker import notify

NAME_LENGTH = 80
FOLDER_LENGTH = 1_000
MOST_FILES = 2_000
ATTACHED_NAME_LENGTH = 60
PUBLIC_ID_LENGTH = 22
READ_AT_ONCE = 5 * uploads.MEGABYTE
READ_SECONDS = 10.0
NAME_TAKEN = "You have a collection of that name already."


@dataclass(frozen=True)
class RefusedFile:
    """A rejected file, and the reason in words for the user."""

    name: str
    reason: str


@dataclass(frozen=True)
class Upload:
    """Outcome of an upload; each tuple is in the order of the files."""

    added: tuple[str, ...] = ()
    replaced: tuple[str, ...] = ()
    refused: tuple[RefusedFile, ...] = ()


# --- finding -----------------------------------------------------------------------------


def visible_to(user: AbstractBaseUser | AnonymousUser) -> CollectionQuerySet:
    """Return a user's own collections and the shared ones, by name."""
    return Collection.objects.visible_to(user)


def find_by_name(actor: AbstractUser, names: Sequence[str]) -> list[Collection]:
    """Return the visible collections of these names, or all if none are given.

    Raise `ServiceError` for a name that is unknown.
    """
    visible = list(visible_to(actor))
    unknown = [name for name in names if name not in {row.name for row in visible}]
    if unknown:
        known = ", ".join(row.name for row in visible) or "none"
        told = f"There is no collection {unknown[0]}; there are: {known}."
        raise InvalidValueError(told, "collections")
    return [row for row in visible if not names or row.name in names]


def may_change(actor: AbstractBaseUser | AnonymousUser, collection: Collection) -> bool:
    """Return whether the user owns the collection, or is staff and it is shared."""
    return collection.owner_id == actor.pk or bool(
        collection.is_shared and getattr(actor, "is_staff", False)
    )


# --- making ------------------------------------------------------------------------------


def create_collection(actor: AbstractUser, name: str, *, shared: bool = False) -> Collection:
    """Create an empty collection for uploads."""
    return _create(actor, name, is_shared=shared)


def create_from_folder(
    actor: AbstractUser, name: str, path: str, *, shared: bool = False
) -> Collection:
    """Create a collection of a folder of this server; staff only, since it may contain anything.

    An empty name is replaced by the folder's; see `folder_title`.
    """
    if not actor.is_staff:
        raise PermissionDenied("Only an admin may use a folder of the server.")
    folder = _usable(path)
    if Collection.objects.filter(folder=str(folder), deleted_at=None).exists():
        raise ServiceError("There is a collection of that folder already.")
    return _create(
        actor,
        name.strip() or folder_title(folder)[:NAME_LENGTH],
        is_shared=shared,
        folder=str(folder),
    )


@transaction.atomic
def take_in(folders: Sequence[str]) -> None:
    """Synchronise the shared collections of the local admin with the folders in the settings:
    create new ones, delete those no longer named.
    """
    named = Collection.objects.filter(from_settings=True, deleted_at=None)
    known = set(Collection.objects.filter(deleted_at=None).values_list("folder", flat=True))
    for collection in named.exclude(folder__in=folders).select_related("owner"):
        delete_collection(collection.owner, collection)
    for folder in dict.fromkeys(folders):
        if folder not in known:
            actor = people.local_admin()
            name = _free_name(actor, folder_title(Path(folder))[: NAME_LENGTH - 4] or "Documents")
            _create(actor, name, is_shared=True, folder=folder, from_settings=True)


def _create(actor: AbstractUser, name: str, **columns: object) -> Collection:
    named = _clean_name(name)
    try:
        with transaction.atomic():
            made = Collection.objects.create(owner=actor, name=named, **columns)
    except IntegrityError:
        raise ServiceError(NAME_TAKEN) from None
    notify.wake_after_commit()
    return made


def _clean_name(written: str) -> str:
    name = " ".join(strip_unprintable(" ".join(written.split())).split())
    if not name:
        raise InvalidValueError("Give the collection a name.", "name")
    if len(name) > NAME_LENGTH:
        told = f"The name has {len(name)} characters; the maximum is {NAME_LENGTH}."
        raise InvalidValueError(told, "name")
    return name


def _free_name(actor: AbstractUser, wanted: str) -> str:
    taken = set(Collection.objects.filter(owner=actor, deleted_at=None).values_list("name"))
    numbered = (f"{wanted} {number}" for number in range(2, len(taken) + 3))
    return next(name for name in (wanted, *numbered) if (name,) not in taken)


def _usable(path: str) -> Path:
    """Return the folder; refuse one that contains, or is inside, the state folder."""
    written = strip_unprintable(path).strip()
    if not written or len(written) > FOLDER_LENGTH or not Path(written).expanduser().is_absolute():
        raise InvalidValueError("Give the whole path of a folder, such as /srv/papers.", "path")
    folder, state = Path(written).expanduser().resolve(), settings.STATE_DIR.resolve()
    if not folder.is_dir():
        raise InvalidValueError(f"{written} is not a folder of this server.", "path")
    if folder.is_relative_to(state) or state.is_relative_to(folder):
        raise ServiceError("That folder holds Plumbline's own state; choose another one.")
    return folder


# --- files -------------------------------------------------------------------------------


def add_files(
    actor: AbstractUser,
    collection: Collection,
    files: Iterable[uploads.SentFile],
    *,
    check: Callable[[uploads.Draft, str], None] = lambda draft, name: None,
) -> Upload:
    """Store the acceptable files, and report a reason for each of the others.

    A file replaces one of the same name; content that the collection has already is rejected.
    `check` raises `RefusedUploadError` for a file that is not to be kept.
    """
    _require(actor, collection)
    if collection.folder:
        raise ServiceError("Files are put into this collection's folder, on the server.")
    added: list[str] = []
    replaced: list[str] = []
    refused: list[RefusedFile] = []
    for sent in files:
        try:
            stored = frozenset(name.casefold() for name in (*added, *replaced))
            name, is_new = _add_file(collection, sent, check, stored)
        except uploads.RefusedUploadError as reason:
            refused.append(RefusedFile(sent.name or "A file", str(reason)))
        else:
            (added if is_new else replaced).append(name)
    if added or replaced:
        _changed(collection)
    return Upload(tuple(added), tuple(replaced), tuple(refused))


def remove_file(actor: AbstractUser, collection: Collection, name: str) -> None:
    """Delete a file, then its row: if killed in between, the removal can be repeated."""
    _require(actor, collection)
    row = collection.files.filter(name=strip_unprintable(name)).first()
    if row is None:
        raise ServiceError(f"{name} is no longer in this collection.")
    uploads.remove_upload(collection.public_id, row.name)
    row.delete()
    _changed(collection)


def _add_file(
    collection: Collection,
    sent: uploads.SentFile,
    check: Callable[[uploads.Draft, str], None],
    stored: Set[str],
) -> tuple[str, bool]:
    """Store a file; return its final name, and whether that name is new. It replaces none of those
    `stored` with it.
    """
    name = uploads.safe_name(sent.name)
    if name.casefold() in stored:
        raise uploads.RefusedUploadError("another file of this name was sent with it; rename one")
    size = sent.size or 0
    uploads.check_size(name, size)
    _check_room(collection, size, _of_name(collection, name))
    draft = uploads.write_draft(uploads.folder_of(collection.public_id), sent)
    try:
        check(draft, name)
        return name, _keep(collection, name, draft)
    finally:
        draft.drop()


@transaction.atomic
def _keep(collection: Collection, name: str, draft: uploads.Draft) -> bool:
    """Move the draft to its final name; return whether the name is new. A user's uploads are
    serialised here, and the checks repeated, since others may have been stored while this file was
    copied.
    """
    get_user_model()._default_manager.select_for_update(no_key=True).get(pk=collection.owner_id)
    old = _of_name(collection, name)
    same = collection.files.filter(sha256=draft.sha256).first()
    if same is not None:
        raise uploads.RefusedUploadError(f"its content is here already, as {same.name}")
    _check_room(collection, draft.size, old)
    row = {"name": name, "size": draft.size, "sha256": draft.sha256}
    collection.files.update_or_create(
        name_key=name.casefold(), defaults={**row, "added_at": timezone.now()}
    )
    if old is not None and old.name != name:
        uploads.remove_upload(collection.public_id, old.name)
    draft.keep(name)
    return old is None


def _of_name(collection: Collection, name: str) -> Document | None:
    return collection.files.filter(name_key=name.casefold()).first()


def _check_room(collection: Collection, size: int, old: Document | None) -> None:
    """Raise `RefusedUploadError` if a file exceeds the limits, without the one that it replaces."""
    kept = Document.objects.filter(collection__owner=collection.owner_id)
    held = kept.filter(collection__deleted_at=None).aggregate(size=Sum("size"))["size"] or 0
    held -= old.size if old else 0
    if held + size > settings.UPLOADS_MAX_MB * uploads.MEGABYTE:
        raise uploads.RefusedUploadError(
            f"your uploads are limited to {settings.UPLOADS_MAX_MB:,} MB"
        )
    if old is None and collection.files.count() >= MOST_FILES:
        raise uploads.RefusedUploadError(f"a collection is limited to {MOST_FILES:,} files")


def attach_files(
    actor: AbstractUser, question: str, key: str, files: Iterable[uploads.SentFile]
) -> tuple[Collection, Upload]:
    """Store the files of a question in a private collection named after it.

    The same `key` gives the same collection, so that a form sent twice stores them once. Files that
    are not large are read at once, and those without a text are left out. Raise `ServiceError` if
    none of the files can be used.
    """
    public_id = key_digest(str(actor.pk), key)[:PUBLIC_ID_LENGTH]
    made = Collection.objects.filter(public_id=public_id, deleted_at=None).first()
    is_repeated = made is not None
    if made is None:
        wanted = strip_unprintable(" ".join(question.split()))[:ATTACHED_NAME_LENGTH].strip()
        made = _create(actor, _free_name(actor, wanted or "Files"), public_id=public_id)
    done = add_files(actor, made, files, check=_require_text)
    if not made.files.exists():
        made.delete()
        reasons = "; ".join(f"{file.name}: {file.reason}" for file in done.refused)
        raise ServiceError(f"None of the files can be used. {reasons}".strip())
    return made, replace(done, refused=()) if is_repeated else done


def _require_text(draft: uploads.Draft, name: str) -> None:
    """Raise `RefusedUploadError` if a file has no text, unless reading it would take long."""
    if draft.size > READ_AT_ONCE:
        return
    # slow imports
    from research.documents.parse_document import ReadingTask, read_document
    from research.extract.pool import PoolError
    from research.runtime import tool_factory

    content_type = content_type_of(name)
    assert content_type is not None, "files of other kinds are refused before"
    task = ReadingTask(name, str(draft.path), content_type, url=f"file:///{quote(name)}")
    try:
        reading = async_to_sync(tool_factory.text_pool().run)(
            read_document, task, timeout_seconds=READ_SECONDS
        )
    except PoolError:  # the indexer tries again, with more time, and says so if it fails
        return
    if reading.reason is not None:
        raise uploads.RefusedUploadError(reading.reason)


def keep_with(run: Run, public_id: str) -> None:
    """Note that a collection holds the files attached to a run's question."""
    Collection.objects.filter(public_id=public_id, thread=None).update(thread=run.thread_id)


# --- changing ----------------------------------------------------------------------------


def change_collection(
    actor: AbstractUser, collection: Collection, name: str, *, shared: bool
) -> None:
    """Rename the collection and set whether it is shared; addresses keep the first name."""
    _require(actor, collection)
    try:
        with transaction.atomic():
            Collection.objects.filter(pk=collection.pk).update(
                name=_clean_name(name), is_shared=shared
            )
    except IntegrityError:
        raise ServiceError(NAME_TAKEN) from None


def look_again(actor: AbstractUser, collection: Collection) -> None:
    """Schedule a rescan for new, changed and deleted files."""
    _require(actor, collection)
    _changed(collection)


def delete_collection(actor: AbstractUser, collection: Collection) -> None:
    """Delete a collection and its files at once; the indexer removes its part of the index later.

    Runs keep copies of the pages that they cite.
    """
    _require(actor, collection)
    Collection.objects.filter(pk=collection.pk, deleted_at=None).update(deleted_at=timezone.now())
    if not collection.folder:
        transaction.on_commit(lambda: uploads.remove_all(collection.public_id), robust=True)
    notify.wake_after_commit()


def _changed(collection: Collection) -> None:
    Collection.objects.filter(pk=collection.pk).update(revision=F("revision") + 1)
    notify.wake_after_commit()


def _require(actor: AbstractUser, collection: Collection) -> None:
    if not may_change(actor, collection):
        raise PermissionDenied("This collection belongs to another user.")


# --- for a question ----------------------------------------------------------------------


def chosen_collections(actor: AbstractUser, public_ids: Iterable[str]) -> list[dict[str, str]]:
    """Return id and name of the selected collections, as they are frozen in a run."""
    found = visible_to(actor).filter(public_id__in=list(public_ids))
    return [{"id": row.public_id, "name": row.name} for row in found]
