"""Consistent copies of the live database: SQLite's online backup, or `pg_dump` of one snapshot."""

from __future__ import annotations

import os
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from django.db import connection, transaction
from django.db.backends.postgresql.client import DatabaseClient

from research.errors import PlumblineError
from research.fulltext.index_postgres import SCHEMA as INDEX_SCHEMA

UPLOADS = """
SELECT c.public_id, d.name, d.size, d.sha256
FROM research_document d JOIN research_collection c ON c.id = d.collection_id
WHERE c.deleted_at IS NULL ORDER BY d.id
"""


class CopyError(PlumblineError):
    """The database can't be copied or restored; the message is a sentence for the operator."""


@dataclass(frozen=True)
class StoredUpload:
    """An uploaded file, as its row describes it."""

    collection: str
    name: str
    size: int
    sha256: str

    @property
    def member(self) -> str:
        """Return its path in a backup."""
        return f"documents/{self.collection}/{self.name}"


def copy_database(path: Path) -> list[StoredUpload]:
    """Write a copy of the database to `path` while others write to it.

    Return the uploads as of the same moment. Raise `CopyError`.
    """
    copied = _dump_postgresql(path) if connection.vendor == "postgresql" else _copy_sqlite(path)
    return [StoredUpload(*row) for row in copied]


def load_database(path: Path) -> None:
    """Replace the content of the database by a copy; raise `CopyError`, changing nothing."""
    if connection.vendor == "postgresql":
        _load_postgresql(path)
    else:
        _load_sqlite(path)


def _copy_sqlite(path: Path) -> list[tuple[str, str, int, str]]:
    connection.ensure_connection()
    with closing(sqlite3.connect(path)) as copy:
        connection.connection.backup(copy)
        return copy.execute(UPLOADS).fetchall()


def _load_sqlite(path: Path) -> None:
    """Copy through SQLite, which locks the database and keeps open connections valid."""
    connection.ensure_connection()
    with closing(sqlite3.connect(path)) as copy:
        if copy.execute("PRAGMA integrity_check").fetchone() != ("ok",):
            raise CopyError("The database in the backup is damaged.")
        copy.backup(connection.connection)


def _dump_postgresql(path: Path) -> list[tuple[str, str, int, str]]:
    """Dump one exported snapshot, from which the uploads are read, too.

    The index of documents is left out, since it is built again from the files.
    """
    with _snapshot() as name, connection.cursor() as cursor:
        cursor.execute(UPLOADS)
        uploads = cursor.fetchall()
        left_out = f"--exclude-schema={INDEX_SCHEMA}"
        options = (f"--snapshot={name}", left_out, "--format=custom", "--compress=0", "--no-owner")
        _run("pg_dump", *options, f"--file={path}")
    return uploads


def _load_postgresql(path: Path) -> None:
    """Drop all tables, which may be of a newer version, and restore, in one transaction."""
    with connection.cursor() as cursor:
        tables = connection.introspection.table_names(cursor)
    quote = connection.ops.quote_name
    dropping, restoring = path.with_suffix(".drop"), path.with_suffix(".sql")
    statements = [f"DROP TABLE {quote(table)} CASCADE;" for table in tables]
    statements.append(f"DROP SCHEMA IF EXISTS {quote(INDEX_SCHEMA)} CASCADE;")
    dropping.write_text("\n".join(["SET client_min_messages = warning;", *statements]))
    connection.close()
    _call("pg_restore", "--clean", "--if-exists", "--no-owner", f"--file={restoring}", str(path))
    files = (f"--file={dropping}", f"--file={restoring}")
    _run("psql", "--no-psqlrc", "--quiet", "--single-transaction", "-v", "ON_ERROR_STOP=1", *files)


@contextmanager
def _snapshot() -> Iterator[str]:
    """Export a snapshot that other connections can use until the end of the block."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        cursor.execute("SELECT pg_export_snapshot()")
        yield cursor.fetchone()[0]


def _run(program: str, *arguments: str) -> None:
    """Run a client program of PostgreSQL on the database of the settings."""
    (_, *where), variables = DatabaseClient.settings_to_cmd_args_env(connection.settings_dict, [])
    database = f"--dbname={where.pop()}"
    _call(program, *where, database, "--no-password", *arguments, **(variables or {}))


def _call(program: str, *arguments: str, **variables: str) -> None:
    try:
        done = subprocess.run(
            [program, *arguments], env={**os.environ, **variables}, capture_output=True, text=True
        )
    except FileNotFoundError:
        raise CopyError(
            f"{program} is not installed; it comes with PostgreSQL's client programs."
        ) from None
    if done.returncode:
        raise CopyError(f"{program} failed: {done.stderr.strip()}")
