"""Uploaded files on disk: safe names, caps, streamed into the folder of their collection.

They lie under the state folder and are only ever read by the index: no page serves them.
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

from research.retrieval.extract import DOCX, PDF
from research.retrieval.folder import CONTENT_TYPES, MAX_FILE_BYTES, MAX_PACKED_BYTES

log = logging.getLogger(__name__)

NAME_BYTES = 200
MEGABYTE = 1024 * 1024
KINDS = "HTML, Markdown, text, PDF and Word (docx) files, and tables as csv or tsv, can be read"
OTHER_KINDS = {
    ".zip": "an archive is not unpacked; choose the files in it",
    ".doc": "the older Word format cannot be read; save it as docx",
}


class Refused(Exception):
    """A file that is not taken; the message is the reason, in words for the person."""


class SentFile(Protocol):
    """What is needed of one of Django's uploaded files."""

    name: str | None
    size: int | None

    def chunks(self, chunk_size: int | None = None) -> Iterator[bytes]: ...


@dataclass(frozen=True)
class Draft:
    """A file that is on disk under a name that no index sees, until it is kept or dropped."""

    path: Path
    size: int
    sha256: str

    def keep(self, name: str) -> None:
        """Give it its name, in the place of a file that has it."""
        os.replace(self.path, self.path.with_name(name))

    def drop(self) -> None:
        with suppress(FileNotFoundError):
            self.path.unlink()


def home() -> Path:
    return settings.STATE_DIR / "documents"


def folder_of(public_id: str) -> Path:
    """Where the files of a collection lie; it may not exist yet."""
    return home() / public_id


def printable(text: str) -> str:
    """Without signs that show nothing, some of which no database or file system keeps."""
    return "".join(filter(str.isprintable, text))


def safe_name(sent: str | None) -> str:
    """The name to keep a file under. Raises `Refused` for one that is none, or of a wrong kind."""
    base = (sent or "").replace("\\", "/").rpartition("/")[2]
    name = " ".join(printable(unicodedata.normalize("NFC", base)).split()).lstrip(".")
    suffix = PurePosixPath(name).suffix.lower()
    if not name or name == suffix:
        raise Refused("the file has no name")
    if suffix not in CONTENT_TYPES:
        raise Refused(OTHER_KINDS.get(suffix, f"only {KINDS}"))
    if max(len(name.encode()), len(name.casefold())) > NAME_BYTES:
        raise Refused("the name is too long")
    return name


def check_size(name: str, size: int) -> None:
    """Raises `Refused` for a file that is empty or larger than its kind may be."""
    if not size:
        raise Refused("the file is empty")
    most = most_bytes(name)
    if size > most:
        raise Refused(f"the file has {size / MEGABYTE:.0f} MB; {most // MEGABYTE} MB is the most")


def most_bytes(name: str) -> int:
    packed = CONTENT_TYPES[PurePosixPath(name).suffix.lower()] in (PDF, DOCX)
    return MAX_PACKED_BYTES if packed else MAX_FILE_BYTES


def write_draft(folder: Path, sent: SentFile) -> Draft:
    """Copy a file chunk by chunk. The names of drafts begin with a dot: no index takes them.

    Raises `Refused` where the disk does.
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


def remove(public_id: str, name: str) -> None:
    with suppress(FileNotFoundError):
        (folder_of(public_id) / name).unlink()


def remove_all(public_id: str) -> None:
    with suppress(FileNotFoundError):
        shutil.rmtree(folder_of(public_id))
