"""Uploaded files on disk: safe names, size limits, streamed into their collection's folder.

They are stored in the state folder and read only by the index: no page serves them.
"""

from __future__ import annotations

import hashlib
import logging
import os
import shutil
import unicodedata
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Protocol
from uuid import uuid4

from django.conf import settings

from research.documents.folder import CONTENT_TYPES, MAX_FILE_BYTES, MAX_PACKED_BYTES
from research.errors import PlumblineError
from research.extract.extract import DOCX, PDF

log = logging.getLogger(__name__)

NAME_BYTES = 200
MEGABYTE = 1024 * 1024
KINDS = "HTML, Markdown, text, PDF and Word (docx) files, and tables as csv or tsv, can be read"
OTHER_KINDS = {
    ".zip": "an archive is not unpacked; choose the files in it",
    ".doc": "the older Word format cannot be read; save it as docx",
}


class Refused(PlumblineError):
    """A rejected file; the message is the reason, in words for the user."""


class SentFile(Protocol):
    """The attributes used of one of Django's uploaded files."""

    name: str | None
    size: int | None

    def chunks(self, chunk_size: int | None = None) -> Iterator[bytes]: ...


@dataclass(frozen=True)
class Draft:
    """A file on disk under a temporary name that the index ignores, until it is kept or dropped."""

    path: Path
    size: int
    sha256: str

    def keep(self, name: str) -> None:
        """Rename the file to its final name, replacing a file of that name."""
        os.replace(self.path, self.path.with_name(name))

    def drop(self) -> None:
        with suppress(FileNotFoundError):
            self.path.unlink()


def uploads_root() -> Path:
    return settings.STATE_DIR / "documents"


def folder_of(public_id: str) -> Path:
    """Return the folder of a collection's files; it may not exist yet."""
    return uploads_root() / public_id


def strip_unprintable(text: str) -> str:
    """Remove unprintable characters, some of which databases or file systems reject."""
    return "".join(filter(str.isprintable, text))


def safe_name(sent: str | None) -> str:
    """Return a safe file name; raise `Refused` if there is none or its kind is unsupported."""
    base = (sent or "").replace("\\", "/").rpartition("/")[2]
    name = " ".join(strip_unprintable(unicodedata.normalize("NFC", base)).split()).lstrip(".")
    suffix = PurePosixPath(name).suffix.lower()
    if not name or name == suffix:
        raise Refused("the file has no name")
    if suffix not in CONTENT_TYPES:
        raise Refused(OTHER_KINDS.get(suffix, f"only {KINDS}"))
    if max(len(name.encode()), len(name.casefold())) > NAME_BYTES:
        raise Refused("the name is too long")
    return name


def check_size(name: str, size: int) -> None:
    """Raise `Refused` if a file is empty or exceeds the limit of its kind."""
    if not size:
        raise Refused("the file is empty")
    most = most_bytes(name)
    if size > most:
        raise Refused(
            f"the file has {size / MEGABYTE:.0f} MB; the maximum is {most // MEGABYTE} MB"
        )


def most_bytes(name: str) -> int:
    packed = CONTENT_TYPES[PurePosixPath(name).suffix.lower()] in (PDF, DOCX)
    return MAX_PACKED_BYTES if packed else MAX_FILE_BYTES


def write_draft(folder: Path, sent: SentFile) -> Draft:
    """Copy a file chunk by chunk under a name with a leading dot, which the index ignores.

    Raise `Refused` if it can't be stored.
    """
    path = folder / f".draft-{uuid4().hex}"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return _copy(sent, path)
    except OSError:
        log.exception("an uploaded file cannot be stored")
        with suppress(OSError):
            path.unlink()
        raise Refused("the server could not store it; its log says why") from None


def _copy(sent: SentFile, path: Path) -> Draft:
    size, digest = 0, hashlib.sha256()
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        for chunk in sent.chunks():
            file.write(chunk)
            digest.update(chunk)
            size += len(chunk)
    return Draft(path, size, digest.hexdigest())


def remove_upload(public_id: str, name: str) -> None:
    with suppress(FileNotFoundError):
        (folder_of(public_id) / name).unlink()


def remove_all(public_id: str) -> None:
    with suppress(FileNotFoundError):
        shutil.rmtree(folder_of(public_id))
