"""A temporary database for the pages: PostgreSQL if a server is available, else SQLite."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import psycopg

from bench.dashboard.processes import started

SERVER = os.environ.get("TEST_DATABASE_URL", "postgresql://postgres@127.0.0.1:5432/postgres")
NAME = f"plumbline_bench_{os.getpid()}"
TIMES = 9
"""Repetitions per page."""


@dataclass(frozen=True)
class Filled:
    """Measurements over a filled database; `pages` are `bench.dashboard.pages.Opened`."""

    database: str
    runs: int
    evidence: int
    pages: list[dict[str, Any]]


def measure_pages(runs: int, times: int = TIMES) -> Filled:
    with tempfile.TemporaryDirectory() as home, empty_database(Path(home)) as (name, url):
        environment = {
            **os.environ,
            "PLUMBLINE_HOME": home,
            "DATABASE_URL": url,
            "DEEPRESEARCH_ENV_FILE": os.devnull,
        }
        options = ("--runs", runs, "--times", times)
        with started("bench.dashboard.pages", environment, *options) as process:
            return Filled(name, **process.hear())


@contextmanager
def empty_database(home: Path) -> Iterator[tuple[str, str]]:
    """Yield (kind of database, URL) of a temporary database."""
    try:
        connection = psycopg.connect(SERVER, autocommit=True, connect_timeout=3)
    except psycopg.OperationalError:
        yield "SQLite", f"sqlite:///{home / 'bench.sqlite3'}"
        return
    with connection:
        connection.execute(f'CREATE DATABASE "{NAME}"')
        try:
            yield "PostgreSQL", urlunsplit(urlsplit(SERVER)._replace(path=f"/{NAME}"))
        finally:
            connection.execute(f'DROP DATABASE "{NAME}" WITH (FORCE)')
