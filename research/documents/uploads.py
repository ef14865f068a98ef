"""Uploaded files: safe names, size limits, streamed into the installation's storage.

The storage is Django's, under the alias "uploads": by default the state folder, which the index
reads directly. Files of any other one are copied into the state folder for the index. No page
serves them.
"""

from __future__ import annotations

import hashlib
import logging
import os
import shutil
import unicodedata
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Protocol
from uuid import uuid4

from django.conf import settings
from django.core.files import File
from django.core.files.storage import FileSystemStorage, Storage, storages

from research.documents.folder import MAX_FILE_BYTES, MAX_PACKED_BYTES, content_type_of
from research.errors import PlumblineError
from research.fetch.sniffing import DOCX, PDF
from research.runtime.private_files import for_owner

log = logging.getLogger(__name__)

NAME_BYTES = 200
MEGABYTE = 1024 * 1024
KINDS = "HTML, Markdown, text, PDF and Word (docx) files, and tables as csv or tsv, can be read"
OTHER_KINDS = {
    ".zip": "an archive is not unpacked; choose the files in it",
    ".doc": "the older Word format cannot be read; save it as docx",
}


NOT_STORED = "the server could not store it; its log says why"


class RefusedUploadError(PlumblineError):
    """A rejected file; the message is the reason, in words for the user."""


class SentFile(Protocol):
    """The attributes used of one of Django's uploaded files."""

    name: str | None
    size: int | None

    def chunks(self, chunk_size: int | None = None) -> Iterator[bytes]: ...


class StateFolder(FileSystemStorage):
    """Files in the state folder, or below `location`; a file replaces one of its name at once."""

    def __init__(self, location: str | None = None) -> None:
        super().__init__(
            location,
            file_permissions_mode=0o600,
            directory_permissions_mode=0o700,
            allow_overwrite=True,
        )

    @property
    def base_location(self) -> str:
        return self._location or str(uploads_root())

    @property
    def location(self) -> str:
        return os.path.abspath(self.base_location)


class _OnDisk(File):
    """A file that a storage of the same disk may move instead of copying it."""

    def temporary_file_path(self) -> str:
        return str(self.name)


@dataclass(frozen=True)
class Draft:
    """A file on disk under a temporary name that the index ignores, until it is kept or dropped."""

    path: Path
    size: int
    sha256: str

    def keep(self, name: str) -> None:
        """Store the file under its final name; raise `RefusedUploadError` if that fails."""
        try:
            store_upload(self.path.parent.name, name, self.path)
        except Exception:  # each remote storage (UPLOADS_STORAGE) raises its own client's errors
            log.exception("an uploaded file cannot be stored")
            raise RefusedUploadError(NOT_STORED) from None

    def drop(self) -> None:
        with suppress(FileNotFoundError):
            self.path.unlink()


def uploads_root() -> Path:
    return settings.STATE_DIR / "documents"


def folder_of(public_id: str) -> Path:
    """Return the local folder of a collection's files; it may not exist yet."""
    return uploads_root() / public_id


def upload_storage() -> Storage:
    return storages["uploads"]


def is_in_state_folder() -> bool:
    """Return whether the storage is the state folder itself, so that no copy is needed."""
    storage = upload_storage()
    return isinstance(storage, FileSystemStorage) and Path(storage.location) == uploads_root()


def store_upload(public_id: str, name: str, path: Path) -> None:
    """Move or copy a file into the storage, replacing one of that name; raise its errors."""
    storage, wanted = upload_storage(), f"{public_id}/{name}"
    if not storage.is_name_available(wanted):
        storage.delete(wanted)
    with open(path, "rb") as file:
        stored = storage.save(wanted, _OnDisk(file, str(path)))
    if stored != wanted:
        storage.delete(stored)
        raise OSError(f"{wanted} was stored under another name: the storage must not rename files")


def open_upload(public_id: str, name: str) -> File:
    """Open a stored file for reading; raise `FileNotFoundError`."""
    return upload_storage().open(f"{public_id}/{name}", "rb")


def local_copy(public_id: str, files: Mapping[str, str]) -> Path:
    """Return the folder of a collection's files, by name and SHA-256, on this machine's disk.

    Files that are not as they should be are fetched from the storage; raise its errors.
    """
    folder = folder_of(public_id)
    if is_in_state_folder():
        return folder
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    for path in folder.iterdir():
        if path.name not in files and not path.name.startswith("."):
            path.unlink()
    for name, sha256 in files.items():
        if not _is_file(folder / name, sha256):
            _fetch(public_id, name, folder)
    return folder


def _is_file(path: Path, sha256: str) -> bool:
    try:
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest() == sha256
    except FileNotFoundError:
        return False


def _fetch(public_id: str, name: str, folder: Path) -> None:
    part = folder / f".draft-{uuid4().hex}"
    try:
        with open_upload(public_id, name) as source, open(part, "xb", opener=for_owner) as target:
            shutil.copyfileobj(source, target)
        part.replace(folder / name)
    finally:
        part.unlink(missing_ok=True)


def strip_unprintable(text: str) -> str:
    """Remove unprintable characters, some of which databases or file systems reject."""
    return "".join(filter(str.isprintable, text))


def safe_name(sent: str | None) -> str:
    """Return a safe file name.

    Raise `RefusedUploadError` if there is none, or if its kind is unsupported.
    """
    base = (sent or "").replace("\\", "/").rpartition("/")[2]
    name = " ".join(strip_unprintable(unicodedata.normalize("NFC", base)).split()).lstrip(".")
    suffix = PurePosixPath(name).suffix.lower()
    if not name or name == suffix:
        raise RefusedUploadError("the file has no name")
    if content_type_of(name) is None:
        raise RefusedUploadError(OTHER_KINDS.get(suffix, f"only {KINDS}"))
    if max(len(name.encode()), len(name.casefold())) > NAME_BYTES:
        raise RefusedUploadError("the name is too long")
    return name


def check_size(name: str, size: int) -> None:
    """Raise `RefusedUploadError` if a file is empty or exceeds the limit of its kind."""
    if not size:
        raise RefusedUploadError("the file is empty")
    most = most_bytes(name)
    if size > most:
        raise RefusedUploadError(
            f"the file has {size / MEGABYTE:.0f} MB; the maximum is {most // MEGABYTE} MB"
        )


def most_bytes(name: str) -> int:
    packed = content_type_of(name) in (PDF, DOCX)
    return MAX_PACKED_BYTES if packed else MAX_FILE_BYTES


def write_draft(folder: Path, sent: SentFile) -> Draft:
    """Copy a file chunk by chunk under a name with a leading dot, which the index ignores.

    Raise `RefusedUploadError` if it can't be stored.
    """
    path = folder / f".draft-{uuid4().hex}"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return _copy(sent, path)
    except OSError:
        log.exception("an uploaded file cannot be stored")
        with suppress(OSError):
            path.unlink()
        raise RefusedUploadError(NOT_STORED) from None


def _copy(sent: SentFile, path: Path) -> Draft:
    size, digest = 0, hashlib.sha256()
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        for chunk in sent.chunks():
            file.write(chunk)
            digest.update(chunk)
            size += len(chunk)
    return Draft(path, size, digest.hexdigest())


def remove_upload(public_id: str, name: str) -> None:
    upload_storage().delete(f"{public_id}/{name}")


def remove_all(public_id: str) -> None:
    """Delete a collection's files, and the copy of them on this machine."""
    if not is_in_state_folder():
        with suppress(FileNotFoundError):
            for name in upload_storage().listdir(public_id)[1]:
                remove_upload(public_id, name)
    with suppress(FileNotFoundError):
        shutil.rmtree(folder_of(public_id))
