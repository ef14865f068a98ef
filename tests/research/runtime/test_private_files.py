"""The state is for its owner only, whatever the umask and whoever made it."""

from __future__ import annotations

import os
import sqlite3
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from research.fulltext.index_sqlite import SqliteStore
from research.runtime.private_files import SIDE_FILES, make_private_database, make_private_folder


@pytest.fixture(autouse=True)
def open_umask() -> Iterator[None]:
    before = os.umask(0o000)
    yield
    os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_new_folder_is_private_and_an_old_one_becomes_so(tmp_path: Path) -> None:
    for folder in (tmp_path / "new", tmp_path / "old"):
        if folder.name == "old":
            folder.mkdir(0o755)
        make_private_folder(folder)
        assert mode(folder) == 0o700


def test_a_folder_that_everybody_shares_is_left_alone(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o1777)
    make_private_folder(shared)
    assert mode(shared) == 0o1777


@pytest.mark.parametrize("exists", [False, True])
def test_a_database_and_its_side_files_are_private(tmp_path: Path, exists: bool) -> None:
    path = tmp_path / "state.sqlite3"
    if exists:
        written(path).close()
        assert mode(path) == 0o644
    make_private_database(path)
    connection = written(path)
    files = [path, *(path.with_name(path.name + end) for end in SIDE_FILES)]
    there = [file for file in files if file.exists()]
    assert len(there) == 3
    assert {mode(file) for file in there} == {0o600}
    connection.close()


def test_open_side_files_are_closed_to_others(tmp_path: Path) -> None:
    path = tmp_path / "state.sqlite3"
    connection = written(path)
    make_private_database(path)
    assert {mode(file) for file in tmp_path.iterdir()} == {0o600}
    connection.close()


def test_the_index_of_documents_is_private(tmp_path: Path) -> None:
    path = tmp_path / "state" / "documents.sqlite3"
    store = SqliteStore(path)
    with store.snapshot() as connection:
        connection.execute("SELECT 1")
        assert {mode(file) for file in path.parent.iterdir()} == {0o600}
    store.close()


def test_without_a_folder_nothing_is_made(tmp_path: Path) -> None:
    make_private_database(tmp_path / "nowhere" / "state.sqlite3")
    assert not list(tmp_path.iterdir())


def written(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("CREATE TABLE IF NOT EXISTS one (id)")
    connection.execute("INSERT INTO one VALUES (1)")
    connection.commit()
    return connection
