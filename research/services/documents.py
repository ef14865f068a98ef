"""Everything that a person may do to collections of documents: the only way to change one.

The index hears of a change by the collection's revision (`research/indexing.py`). Raises
`ServiceError` with a sentence for the person, `PermissionDenied` for another's collection.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from django.contrib.auth import get_user_model
from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.models import AbstractUser, AnonymousUser
from django.core.exceptions import PermissionDenied
from django.db import IntegrityError, transaction
from django.db.models import F, Sum
from django.utils import timezone

from research import notify, uploads
from research.models import Collection, Document
from research.models.documents import CollectionQuerySet
from research.services import people
from research.services.errors import ServiceError
from research.uploads import printable

NAME_LENGTH = 80
FOLDER_LENGTH = 1_000
MOST_FILES = 2_000
NAME_TAKEN = "You have a collection of that name already."


@dataclass(frozen=True)
class RefusedFile:
    """A file that was not taken, and why, in words for the person."""

    name: str
    reason: str


@dataclass(frozen=True)
class Upload:
    """What became of the files that were sent, in their order."""

    added: tuple[str, ...] = ()
    replaced: tuple[str, ...] = ()
    refused: tuple[RefusedFile, ...] = ()


# --- finding -----------------------------------------------------------------------------


def visible_to(user: AbstractBaseUser | AnonymousUser) -> CollectionQuerySet:
    """A person's own collections and the shared ones, by name."""
    return Collection.objects.visible_to(user)


def may_change(actor: AbstractBaseUser | AnonymousUser, collection: Collection) -> bool:
    """Its owner may, and staff where it is shared."""
    return collection.owner_id == actor.pk or bool(
        collection.is_shared and getattr(actor, "is_staff", False)
    )


# --- making ------------------------------------------------------------------------------


def create(actor: AbstractUser, name: str, *, shared: bool = False) -> Collection:
    """An empty collection for uploaded files."""
    return _create(actor, name, is_shared=shared)


def create_from_folder(
    actor: AbstractUser, name: str, path: str, *, shared: bool = False
) -> Collection:
    """A collection of a folder of this server; for staff only, as it may hold anything.

    An empty name is the folder's own.
    """
    if not actor.is_staff:
        raise PermissionDenied("Only an admin may use a folder of the server.")
    folder = _usable(path)
    if Collection.objects.filter(folder=str(folder), deleted_at=None).exists():
        raise ServiceError("There is a collection of that folder already.")
    return _create(actor, name.strip() or folder.name, is_shared=shared, folder=str(folder))


@transaction.atomic
def take_in(folders: Sequence[str]) -> None:
    """Make the folders of the settings shared collections of the local admin, and drop those
    that are no longer named.
    """
    named = Collection.objects.filter(from_settings=True, deleted_at=None)
    known = set(Collection.objects.filter(deleted_at=None).values_list("folder", flat=True))
    for collection in named.exclude(folder__in=folders).select_related("owner"):
        delete(collection.owner, collection)
    for folder in dict.fromkeys(folders):
        if folder not in known:
            actor = people.local_admin()
            name = _free_name(actor, Path(folder).name[: NAME_LENGTH - 4] or "Documents")
            _create(actor, name, is_shared=True, folder=folder, from_settings=True)


def _create(actor: AbstractUser, name: str, **columns: object) -> Collection:
    named = _name(name)
    try:
        with transaction.atomic():
            made = Collection.objects.create(owner=actor, name=named, **columns)
    except IntegrityError:
        raise ServiceError(NAME_TAKEN) from None
    notify.wake_after_commit()
    return made


def _name(written: str) -> str:
    name = " ".join(printable(" ".join(written.split())).split())
    if not name:
        raise ServiceError("Give the collection a name.")
    if len(name) > NAME_LENGTH:
        raise ServiceError(f"The name has {len(name)} characters; {NAME_LENGTH} is the most.")
    return name


def _free_name(actor: AbstractUser, wanted: str) -> str:
    taken = set(Collection.objects.filter(owner=actor, deleted_at=None).values_list("name"))
    numbered = (f"{wanted} {number}" for number in range(2, len(taken) + 3))
    return next(name for name in (wanted, *numbered) if (name,) not in taken)


def _usable(path: str) -> Path:
    """The folder itself; what holds this installation's own state is refused."""
    written = printable(path).strip()
    if not written or len(written) > FOLDER_LENGTH or not Path(written).expanduser().is_absolute():
        raise ServiceError("Give the whole path of a folder, such as /srv/papers.")
    folder, state = Path(written).expanduser().resolve(), settings.STATE_DIR.resolve()
    if not folder.is_dir():
        raise ServiceError(f"{written} is no folder of this server.")
    if folder.is_relative_to(state) or state.is_relative_to(folder):
        raise ServiceError("That folder holds Plumbline's own state; choose one beside it.")
    return folder


# --- files -------------------------------------------------------------------------------


def add_files(
    actor: AbstractUser, collection: Collection, files: Iterable[uploads.SentFile]
) -> Upload:
    """Keep what can be kept, and say of each other file why not.

    A file of a name that is there replaces the one that has it; the same content is kept once.
    """
    _require(actor, collection)
    if collection.folder:
        raise ServiceError("Files are put into this collection's folder, on the server.")
    added, replaced, refused = [], [], []
    for sent in files:
        try:
            name, is_new = _add_file(collection, sent)
        except uploads.Refused as reason:
            refused.append(RefusedFile(sent.name or "A file", str(reason)))
        else:
            (added if is_new else replaced).append(name)
    if added or replaced:
        _changed(collection)
    return Upload(tuple(added), tuple(replaced), tuple(refused))


def remove_file(actor: AbstractUser, collection: Collection, name: str) -> None:
    """The file goes before its row: what is killed in between can be removed again."""
    _require(actor, collection)
    row = collection.files.filter(name=printable(name)).first()
    if row is None:
        raise ServiceError(f"{name} is not in this collection any more.")
    uploads.remove(collection.public_id, row.name)
    row.delete()
    _changed(collection)


def _add_file(collection: Collection, sent: uploads.SentFile) -> tuple[str, bool]:
    """The name that the file is kept under, and whether it is a new one."""
    name = uploads.safe_name(sent.name)
    size = sent.size or 0
    uploads.check_size(name, size)
    _check_room(collection, size, _of_name(collection, name))
    draft = uploads.write_draft(uploads.folder_of(collection.public_id), sent)
    try:
        return name, _keep(collection, name, draft)
    finally:
        draft.drop()


@transaction.atomic
def _keep(collection: Collection, name: str, draft: uploads.Draft) -> bool:
    """Whether the name is a new one. A person's uploads take turns here: others may have come
    while this one was copied.
    """
    get_user_model()._default_manager.select_for_update(no_key=True).get(pk=collection.owner_id)
    old = _of_name(collection, name)
    same = collection.files.filter(sha256=draft.sha256).first()
    if same is not None:
        raise uploads.Refused(f"its content is here already, as {same.name}")
    _check_room(collection, draft.size, old)
    row = {"name": name, "size": draft.size, "sha256": draft.sha256}
    collection.files.update_or_create(
        name_key=name.casefold(), defaults={**row, "added_at": timezone.now()}
    )
    if old is not None and old.name != name:
        uploads.remove(collection.public_id, old.name)
    draft.keep(name)
    return old is None


def _of_name(collection: Collection, name: str) -> Document | None:
    return collection.files.filter(name_key=name.casefold()).first()


def _check_room(collection: Collection, size: int, old: Document | None) -> None:
    """Raises `Refused` where a file has no room; the one in whose place it comes makes some."""
    kept = Document.objects.filter(collection__owner=collection.owner_id)
    held = kept.filter(collection__deleted_at=None).aggregate(size=Sum("size"))["size"] or 0
    held -= old.size if old else 0
    if held + size > settings.UPLOADS_MAX_MB * uploads.MEGABYTE:
        raise uploads.Refused(f"your uploads hold {settings.UPLOADS_MAX_MB:,} MB at most")
    if old is None and collection.files.count() >= MOST_FILES:
        raise uploads.Refused(f"a collection holds {MOST_FILES:,} files at most")


# --- changing ----------------------------------------------------------------------------


def change(actor: AbstractUser, collection: Collection, name: str, *, shared: bool) -> None:
    """Rename it, and share it or not. Addresses of its documents keep the first name."""
    _require(actor, collection)
    try:
        with transaction.atomic():
            Collection.objects.filter(pk=collection.pk).update(name=_name(name), is_shared=shared)
    except IntegrityError:
        raise ServiceError(NAME_TAKEN) from None


def look_again(actor: AbstractUser, collection: Collection) -> None:
    """Have the index look for files that are new, changed or gone."""
    _require(actor, collection)
    _changed(collection)


def delete(actor: AbstractUser, collection: Collection) -> None:
    """It and its files are gone at once, its part of the index when the indexer comes by.

    Runs keep the copies that they cite.
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
        raise PermissionDenied("This collection belongs to somebody else.")


# --- for a question ----------------------------------------------------------------------


def chosen(actor: AbstractUser, public_ids: Iterable[str]) -> list[dict[str, str]]:
    """Id and name of the collections that a run is to search, as they are frozen in it."""
    found = visible_to(actor).filter(public_id__in=list(public_ids))
    return [{"id": row.public_id, "name": row.name} for row in found]
