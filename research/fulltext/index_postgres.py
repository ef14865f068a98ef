"""An index in a PostgreSQL database, in a separate schema next to the application's tables.

Any number of machines share it: a folder is identified by its path, and writers take turns. The
schema is created on first use and rebuilt when its version changes, because the index can always be
read from the folders again.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import psycopg
from psycopg.rows import dict_row

from research.documents.folder import DocumentError
from research.documents.parse_document import read_lexed_document
from research.fulltext.tsvectors import TsVectors

# Raised whenever tables, tokens or fields change: an older index is then built anew.
SCHEMA_VERSION = 6
SCHEMA = "plumbline_documents"
# Any number that no one else uses for a lock in this database.
_WRITER_LOCK = 0x706C756D_64
_LOCK_SECONDS = 30
_CONNECT_SECONDS = 10

# `toast_tuple_target` keeps vectors out of the rows, which are visited by the ten thousand.
_TERMS = """
    words integer NOT NULL,
    vector tsvector NOT NULL
) WITH (toast_tuple_target = 128)
"""
_MADE = f"""
CREATE TABLE collections (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text COLLATE "C" NOT NULL UNIQUE,
    folder text COLLATE "C" NOT NULL UNIQUE
);
CREATE TABLE texts (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    sha256 text NOT NULL,
    part integer NOT NULL,
    content_type text NOT NULL,
    extractor text NOT NULL,
    title text NOT NULL,
    text text NOT NULL,
    text_sha256 text NOT NULL,
    site text NOT NULL,
    published text,
    language text,
    kind text NOT NULL,
    headings text NOT NULL,
    extra text NOT NULL,
    prose double precision NOT NULL,
    UNIQUE (sha256, part, content_type, extractor)
);
CREATE TABLE documents (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    collection_id bigint NOT NULL REFERENCES collections ON DELETE CASCADE,
    path text COLLATE "C" NOT NULL,
    part integer NOT NULL,
    url text COLLATE "C" NOT NULL,
    domain text NOT NULL,
    independence_key text NOT NULL,
    kind text,
    content_type text NOT NULL,
    size bigint NOT NULL,
    mtime_ns bigint NOT NULL,
    extractor text NOT NULL,
    sha256 text NOT NULL,
    text_id bigint REFERENCES texts,
    reason text,
    indexed_at text NOT NULL,
    UNIQUE (collection_id, path, part)
);
CREATE INDEX ON documents USING hash (url);
CREATE INDEX ON documents (text_id);
CREATE TABLE titles (
    document_id bigint PRIMARY KEY REFERENCES documents ON DELETE CASCADE,
    collection_id bigint NOT NULL,{_TERMS};
CREATE TABLE leads (
    document_id bigint PRIMARY KEY REFERENCES documents ON DELETE CASCADE,
    collection_id bigint NOT NULL,{_TERMS};
CREATE TABLE pages (
    document_id bigint PRIMARY KEY REFERENCES documents ON DELETE CASCADE,
    collection_id bigint NOT NULL,
    title_words integer NOT NULL,
    lead_words integer NOT NULL,
    passages integer NOT NULL,
    passage_words integer NOT NULL,{_TERMS};
CREATE TABLE passages (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    document_id bigint NOT NULL REFERENCES documents ON DELETE CASCADE,
    collection_id bigint NOT NULL,
    starts integer NOT NULL,
    ends integer NOT NULL,{_TERMS};
CREATE INDEX ON passages (document_id);
CREATE TABLE vectors (
    passage_id bigint PRIMARY KEY REFERENCES passages ON DELETE CASCADE,
    model text NOT NULL,
    numbers bytea NOT NULL
);
CREATE TABLE entries (
    key text COLLATE "C" NOT NULL,
    document_id bigint NOT NULL REFERENCES documents ON DELETE CASCADE,
    kind text NOT NULL,
    words integer NOT NULL,
    PRIMARY KEY (key, document_id)
);
CREATE INDEX ON entries (document_id);
ALTER TABLE titles ALTER vector SET STORAGE EXTERNAL;
ALTER TABLE leads ALTER vector SET STORAGE EXTERNAL;
ALTER TABLE pages ALTER vector SET STORAGE EXTERNAL;
ALTER TABLE passages ALTER vector SET STORAGE EXTERNAL;
CREATE INDEX ON titles USING gin (vector);
CREATE INDEX ON leads USING gin (vector);
CREATE INDEX ON pages USING gin (vector);
CREATE INDEX ON passages USING gin (vector);
CREATE TABLE version AS SELECT {SCHEMA_VERSION} AS version;
"""
_TABLES = "titles, leads, pages, vectors, passages, entries, documents, texts, collections, version"

# The planner takes a look into every vector for cheap, which it is not, and a row by its key for
# dear, and would compile a statement for longer than it runs. Set anew in each transaction, which
# is all that a pool of connections keeps together.
_SEARCHING = f"""
SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY;
SET LOCAL search_path TO {SCHEMA};
SET LOCAL enable_seqscan TO off;
SET LOCAL jit TO off;
SET LOCAL random_page_cost TO 1.1;
SET LOCAL work_mem TO '32MB'
"""
_WRITING = f"""
SET LOCAL search_path TO {SCHEMA};
SET LOCAL lock_timeout TO '{_LOCK_SECONDS}s';
SELECT pg_advisory_xact_lock({_WRITER_LOCK})
"""


class PostgresStore:
    """Connections to one database, one a thread."""

    full_text = TsVectors()
    errors = (psycopg.Error,)
    reader = staticmethod(read_lexed_document)

    def __init__(self, conninfo: str) -> None:
        """`conninfo` is an address or a list of settings, as libpq takes both."""
        self.conninfo = conninfo
        self._local = threading.local()
        self._connections: list[psycopg.Connection[Any]] = []
        self._lock = threading.Lock()
        self._made = False

    @contextmanager
    def snapshot(self) -> Iterator[_Connection]:
        with self._begun(_SEARCHING) as connection:
            yield connection

    @contextmanager
    def transaction(self) -> Iterator[_Connection]:
        """Writers take turns across all processes, as they do with an SQLite file."""
        with self._begun(_WRITING) as connection:
            yield connection

    def close(self) -> None:
        with self._lock:
            for connection in self._connections:
                connection.close()
            self._connections.clear()
            self._local = threading.local()

    @contextmanager
    def _begun(self, first: str) -> Iterator[_Connection]:
        connection = self._connection()
        try:
            connection.execute("SELECT 1")
        except psycopg.OperationalError:  # the server was started anew since the last use
            connection = self._connection()
        with connection.transaction():
            connection.execute(first)
            yield _Connection(connection)

    def _connection(self) -> psycopg.Connection[Any]:
        """Return this thread's connection, a new one if the server closed it."""
        connection: psycopg.Connection[Any] | None = getattr(self._local, "connection", None)
        if connection is None or connection.closed:
            connection = self._local.connection = self._open()
        return connection

    def _open(self) -> psycopg.Connection[Any]:
        with self._lock:
            try:
                connection = psycopg.connect(
                    self.conninfo,
                    autocommit=True,
                    row_factory=dict_row,
                    prepare_threshold=None,
                    connect_timeout=_CONNECT_SECONDS,
                )
                if not self._made:
                    _migrate(connection)
                    self._made = True
            except psycopg.Error as error:
                raise DocumentError("The index of the documents cannot be opened.") from error
            self._connections = [open for open in self._connections if not open.closed]
            self._connections.append(connection)
            return connection


class _Connection:
    """A connection that accepts the statements shared with SQLite: `?` marks a parameter."""

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        self._connection = connection

    def execute(self, statement: str, parameters: Sequence[Any] = ()) -> psycopg.Cursor[Any]:
        return self._connection.execute(statement.replace("?", "%s"), parameters)


def _migrate(connection: psycopg.Connection[Any]) -> None:
    with connection.transaction():
        connection.execute(f"SELECT pg_advisory_xact_lock({_WRITER_LOCK})")
        connection.execute(f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}")
        connection.execute(f"SET LOCAL search_path TO {SCHEMA}")
        if _version(connection) != SCHEMA_VERSION:
            connection.execute(f"DROP TABLE IF EXISTS {_TABLES}")
            connection.execute(_MADE)


def _version(connection: psycopg.Connection[Any]) -> int | None:
    found = connection.execute("SELECT to_regclass('version') AS made").fetchone()
    if found is None or found["made"] is None:
        return None
    row = connection.execute("SELECT version FROM version").fetchone()
    return int(row["version"]) if row else None
