"""Backups made while runs are in progress, and what is restored from them."""

from __future__ import annotations

import asyncio
import io
import json
import stat
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest
from django.contrib.auth.models import AbstractUser
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from pytest_django import Settings

from research.documents import uploads
from research.engine.loop import run_research
from research.models import Collection, JournalEntry, Run
from research.operations import backup, database_copies
from research.operations.backup import BackupError, restore_backup, write_backup
from research.services import documents, runs
from research.worker.leases import claim_run
from research.worker.run_executor import advance_run
from tests.engine.scripted import SIMPLE, World, harbour
from tests.research.killing import Killed, killed_at

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.subprocess]


@pytest.fixture(autouse=True)
def state(settings: Settings, tmp_path: Path) -> Path:
    settings.STATE_DIR = tmp_path / "state"
    settings.STATE_DIR.mkdir()
    (settings.STATE_DIR / "secret-key").write_text("k" * 50)
    return settings.STATE_DIR


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    return tmp_path / "backup.tar.gz"


@pytest.fixture
def mill(ada: AbstractUser) -> Collection:
    made = documents.create_collection(ada, "The mill")
    documents.add_files(ada, made, [SimpleUploadedFile("wheel.txt", b"The wheel turns.")])
    return made


def half_done(owner: AbstractUser, world: World) -> Run:
    """A run whose worker died at its third journal entry."""
    run = runs.ask_question(owner, SIMPLE.question, agreed=True)
    with pytest.raises(Killed):
        asyncio.run(advance_run(run.pk, lambda _: world.tools(), engine=killed_at(3, run_research)))
    return run


def answered() -> int:
    return JournalEntry.objects.filter(kind="model", status="done").count()


@pytest.mark.requirement("F8")
def test_a_run_completes_on_the_restored_copy_without_repeating_calls(
    ada: AbstractUser, archive: Path
) -> None:
    world = harbour(SIMPLE)
    assert world.model is not None
    run = half_done(ada, world)
    settled = set(JournalEntry.objects.exclude(status="pending").values_list("place", "pk"))
    before = answered()
    write_backup(archive)
    Run.objects.all().delete()
    asked = len(world.model.requests)
    restore_backup(archive)
    assert set(JournalEntry.objects.exclude(status="pending").values_list("place", "pk")) == settled
    assert claim_run(run.pk, "probe", -1) is not None  # free at once, and not counted as a crash
    assert Run.objects.get(pk=run.pk).crashes == 0
    assert asyncio.run(advance_run(run.pk, lambda _: world.tools())) == "done"
    run.refresh_from_db()
    assert run.status == "completed"
    assert len(world.model.requests) - asked == answered() - before > 0


def test_uploads_and_key_come_back_and_what_came_later_is_gone(
    ada: AbstractUser, mill: Collection, archive: Path, state: Path
) -> None:
    write_backup(archive)
    documents.remove_file(ada, mill, "wheel.txt")
    documents.add_files(ada, mill, [SimpleUploadedFile("stone.txt", b"The stone grinds.")])
    (state / "secret-key").write_text("other")
    (state / "documents.sqlite3").write_bytes(b"index of the documents that are replaced")
    restore_backup(archive)
    folder = uploads.folder_of(mill.public_id)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == {
        "wheel.txt": b"The wheel turns."
    }
    assert [row.name for row in mill.files.all()] == ["wheel.txt"]
    assert (state / "secret-key").read_text() == "k" * 50
    assert not (state / "documents.sqlite3").exists()
    assert Collection.objects.get().state == "waiting"
    assert sorted(path.name for path in state.iterdir()) == ["documents", "secret-key"]


def test_the_archive_is_private_and_appears_complete_under_a_free_name(
    mill: Collection, archive: Path, tmp_path: Path
) -> None:
    write_backup(archive)
    assert stat.S_IMODE(archive.stat().st_mode) == 0o600
    with pytest.raises(BackupError, match="exists already"):
        write_backup(archive)
    folder = tmp_path / "backups"
    folder.mkdir()
    write_backup(folder)
    [named] = folder.iterdir()
    assert named.name.startswith("plumbline-")


def test_an_upload_that_changes_meanwhile_starts_the_backup_again(
    ada: AbstractUser, mill: Collection, archive: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy, copies = database_copies.copy_database, []

    def then_replaced(path: Path) -> list[database_copies.StoredUpload]:
        found = copy(path)
        copies.append(found)
        if len(copies) == 1:
            changed = SimpleUploadedFile("wheel.txt", b"The wheel stopped.")
            documents.add_files(ada, mill, [changed])
        return found

    monkeypatch.setattr(backup, "copy_database", then_replaced)
    write_backup(archive)
    assert len(copies) == 2
    with tarfile.open(archive) as tar:
        file = tar.extractfile(f"documents/{mill.public_id}/wheel.txt")
        assert file is not None and file.read() == b"The wheel stopped."


def test_uploads_that_never_rest_are_an_error_and_leave_nothing_behind(
    mill: Collection, archive: Path, tmp_path: Path
) -> None:
    (uploads.folder_of(mill.public_id) / "wheel.txt").unlink()
    with pytest.raises(BackupError, match="Uploads changed"):
        write_backup(archive)
    assert [path.name for path in tmp_path.iterdir()] == ["state"]


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(BackupError, match="cannot be written: No such file"):
        write_backup(tmp_path / "none" / "backup.tar.gz")


def test_an_installation_with_runs_is_replaced_only_on_request(run: Run, archive: Path) -> None:
    write_backup(archive)
    Run.objects.update(question="A later question?")
    with pytest.raises(BackupError, match="--replace"):
        restore_backup(archive)
    assert Run.objects.get().question == "A later question?"
    restore_backup(archive, replace=True)
    assert Run.objects.get().question == run.question


# --- archives that are refused ---------------------------------------------------------------


def rewrite(archive: Path, change: Callable[[dict[str, bytes]], None]) -> None:
    with tarfile.open(archive) as tar:
        members = {each.name: tar.extractfile(each).read() for each in tar}  # type: ignore[union-attr]
    change(members)
    with tarfile.open(archive, "w:gz") as tar:
        for name, content in members.items():
            header = tarfile.TarInfo(name)
            header.size = len(content)
            tar.addfile(header, io.BytesIO(content))


def edit_manifest(**values: object) -> Callable[[dict[str, bytes]], None]:
    def change(members: dict[str, bytes]) -> None:
        manifest = json.loads(members["manifest.json"])
        members["manifest.json"] = json.dumps(manifest | values).encode()

    return change


def set_member(name: str, content: bytes) -> Callable[[dict[str, bytes]], None]:
    return lambda members: members.update({name: content})


OUTSIDE = [{"name": "documents/../../key", "size": 1, "sha256": ""}]
CHANGES = {
    "damaged": set_member("database", b"no database"),
    "unexpected file 'extra'": set_member("extra", b""),
    "database is missing": lambda members: members.pop("database"),
    "unexpected file 'documents/../../key'": edit_manifest(members=OUTSIDE),
    "newer version": edit_manifest(migrations=["research.9999_later"]),
    "format 99 is unknown": edit_manifest(format=99),
    "of a oracle database": edit_manifest(vendor="oracle"),
    "doesn't begin with a manifest": lambda members: members.pop("manifest.json"),
}


@pytest.mark.parametrize("reason", CHANGES)
def test_an_archive_that_was_changed_changes_nothing(
    reason: str, run: Run, mill: Collection, archive: Path
) -> None:
    write_backup(archive)
    rewrite(archive, CHANGES[reason])
    with pytest.raises(BackupError, match=reason):
        restore_backup(archive, replace=True)
    assert Run.objects.get() == run
    assert (uploads.folder_of(mill.public_id) / "wheel.txt").exists()


def test_an_archive_that_was_cut_off_changes_nothing(run: Run, archive: Path) -> None:
    write_backup(archive)
    archive.write_bytes(archive.read_bytes()[:-2000])
    with pytest.raises(BackupError, match="no complete backup"):
        restore_backup(archive, replace=True)
    assert Run.objects.get() == run


# --- the commands ----------------------------------------------------------------------------


def test_the_commands_write_and_restore(
    run: Run, archive: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    call_command("backup", str(archive))
    assert "Backed up 2 files, " in capsys.readouterr().out
    with pytest.raises(CommandError, match="This installation has runs"):
        call_command("restore", str(archive))
    call_command("restore", str(archive), "--replace")
    assert "Restored the backup of " in capsys.readouterr().out
    with pytest.raises(CommandError, match="There is no file"):
        call_command("restore", "/no/such/file", "--replace")
