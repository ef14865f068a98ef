"""An index in an SQLite file: its tables, and one connection a thread.

Full-text search is FTS5's BM25 over titles, leads, pages and passages. Its tables keep no copy of
the text (`content=''`): a row is deleted from them by giving its old values again, so `add` and
`forget` must be exact mirrors.
"""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from research.documents.folder import DocumentError
from research.documents.parse_document import (
    ReadDocument,
    lead_words,
    name_words,
    passage_heading,
    read_document,
)
from research.fulltext.query_terms import QueryTerms
from research.fulltext.ranking import Match, Matches, Weights, eligible_documents, rarest_phrases
from research.runtime.private_files import make_private_database

_WITHIN = "d.collection_id IN (SELECT id FROM collections WHERE name IN ({marks}))"
_TITLES = """
SELECT rowid AS id, NULL AS passage, -bm25(title_terms, 1, ?) AS score
FROM title_terms WHERE title_terms MATCH ? AND +rowid IN ({marks})
"""
_LEADS = """
SELECT rowid AS id, NULL AS passage, -bm25(lead_terms) AS score
FROM lead_terms WHERE lead_terms MATCH ? AND +rowid IN ({marks})
"""
_PAGES = f"""
SELECT d.id, NULL AS passage, -bm25(document_terms, ?, ?, ?, 1, ?) AS score
FROM document_terms JOIN documents d ON d.id = document_terms.rowid
WHERE document_terms MATCH ? AND {_WITHIN} ORDER BY score DESC, d.url LIMIT ?
"""
_PASSAGES = f"""
SELECT d.id, p.id AS passage, -bm25(passage_terms, ?, 1, ?) AS score
FROM passage_terms
JOIN passages p ON p.id = passage_terms.rowid
JOIN documents d ON d.id = p.document_id
WHERE passage_terms MATCH ? AND {_WITHIN} ORDER BY score DESC, d.url, p.starts LIMIT ?
"""


class Fts5:
    """The `FullText` of SQLite."""

    def add(
        self,
        connection: sqlite3.Connection,
        collection_id: int,
        document_id: int,
        path: str,
        read: ReadDocument,
    ) -> None:
        extracted = read.extracted
        fields = (extracted.title, name_words(path), read.headings, extracted.text, read.extra)
        connection.execute(
            "INSERT INTO title_terms (rowid, title, name) VALUES (?, ?, ?)",
            (document_id, *fields[:2]),
        )
        connection.execute(
            "INSERT INTO lead_terms (rowid, lead) VALUES (?, ?)",
            (document_id, lead_words(extracted.text)),
        )
        connection.execute(
            "INSERT INTO document_terms (rowid, title, name, headings, body, extra)"
            " VALUES (?, ?, ?, ?, ?, ?)",
            (document_id, *fields),
        )
        for indexed in read.passages:
            passage = indexed.passage
            cursor = connection.execute(
                "INSERT INTO passages (document_id, heading, starts, ends, extra)"
                " VALUES (?, ?, ?, ?, ?)",
                (document_id, passage.heading, passage.start, passage.end, indexed.extra),
            )
            connection.execute(
                "INSERT INTO passage_terms (rowid, heading, body, extra) VALUES (?, ?, ?, ?)",
                (
                    cursor.lastrowid,
                    passage_heading(extracted.title, passage.heading),
                    extracted.text[passage.start : passage.end],
                    indexed.extra,
                ),
            )

    def forget(self, connection: sqlite3.Connection, document_id: int) -> None:
        row = connection.execute(
            "SELECT d.path, t.title, t.headings, t.text, t.extra FROM documents d"
            " JOIN texts t ON t.id = d.text_id WHERE d.id = ?",
            (document_id,),
        ).fetchone()
        if row is None:
            return
        title, name, text = row["title"], name_words(row["path"]), row["text"]
        connection.execute(
            "INSERT INTO title_terms (title_terms, rowid, title, name) VALUES ('delete', ?, ?, ?)",
            (document_id, title, name),
        )
        connection.execute(
            "INSERT INTO lead_terms (lead_terms, rowid, lead) VALUES ('delete', ?, ?)",
            (document_id, lead_words(text)),
        )
        connection.execute(
            "INSERT INTO document_terms (document_terms, rowid, title, name, headings, body,"
            " extra) VALUES ('delete', ?, ?, ?, ?, ?, ?)",
            (document_id, title, name, row["headings"], text, row["extra"]),
        )
        passages = connection.execute(
            "SELECT id, heading, starts, ends, extra FROM passages WHERE document_id = ?",
            (document_id,),
        ).fetchall()
        connection.executemany(
            "INSERT INTO passage_terms (passage_terms, rowid, heading, body, extra)"
            " VALUES ('delete', ?, ?, ?, ?)",
            [
                (
                    passage["id"],
                    passage_heading(title, passage["heading"]),
                    text[passage["starts"] : passage["ends"]],
                    passage["extra"],
                )
                for passage in passages
            ],
        )

    def settle(self, connection: sqlite3.Connection) -> None:
        """Nothing to do: FTS5 merges as it goes."""

    def matches(
        self,
        connection: sqlite3.Connection,
        terms: QueryTerms,
        collections: Sequence[str],
        weights: Weights,
    ) -> Matches:
        w = weights
        counts = {phrase: _pages_with(connection, phrase) for phrase in terms.phrases}
        in_pages, in_passages = (
            match_expression(rarest_phrases(counts, limit))
            for limit in (w.matches, w.passage_matches)
        )

        def found(query: str, where: Sequence[Any], *given: Any) -> list[Match]:
            marks = ",".join("?" * len(where))
            rows = connection.execute(query.format(marks=marks), given)
            return [Match(row["id"], row["score"], row["passage"]) for row in rows]

        of_page = (w.title, w.name, w.headings, w.extra)
        pages = found(_PAGES, collections, *of_page, in_pages, *collections, w.candidates)
        of_passage = (w.passage_heading, w.extra)
        passages = found(
            *(_PASSAGES, collections, *of_passage),
            *(in_passages, *collections, 2 * w.candidates),
        )
        documents = eligible_documents(pages, passages)
        return Matches(
            pages=pages,
            passages=passages,
            titles=found(_TITLES, documents, w.name_in_titles, in_pages, *documents),
            leads=found(_LEADS, documents, in_pages, *documents),
            counts=counts,
        )


def match_expression(phrases: Iterable[str]) -> str:
    """The FTS5 query: every phrase a quoted string, any of them enough."""
    return " OR ".join(map(_quote_phrase, phrases))


def _pages_with(connection: sqlite3.Connection, phrase: str) -> int:
    query = "SELECT count(*) FROM document_terms WHERE document_terms MATCH ?"
    (count,) = connection.execute(query, (_quote_phrase(phrase),)).fetchone()
    return int(count)


def _quote_phrase(phrase: str) -> str:
    return '"' + phrase.replace('"', '""') + '"'


# Raised whenever tables, tokens or fields change: an older file is then built anew.
SCHEMA_VERSION = 7
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
CREATE TABLE vectors (
    passage_id INTEGER PRIMARY KEY REFERENCES passages ON DELETE CASCADE,
    model TEXT NOT NULL,
    numbers BLOB NOT NULL
);
CREATE TABLE entries (
    key TEXT NOT NULL,
    document_id INTEGER NOT NULL REFERENCES documents ON DELETE CASCADE,
    kind TEXT NOT NULL,
    words INTEGER NOT NULL,
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
    *("entries", "vectors", "passages", "documents", "texts", "collections"),
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
