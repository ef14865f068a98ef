"""Fixtures for tests of whole runs; add this module to `pytest_plugins`."""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import psycopg
import pytest

from tests.support.installation import Installation
from tests.support.world import World, opened


@pytest.fixture
def world() -> Iterator[World]:
    with opened() as world:
        yield world


@pytest.fixture(scope="session")
def empty_state(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A state folder with a migrated database, to be copied: migrations take seconds.

    The processes of a test run share it; whichever needs it first creates it.
    """
    folder: Path = tmp_path_factory.getbasetemp()
    folder = folder.parent if "PYTEST_XDIST_WORKER" in os.environ else folder
    home, whole = folder / "empty" / "state", folder / "empty-is-whole"
    with (folder / "empty-lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not whole.exists():
            shutil.rmtree(home.parent, ignore_errors=True)
            home.parent.mkdir()
            Installation(home, {}).manage("migrate", "--verbosity", "0").check_returncode()
            whole.touch()
    return home


@pytest.fixture
def installation(world: World, bare_installation: Installation) -> Installation:
    """A separate installation that uses the simulated world."""
    bare_installation.settings = world.environment()
    return bare_installation


@pytest.fixture
def bare_installation(empty_state: Path, tmp_path: Path) -> Installation:
    """A separate installation with nothing configured."""
    return Installation(Path(shutil.copytree(empty_state, tmp_path / "state")), {})


@pytest.fixture
def postgresql_installation(
    world: World, postgresql_url: str, tmp_path: Path
) -> Iterator[Installation]:
    """As `installation`, with a temporary database on the PostgreSQL server."""
    name = f"plumbline_installation_{os.getpid()}"
    url = urlunsplit(urlsplit(postgresql_url)._replace(path=f"/{name}"))
    with psycopg.connect(postgresql_url, autocommit=True) as server:
        server.execute(f"CREATE DATABASE {name}")
        try:
            yield Installation(tmp_path / "state", {**world.environment(), "DATABASE_URL": url})
        finally:
            server.execute(f"DROP DATABASE {name} WITH (FORCE)")
