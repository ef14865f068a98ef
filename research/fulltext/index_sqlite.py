"""An index in an SQLite file: its tables, and one connection a thread."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from research.documents.folder import DocumentError
from research.documents.parse_document import read_document
from research.fulltext.fts5 import Fts5
from research.runtime.private_files import make_private_database

# Raised whenever tables, tokens or fields change: an older file is then built anew.
SCHEMA_VERSION = 5
_WAL_TRIES = 100

_TOKENS = "tokenize='porter unicode61 remove_diacritics 2'"
_SCHEMA = f"""
CREATE TABLE collections (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    folder TEXT NOT NULL UNIQUE
);
CREATE TABLE texts (
    id INTEGER PRIMARY KEY,
    sha256 TEXT NOT NULL,
    part INTEGER NOT NULL,
    content_type TEXT NOT NULL,
    extractor TEXT NOT NULL,
    title TEXT NOT NULL,
    text TEXT NOT NULL,
    text_sha256 TEXT NOT NULL,
    site TEXT NOT NULL,
    published TEXT,
    language TEXT,
    kind TEXT NOT NULL,
    headings TEXT NOT NULL,
    extra TEXT NOT NULL,
    prose REAL NOT NULL,
    UNIQUE (sha256, part, content_type, extractor)
);
CREATE TABLE documents (
    id INTEGER PRIMARY KEY,
    collection_id INTEGER NOT NULL REFERENCES collections ON DELETE CASCADE,
    path TEXT NOT NULL,
    part INTEGER NOT NULL,
    url TEXT NOT NULL,
    domain TEXT NOT NULL,
    independence_key TEXT NOT NULL,
    kind TEXT,
    content_type TEXT NOT NULL,
    size INTEGER NOT NULL,
    mtime_ns INTEGER NOT NULL,
    extractor TEXT NOT NULL,
    sha256 TEXT NOT NULL,
    text_id INTEGER REFERENCES texts,
    reason TEXT,
    indexed_at TEXT NOT NULL,
    UNIQUE (collection_id, path, part)
);
CREATE INDEX documents_by_url ON documents (url);
CREATE INDEX documents_by_text ON documents (text_id);
CREATE TABLE passages (
    id INTEGER PRIMARY KEY,
    document_id INTEGER NOT NULL REFERENCES documents ON DELETE CASCADE,
    heading TEXT NOT NULL,
    starts INTEGER NOT NULL,
    ends INTEGER NOT NULL,
    extra TEXT NOT NULL
);
CREATE INDEX passages_by_document ON passages (document_id);
CREATE TABLE entries (
    key TEXT NOT NULL,
    document_id INTEGER NOT NULL REFERENCES documents ON DELETE CASCADE,
    kind TEXT NOT NULL,
    PRIMARY KEY (key, document_id)
) WITHOUT ROWID;
CREATE INDEX entries_by_document ON entries (document_id);
CREATE VIRTUAL TABLE title_terms USING fts5(title, name, content='', {_TOKENS});
CREATE VIRTUAL TABLE lead_terms USING fts5(lead, content='', {_TOKENS});
CREATE VIRTUAL TABLE document_terms USING fts5(title, name, headings, body, extra,
    content='', {_TOKENS});
CREATE VIRTUAL TABLE passage_terms USING fts5(heading, body, extra, content='', {_TOKENS});
PRAGMA user_version = {SCHEMA_VERSION};
"""
_TABLES = (
    *("title_terms", "lead_terms", "document_terms", "passage_terms"),
    *("entries", "passages", "documents", "texts", "collections"),
)


class SqliteStore:
    """Connections to one file."""

    full_text = Fts5()
    errors = (sqlite3.Error,)
    reader = staticmethod(read_document)

    def __init__(self, path: Path) -> None:
        self.path = path
        self._local = threading.local()
        self._connections: list[sqlite3.Connection] = []
        self._lock = threading.Lock()

    @contextmanager
    def snapshot(self) -> Iterator[sqlite3.Connection]:
        with self._within("BEGIN") as connection:
            yield connection

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Yield the lock is taken at the start, so that no reader becomes a writer."""
        with self._within("BEGIN IMMEDIATE") as connection:
            yield connection

    def close(self) -> None:
        with self._lock:
            for connection in self._connections:
                connection.close()
            self._connections.clear()
            self._local = threading.local()

    @contextmanager
    def _within(self, begin: str) -> Iterator[sqlite3.Connection]:
        connection = self._connection()
        connection.execute(begin)
        try:
            yield connection
        except BaseException:
            connection.execute("ROLLBACK")
            raise
        connection.execute("COMMIT")

    def _connection(self) -> sqlite3.Connection:
        """This thread's connection; the first one makes the tables."""
        connection: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if connection is None:
            connection = self._local.connection = self._open()
        return connection

    def _open(self) -> sqlite3.Connection:
        with self._lock:
            try:
                connection = self._connect()
            except (OSError, sqlite3.Error):
                raise DocumentError("The index of the documents cannot be opened.") from None
            self._connections.append(connection)
            return connection

    def _connect(self) -> sqlite3.Connection:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        make_private_database(self.path)
        connection = sqlite3.connect(
            self.path, timeout=30, isolation_level=None, check_same_thread=False
        )
        try:
            connection.row_factory = sqlite3.Row
            _use_wal(connection)
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute("PRAGMA foreign_keys = ON")
            connection.execute("PRAGMA cache_size = -16000")
            _migrate(connection)
        except BaseException:
            connection.close()
            raise
        return connection


def _use_wal(connection: sqlite3.Connection) -> None:
    """Switches to WAL; SQLite's own timeout does not cover two processes that do so at once."""
    for _ in range(_WAL_TRIES):
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY:
                raise
            time.sleep(0.05)
    raise sqlite3.OperationalError("database is locked")


def _migrate(connection: sqlite3.Connection) -> None:
    if _version(connection) == SCHEMA_VERSION:
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        if _version(connection) != SCHEMA_VERSION:  # another process may have been first
            for table in _TABLES:
                connection.execute(f"DROP TABLE IF EXISTS {table}")
            for statement in _SCHEMA.split(";\n"):
                connection.execute(statement)
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def _version(connection: sqlite3.Connection) -> int:
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    return int(version)
