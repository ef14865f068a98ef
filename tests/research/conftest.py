"""People, a database file that several threads can share, and indexes in each database."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth.models import AbstractUser
from psycopg import sql
from psycopg.conninfo import make_conninfo

from research.fulltext.index_postgres import SCHEMA, PostgresStore
from research.models import Run
from research.services import runs
from tests.support.database_file import use_database_file
from tests.support.retrieval.places import Place

use_database_file()


def _person(name: str, **more: bool) -> AbstractUser:
    return get_user_model()._default_manager.create_user(name, **more)


@pytest.fixture
def ada(db: None) -> AbstractUser:
    return _person("ada")


@pytest.fixture
def bob(db: None) -> AbstractUser:
    return _person("bob")


@pytest.fixture
def staff(db: None) -> AbstractUser:
    return _person("staff", is_staff=True, is_superuser=True)


@pytest.fixture
def run(ada: AbstractUser) -> Run:
    return runs.ask_question(ada, "How are eggs scrambled?", agreed=True)


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
