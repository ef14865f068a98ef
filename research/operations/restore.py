"""Restores a backup: everything is checked before anything is changed."""

from __future__ import annotations

import hashlib
import json
import tarfile
import tempfile
import zlib
from pathlib import Path, PurePosixPath
from typing import IO

from django.conf import settings
from django.core.management import call_command
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.db.models import F

from research.documents import uploads
from research.models import Collection, Run
from research.operations.backup import (
    DATABASE,
    FORMAT,
    KEY,
    MANIFEST,
    BackupError,
    Manifest,
    Member,
    blocks_of,
)
from research.operations.database_copies import CopyError, load_database
from research.runtime.private_files import SIDE_FILES, for_owner

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
