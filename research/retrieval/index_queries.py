"""Reading the index: hits of a query with their snippets, and stored documents by address."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import PurePosixPath
from typing import Any, cast

from research.engine.tools import SourceKind
from research.retrieval.index_store import Connection, FullText
from research.retrieval.ranking import Ranked, Weights, rank
from research.retrieval.snippets import snippet
from research.retrieval.terms import QueryTerms


@dataclass(frozen=True)
class IndexHit:
    """One document that answers a query, with the text of its best passage."""

    url: str
    title: str
    snippet: str
    score: float
    published: str | None


@dataclass(frozen=True)
class IndexedDocument:
    """A stored text with its address; `text_sha256` is the hash of the text in UTF-8."""

    url: str
    title: str
    text: str
    text_sha256: str
    content_type: str
    domain: str
    independence_key: str
    kind: SourceKind
    site: str
    published: str | None
    language: str | None
    indexed_at: datetime


def search(
    connection: Connection,
    full_text: FullText,
    terms: QueryTerms,
    collections: Sequence[str],
    limit: int,
    weights: Weights,
) -> list[IndexHit]:
    """The best documents of the named collections, best first."""
    matches = full_text.matches(connection, terms, collections, weights)
    ranked = rank(connection, matches, limit, weights)
    return [_hit(connection, found, terms) for found in ranked]


def document(
    connection: Connection, url: str, collections: Sequence[str]
) -> IndexedDocument | None:
    """The stored text at an address, if one of the named collections holds it."""
    marks = ",".join("?" * len(collections))
    row = connection.execute(
        "SELECT d.url, d.path, d.domain, d.independence_key, d.content_type, d.indexed_at,"
        " d.kind AS given_kind, t.title, t.text, t.text_sha256, t.site, t.published, t.language,"
        " t.kind FROM documents d JOIN texts t ON t.id = d.text_id"
        f" JOIN collections c ON c.id = d.collection_id WHERE d.url = ? AND c.name IN ({marks})",
        (url, *collections),
    ).fetchone()
    return _indexed(row) if row else None


def collections(connection: Connection) -> list[str]:
    """The names of all collections, in alphabetical order."""
    return [row["name"] for row in connection.execute("SELECT name FROM collections ORDER BY name")]


def _hit(connection: Connection, found: Ranked, terms: QueryTerms) -> IndexHit:
    row = connection.execute(
        "SELECT d.url, d.path, t.title, t.text, t.published FROM documents d"
        " JOIN texts t ON t.id = d.text_id WHERE d.id = ?",
        (found.document_id,),
    ).fetchone()
    return IndexHit(
        url=row["url"],
        title=_title(row),
        snippet=snippet(_passage(connection, found, row["text"]), terms),
        score=found.score,
        published=row["published"],
    )


def _passage(connection: Connection, found: Ranked, text: str) -> str:
    if found.passage_id is None:
        return text[:2000]
    passage = connection.execute(
        "SELECT starts, ends FROM passages WHERE id = ?", (found.passage_id,)
    ).fetchone()
    return text[passage["starts"] : passage["ends"]]


def _title(row: Any) -> str:
    return row["title"] or PurePosixPath(row["path"]).stem


def _indexed(row: Any) -> IndexedDocument:
    return IndexedDocument(
        url=row["url"],
        title=_title(row),
        text=row["text"],
        text_sha256=row["text_sha256"],
        content_type=row["content_type"],
        domain=row["domain"],
        independence_key=row["independence_key"],
        kind=cast(SourceKind, row["given_kind"] or row["kind"]),
        site=row["site"],
        published=row["published"],
        language=row["language"],
        indexed_at=datetime.fromisoformat(row["indexed_at"]),
    )
