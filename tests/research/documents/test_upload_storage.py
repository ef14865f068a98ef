"""Uploads in a storage outside the state folder, shared by machines with a folder each."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from django.contrib.auth.models import AbstractUser
from django.core.files.base import ContentFile
from django.core.files.storage import InMemoryStorage
from pytest_django import Settings

from config.environment import read_upload_storage
from research.documents import uploads
from research.documents.uploads import StateFolder
from research.models import Collection
from research.operations.backup import restore_backup, write_backup
from research.services import documents
from tests.research.collections import GRANARY, LEASE, filled, forget_index, index_all, sent

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.subprocess]

SHARED = "tests.research.documents.test_upload_storage.Bucket"


class Bucket(InMemoryStorage):
    """An object store as remote ones are: it has no paths, and never replaces a file by itself."""


@pytest.fixture(autouse=True)
def machine(settings: Settings, tmp_path: Path, transactional_db: None) -> Iterator[Path]:
    settings.STORAGES = {**settings.STORAGES, "uploads": {"BACKEND": SHARED}}
    settings.STATE_DIR = tmp_path / "state"
    settings.STATE_DIR.mkdir()
    yield settings.STATE_DIR
    forget_index()


def local(collection: Collection) -> dict[str, bytes]:
    files = dict(collection.files.values_list("name", "sha256"))
    folder = uploads.local_copy(collection.public_id, files)
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_what_one_machine_received_another_one_indexes(
    ada: AbstractUser, settings: Settings, tmp_path: Path
) -> None:
    mill = filled(ada, "The mill", lease__md=LEASE, granary__md=GRANARY)
    settings.STATE_DIR = tmp_path / "other machine"
    settings.STATE_DIR.mkdir()
    assert index_all() == 1
    assert Collection.objects.get(pk=mill.pk).documents == 2
    assert local(mill) == {"lease.md": LEASE.encode(), "granary.md": GRANARY.encode()}


def test_a_copy_follows_its_storage(ada: AbstractUser) -> None:
    mill = filled(ada, "The mill", lease__md=LEASE, granary__md=GRANARY)
    local(mill)
    documents.add_files(ada, mill, [sent("lease.md", "The rent is lower now.")])
    documents.remove_file(ada, mill, "granary.md")
    assert uploads.open_upload(mill.public_id, "lease.md").read() == b"The rent is lower now."
    assert local(mill) == {"lease.md": b"The rent is lower now."}
    damaged = uploads.folder_of(mill.public_id) / "lease.md"
    damaged.write_bytes(b"The rent")
    assert local(mill) == {"lease.md": b"The rent is lower now."}


def test_a_deleted_collection_leaves_nothing_in_the_storage(ada: AbstractUser) -> None:
    mill = filled(ada, "The mill", lease__md=LEASE)
    local(mill)
    documents.delete_collection(ada, mill)
    assert uploads.upload_storage().listdir(mill.public_id) == ([], [])
    assert not uploads.folder_of(mill.public_id).exists()


def test_a_file_that_the_storage_refuses_is_refused_and_leaves_no_row(
    ada: AbstractUser, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> str:
        raise ConnectionError("the bucket is away")

    mill = documents.create_collection(ada, "The mill")
    monkeypatch.setattr(Bucket, "_save", refuse)
    [refused] = documents.add_files(ada, mill, [sent("lease.md", LEASE)]).refused
    assert refused.reason == uploads.NOT_STORED
    assert not mill.files.exists()
    assert list(uploads.folder_of(mill.public_id).iterdir()) == []


def test_a_storage_that_renames_files_is_refused(
    ada: AbstractUser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Bucket, "get_available_name", lambda self, name, **_: f"{name}-1")
    mill = documents.create_collection(ada, "The mill")
    [refused] = documents.add_files(ada, mill, [sent("lease.md", LEASE)]).refused
    assert refused.reason == uploads.NOT_STORED
    assert not uploads.upload_storage().exists(f"{mill.public_id}/lease.md-1")


def test_a_backup_has_the_files_of_the_storage_and_brings_them_back(
    ada: AbstractUser, tmp_path: Path
) -> None:
    mill = filled(ada, "The mill", lease__md=LEASE)
    write_backup(tmp_path / "backup.tar.gz")
    documents.remove_file(ada, mill, "lease.md")
    restore_backup(tmp_path / "backup.tar.gz")
    assert uploads.open_upload(mill.public_id, "lease.md").read() == LEASE.encode()


def test_a_shared_folder_is_a_setting(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ada: AbstractUser
) -> None:
    shared = tmp_path / "shared"
    monkeypatch.setenv("UPLOADS_STORAGE_OPTIONS", f'{{"location": "{shared}"}}')
    settings.STORAGES = {**settings.STORAGES, "uploads": read_upload_storage()}
    mill = filled(ada, "The mill", lease__md=LEASE)
    documents.add_files(ada, mill, [sent("lease.md", GRANARY)])
    [stored] = shared.glob("*/*")
    assert stored.read_bytes() == GRANARY.encode()
    assert stored.stat().st_mode & 0o077 == stored.parent.stat().st_mode & 0o077 == 0
    assert local(mill) == {"lease.md": GRANARY.encode()}


def test_the_state_folder_needs_no_copy(settings: Settings, tmp_path: Path) -> None:
    settings.STORAGES = {**settings.STORAGES, "uploads": read_upload_storage()}
    assert uploads.is_in_state_folder()
    settings.STATE_DIR = tmp_path
    assert uploads.is_in_state_folder(), "it follows the setting"
    StateFolder().save("mill/lease.md", ContentFile(b"1"))
    assert (tmp_path / "documents" / "mill" / "lease.md").read_bytes() == b"1"
