"""Tests that take `place` run once over each database that can hold an index."""

import os
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import make_conninfo

from research.retrieval.index_postgres import SCHEMA, PostgresStore
from tests.retrieval.places import Place


@pytest.fixture(
    params=["sqlite", pytest.param("postgresql", marks=pytest.mark.services("postgresql"))]
)
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    """Opens the test's index in one database or the other: always the same one."""
    if request.param == "sqlite":
        return lambda: tmp_path / "state" / "documents.sqlite3"
    conninfo = request.getfixturevalue("empty_postgresql")
    return lambda: PostgresStore(conninfo)


@pytest.fixture
def where(place: Place) -> str:
    """The same place, as another process can be told."""
    opened = place()
    return opened.conninfo if isinstance(opened, PostgresStore) else str(opened)


@pytest.fixture
def empty_postgresql(postgresql: str) -> str:
    """A database without an index."""
    with psycopg.connect(postgresql, autocommit=True) as connection:
        connection.execute(f"DROP SCHEMA IF EXISTS {SCHEMA} CASCADE")
    return postgresql


@pytest.fixture(scope="session")
def postgresql(postgresql_url: str) -> Iterator[str]:
    """A database of this session's own."""
    name = f"plumbline_documents_{os.getpid()}"
    with psycopg.connect(postgresql_url, autocommit=True) as connection:
        connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        try:
            yield make_conninfo(postgresql_url, dbname=name)
        finally:
            connection.execute(
                sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name))
            )
