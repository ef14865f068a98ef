"""Bringing the database to the present schema, at once from two machines."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import psycopg
import pytest

pytestmark = pytest.mark.subprocess

ROOT = Path(__file__).resolve().parents[3]
MIGRATE = """
import os, sys
os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
import django
django.setup()
from research.runtime.schema import migrate_database
print("ready", flush=True)
sys.stdin.readline()
migrate_database()
"""


@pytest.fixture
def empty_database(postgresql_url: str) -> Iterator[str]:
    name = f"plumbline_empty_{os.getpid()}"
    with psycopg.connect(postgresql_url, autocommit=True) as server:
        server.execute(f"CREATE DATABASE {name}")
        try:
            yield urlunsplit(urlsplit(postgresql_url)._replace(path=f"/{name}"))
        finally:
            server.execute(f"DROP DATABASE {name} WITH (FORCE)")


def machine(home: Path, database: str) -> subprocess.Popen[str]:
    """It shares the database and no file with others, and migrates when it is told to."""
    return subprocess.Popen(
        [sys.executable, "-c", MIGRATE],
        env={**os.environ, "DATABASE_URL": database, "PLUMBLINE_HOME": str(home)},
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.requirement("F8")
@pytest.mark.services("postgresql")
def test_machines_that_start_at_once_on_an_empty_database_take_turns(
    empty_database: str, tmp_path: Path
) -> None:
    machines = [machine(tmp_path / str(number), empty_database) for number in range(3)]
    for each in machines:
        assert each.stdout is not None and each.stdout.readline() == "ready\n"
    for each in machines:
        assert each.stdin is not None
        each.stdin.write("\n")
        each.stdin.flush()
    for each in machines:
        _, told = each.communicate(timeout=300)
        assert (each.returncode, told) == (0, "")
    with psycopg.connect(empty_database) as database:
        [[twice]] = database.execute(
            "SELECT count(*) - count(DISTINCT (app, name)) FROM django_migrations"
        ).fetchall()
    assert twice == 0
