"""Backups: one private archive with the database, the uploaded files and the secret key."""

from __future__ import annotations

import hashlib
import json
import os
import tarfile
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from io import BytesIO
from pathlib import Path
from typing import IO

from django.conf import settings
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder
from django.utils import timezone

from research.documents import uploads
from research.errors import PlumblineError
from research.operations.database_copies import CopyError, StoredUpload, copy_database
from research.runtime.private_files import for_owner

FORMAT = 1
MANIFEST = "manifest.json"
DATABASE = "database"
KEY = "secret-key"
TRIES = 3
COMPRESSION = 3
BLOCK = 1024 * 1024


class BackupError(PlumblineError):
    """A backup can't be made or restored; the message is a sentence for the operator."""


class _ChangedError(PlumblineError):
    """An upload was replaced or deleted after the database had been copied."""


@dataclass(frozen=True)
class Member:
    """A file of an archive."""

    name: str
    size: int
    sha256: str


@dataclass(frozen=True)
class Manifest:
    """What an archive contains, and which database its copy is of."""

    format: int
    vendor: str
    created_at: str
    migrations: list[str]
    members: list[Member]

    @property
    def total_bytes(self) -> int:
        return sum(member.size for member in self.members)


def default_name() -> str:
    return f"plumbline-{timezone.now():%Y%m%d-%H%M%S}.tar.gz"


def write_backup(target: Path) -> Manifest:
    """Write an archive to a new file, or into a folder, while Plumbline may be serving.

    Database and files are of one moment: if an upload changes in between, start again. The file
    appears under its name once it is complete and on disk. Raise `BackupError`.
    """
    try:
        return _write(target / default_name() if target.is_dir() else target)
    except CopyError as failure:
        raise BackupError(str(failure)) from None
    except OSError as error:
        raise BackupError(f"{target} cannot be written: {error.strerror or error}.") from None


def _write(target: Path) -> Manifest:
    if target.exists():
        raise BackupError(f"{target} exists already; choose another name.")
    with tempfile.TemporaryDirectory(prefix=".plumbline-backup-", dir=target.parent) as folder:
        for _ in range(TRIES):
            try:
                manifest = _archive(Path(folder))
            except _ChangedError:
                continue
            os.link(Path(folder) / "archive", target)  # unlike a rename, replaces nothing
            _sync_folder(target.parent)
            return manifest
    raise BackupError("Uploads changed during each of several attempts; try again later.")


def _archive(folder: Path) -> Manifest:
    """Write the archive into a private folder; raise `_ChangedError`."""
    copy = folder / DATABASE
    copy.unlink(missing_ok=True)
    files = copy_database(copy)
    key = settings.STATE_DIR / KEY
    members = [_member_of(DATABASE, copy)]
    members += [_member_of(KEY, key)] if key.exists() else []
    members += [Member(file.member, file.size, file.sha256) for file in files]
    now = timezone.now().isoformat(timespec="seconds")
    manifest = Manifest(FORMAT, connection.vendor, now, applied_migrations(), members)
    with open(folder / "archive", "wb", opener=for_owner) as raw:
        with tarfile.open(fileobj=raw, mode="w:gz", compresslevel=COMPRESSION) as tar:
            described = json.dumps(asdict(manifest)).encode()
            tar.addfile(_header(MANIFEST, len(described)), BytesIO(described))
            for name, path in ((DATABASE, copy), (KEY, key)):
                if path.exists():
                    _add_file(tar, name, path)
            for file in files:
                _add_upload(tar, file)
        raw.flush()
        os.fsync(raw.fileno())
    return manifest


def applied_migrations() -> list[str]:
    applied = MigrationRecorder(connection).applied_migrations()
    return sorted(f"{app}.{name}" for app, name in applied)


def _add_file(tar: tarfile.TarFile, name: str, path: Path) -> None:
    with open(path, "rb") as file:
        tar.addfile(_header(name, path.stat().st_size), file)


def _add_upload(tar: tarfile.TarFile, file: StoredUpload) -> None:
    """Add a file that still is as its row says."""
    try:
        with uploads.open_upload(file.collection, file.name) as source:
            digest = hashlib.sha256()
            for block in blocks_of(source):
                digest.update(block)
            if digest.hexdigest() != file.sha256:
                raise _ChangedError
            source.seek(0)
            tar.addfile(_header(file.member, file.size), source)
    except FileNotFoundError:
        raise _ChangedError from None


def _member_of(name: str, path: Path) -> Member:
    with open(path, "rb") as file:
        return Member(name, path.stat().st_size, hashlib.file_digest(file, "sha256").hexdigest())


def _header(name: str, size: int) -> tarfile.TarInfo:
    header = tarfile.TarInfo(name)
    header.size, header.mode = size, 0o600
    return header


def _sync_folder(folder: Path) -> None:
    """Make a new name durable."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def blocks_of(file: IO[bytes]) -> Iterator[bytes]:
    while block := file.read(BLOCK):
        yield block
