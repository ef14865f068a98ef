"""What an index of documents requires of its database.

Tables and statements for folders, documents and texts are the same in every database
(`index_rows.py`, `index_queries.py`, `meaning.py`); connections and full-text search
differ (`index_sqlite.py`, `index_postgres.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

from research.documents.parse_document import ReadDocument, Reading, ReadingTask
from research.fulltext.query_terms import QueryTerms
from research.fulltext.ranking import Matches, Weights


class Connection(Protocol):
    """One thread's way to the database: `?` is a parameter, rows are read by column names."""

    def execute(self, statement: str, parameters: Sequence[Any] = (), /) -> Any: ...


class FullText(Protocol):
    """Terms of documents, kept with their rows and searched with BM25."""

    def add(
        self, connection: Any, collection_id: int, document_id: int, path: str, read: ReadDocument
    ) -> None:
        """Passages and terms of a document whose row was just written."""

    def forget(self, connection: Any, document_id: int) -> None:
        """Remove the entries of a document; its row remains."""

    def settle(self, connection: Any) -> None:
        """Called after a refresh that changed something, for what is better done once."""

    def matches(
        self, connection: Any, terms: QueryTerms, collections: Sequence[str], weights: Weights
    ) -> Matches:
        """Return titles, leads, pages and passages that contain a term, each list best first."""


class IndexStore(Protocol):
    """A database with one index; usable from any thread until `close`."""

    @property
    def full_text(self) -> FullText: ...

    @property
    def errors(self) -> tuple[type[Exception], ...]:
        """Return the exceptions that a statement may raise."""

    @property
    def reader(self) -> Callable[[ReadingTask], Reading]:
        """Return the function that parses a file in a worker."""

    def snapshot(self) -> AbstractContextManager[Any]:
        """A connection that sees one state of the index, whatever others write."""

    def transaction(self) -> AbstractContextManager[Any]:
        """A connection that writes all or nothing, one writer after another."""

    def close(self) -> None:
        """Call when no other thread uses the store any more."""
