"""Backups: one private archive with the database, the uploaded files and the secret key.

Restoring checks everything before anything is changed.
"""

from __future__ import annotations

import hashlib
import json
import os
import tarfile
import tempfile
import zlib
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from io import BytesIO
from pathlib import Path, PurePosixPath
from typing import IO

from django.conf import settings
from django.core.management import call_command
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from django.db.models import F
from django.utils import timezone

from research.documents import uploads
from research.errors import PlumblineError
from research.models import Collection, Run
from research.operations.database_copies import (
    CopyError,
    StoredUpload,
    copy_database,
    load_database,
)
from research.runtime.private_files import SIDE_FILES, for_owner

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


DOCUMENTS = "documents"
INDEX = "documents.sqlite3"
DAMAGED = "{path} is no complete backup of Plumbline: {reason}."


def restore_backup(path: Path, *, replace: bool = False) -> Manifest:
    """Replace database, uploads and secret key by those of a backup, and apply newer migrations.

    Runs that were in progress can be claimed at once. Raise `BackupError`; nothing has been
    changed then, unless its message says so.
    """
    if not replace and Run.objects.exists():
        raise BackupError("This installation has runs; --replace deletes all that it has.")
    with tempfile.TemporaryDirectory(prefix=".restore-", dir=settings.STATE_DIR) as name:
        folder = Path(name)
        manifest = _unpack(path, folder)
        try:
            load_database(folder / DATABASE)
        except CopyError as failure:
            raise BackupError(str(failure)) from None
        connection.close()
        call_command("migrate", verbosity=0, interactive=False)
        _put_files(folder)
    _free_work()
    return manifest


def _unpack(path: Path, folder: Path) -> Manifest:
    """Extract the members that the manifest lists, each with the content that it says."""
    try:
        with tarfile.open(path, "r:gz") as tar:
            manifest = _read_manifest(tar)
            _check_suitable(manifest)
            _extract_members(tar, manifest, folder)
            return manifest
    except FileNotFoundError:
        raise BackupError(f"There is no file {path}.") from None
    except (tarfile.TarError, OSError, EOFError, zlib.error, KeyError, ValueError) as error:
        raise BackupError(DAMAGED.format(path=path, reason=error)) from None


def _read_manifest(tar: tarfile.TarFile) -> Manifest:
    first = tar.next()
    file = tar.extractfile(first) if first is not None and first.name == MANIFEST else None
    if file is None:
        raise ValueError("it doesn't begin with a manifest")
    described = json.loads(file.read())
    if not isinstance(described, dict) or "format" not in described:
        raise ValueError("its manifest cannot be read")
    if described["format"] != FORMAT:
        raise ValueError(f"format {described['format']} is unknown to this version")
    members = [Member(**member) for member in described.pop("members")]
    for member in members:
        _check_name(member.name)
    return Manifest(members=members, **described)


def _check_name(name: str) -> None:
    """Raise `ValueError` for a name that is not one of a backup, such as one outside of it."""
    parts = PurePosixPath(name).parts
    is_upload = len(parts) == 3 and parts[0] == DOCUMENTS and ".." not in parts
    if name not in (DATABASE, KEY) and not is_upload:
        raise ValueError(f"unexpected file {name!r}")


def _check_suitable(manifest: Manifest) -> None:
    if manifest.vendor != connection.vendor:
        raise BackupError(
            f"The backup is of a {manifest.vendor} database, and DATABASE_URL names one of "
            f"{connection.vendor}."
        )
    known = MigrationLoader(None).disk_migrations
    newer = set(manifest.migrations) - {f"{app}.{name}" for app, name in known}
    if newer:
        raise BackupError(f"The backup is of a newer version of Plumbline ({max(newer)}).")


def _extract_members(tar: tarfile.TarFile, manifest: Manifest, folder: Path) -> None:
    missing = {member.name: member for member in manifest.members}
    for header in tar:
        member = missing.pop(header.name, None)
        source = tar.extractfile(header) if header.isreg() else None
        if header.name == MANIFEST:
            continue
        if member is None or source is None:
            raise ValueError(f"unexpected file {header.name!r}")
        _extract(source, member, folder / member.name)
    if missing:
        raise ValueError(f"{min(missing)} is missing")


def _extract(source: IO[bytes], member: Member, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    digest = hashlib.sha256()
    with open(target, "wb", opener=for_owner) as file:
        for block in blocks_of(source):
            file.write(block)
            digest.update(block)
    if digest.hexdigest() != member.sha256:
        raise ValueError(f"{member.name} is damaged")


def _put_files(folder: Path) -> None:
    """Move the uploads and the key to where the settings expect them; drop the old index."""
    _put_uploads(folder / DOCUMENTS, folder / "previous")
    if (folder / KEY).exists():
        (folder / KEY).replace(settings.STATE_DIR / KEY)
    for ending in ("", *SIDE_FILES):  # the index of the previous documents; it is built again
        (settings.STATE_DIR / f"{INDEX}{ending}").unlink(missing_ok=True)


def _put_uploads(restored: Path, previous: Path) -> None:
    """Replace the uploads; a storage outside the state folder keeps those of other collections."""
    root = uploads.uploads_root()
    if root.exists():
        root.rename(previous)  # deleted together with the folder
    if not restored.exists():
        return
    if uploads.is_in_state_folder():
        restored.rename(root)
        return
    for path in sorted(restored.glob("*/*")):
        uploads.store_upload(path.parent.name, path.name, path)


def _free_work() -> None:
    """Release all leases, whose owners are elsewhere, and have all documents indexed again."""
    Run.objects.exclude(lease_until=None).update(
        lease_owner="", lease_until=None, lease_epoch=F("lease_epoch") + 1
    )
    Collection.objects.update(lease_owner="", lease_until=None, indexed_revision=0)
