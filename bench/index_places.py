"""Storage of measured indexes: an SQLite file or a temporary PostgreSQL database.

The server is that of `TEST_DATABASE_URL`, as in the tests.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

import psycopg
from psycopg import sql
from psycopg.conninfo import make_conninfo

from research.fulltext.index import DocumentIndex
from research.fulltext.index_postgres import PostgresStore

Database = Literal["sqlite", "postgresql"]
SERVER = os.environ.get("TEST_DATABASE_URL", "postgresql://postgres@127.0.0.1:5432/postgres")


@contextmanager
def empty_index(database: Database) -> Iterator[DocumentIndex]:
    """Yield a temporary index."""
    with _postgresql() if database == "postgresql" else _sqlite() as index:
        try:
            yield index
        finally:
            index.close()


@contextmanager
def _sqlite() -> Iterator[DocumentIndex]:
    with tempfile.TemporaryDirectory() as state:
        yield DocumentIndex(Path(state) / "documents.sqlite3")


@contextmanager
def _postgresql() -> Iterator[DocumentIndex]:
    name = f"plumbline_bench_{os.getpid()}"
    with psycopg.connect(SERVER, autocommit=True) as connection:
        connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        try:
            yield DocumentIndex(PostgresStore(make_conninfo(SERVER, dbname=name)))
        finally:
            connection.execute(
                sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name))
            )
