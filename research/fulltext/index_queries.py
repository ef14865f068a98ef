"""Reading the index: hits of a query with their snippets, and stored documents by address."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from itertools import islice
from pathlib import PurePosixPath
from typing import Any, cast

from research.engine.ports import SourceKind
from research.engine.text.tokens import split_clauses
from research.fulltext.entries import Asked, Entry, asked_keys, entry_scores
from research.fulltext.index_store import Connection, FullText
from research.fulltext.query_terms import QueryTerms, named_sides, query_terms
from research.fulltext.ranking import (
    Ranked,
    Weights,
    by_wording,
    parts_last,
    rank_documents,
    with_clauses,
    with_sides,
)
from research.fulltext.wording import Wording

MAX_CHARACTERS = 400
CLAUSE_DOCUMENTS = 30
"""Documents of a question and of each of its clauses that are compared."""

# "One sentence.", one line
_SENTENCE = re.compile(r"[^\n]*?(?:[.!?。！？](?=\s|$)|\n|$)")
# "## " of a heading, "- " of an item, "```sh" of code
_MARKUP = re.compile(r"^(?:#{1,6}\s+|[-*]\s+|```\w*)", re.MULTILINE)
_LISTED = """
FROM documents d JOIN texts t ON t.id = d.text_id JOIN collections c ON c.id = d.collection_id
WHERE c.name = ? AND d.part = 0
AND (lower(d.path) LIKE lower(?) ESCAPE '!' OR lower(t.title) LIKE lower(?) ESCAPE '!')
"""
# The plus keeps SQLite from going through all documents of the collections.
_ENTRIES = """
SELECT e.key, e.document_id, e.kind, e.words FROM entries e JOIN documents d ON d.id = e.document_id
WHERE e.key IN ({keys}) AND +d.collection_id IN (SELECT id FROM collections WHERE name IN ({names}))
"""


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


@dataclass(frozen=True)
class ListedDocument:
    """A document in a list of its collection; `path` is that of its file in the folder."""

    path: str
    title: str


@dataclass(frozen=True)
class Found:
    """Documents for a query and for each of its clauses, by their words, each list best first.

    `sides` are the best documents for names that are asked about together, where there are no
    clauses.
    """

    query: str
    whole: Sequence[Ranked]
    clauses: Sequence[tuple[str, Sequence[Ranked]]] = ()
    sides: Sequence[Ranked] = ()


def find_documents(
    connection: Connection,
    full_text: FullText,
    query: str,
    collections: Sequence[str],
    limit: int,
    weights: Weights,
) -> Found:
    """Return at least `limit` documents of the named collections, as far as there are; ties by
    address.
    """
    if not collections:
        return Found(query, ())

    def ranked(words: str, most: int) -> list[Ranked]:
        return _ranked(connection, full_text, words, collections, most, weights)

    clauses = split_clauses(query)
    best = ranked(query, max(limit, CLAUSE_DOCUMENTS))
    if clauses and best:
        of_clauses = [(clause, ranked(clause, CLAUSE_DOCUMENTS)) for clause in clauses]
        return Found(query, best, of_clauses)
    sides = [found for side in named_sides(query) for found in ranked(side, 1)]
    return Found(query, best, sides=sides)


def hits_of(connection: Connection, found: Found, limit: int) -> list[IndexHit]:
    """Return the best of the documents that are still there, best first, with their snippets."""
    if found.clauses:
        best = with_clauses(found.whole, [documents for _, documents in found.clauses])
    else:
        best = with_sides(found.whole, found.sides)
    terms = query_terms(found.query)
    hits = (_hit(connection, each, terms) for each in best)
    return list(islice((hit for hit in hits if hit), limit))


def _ranked(
    connection: Connection,
    full_text: FullText,
    query: str,
    collections: Sequence[str],
    limit: int,
    weights: Weights,
) -> list[Ranked]:
    terms = query_terms(query)
    if not terms:
        return []
    named = _named(connection, asked_keys(query), collections, weights)
    matches = full_text.matches(connection, terms, collections, weights)
    best = rank_documents(connection, matches, named, weights)
    wording = Wording.of(query, _rarity(connection, matches.counts))
    worded = by_wording(best, wording, partial(_passage_texts, connection))
    return parts_last(worded)[:limit]


def _rarity(connection: Connection, counts: Mapping[str, int]) -> dict[str, float]:
    """Return the rarity of terms from how many documents have each."""
    row = connection.execute("SELECT count(*) AS total FROM documents").fetchone()
    return {term: math.log(1 + row["total"] / (1 + count)) for term, count in counts.items()}


def _passage_texts(connection: Connection, found: Ranked) -> list[str]:
    """Return the texts of a document's best passages, best first."""
    if not found.passages:
        return []
    rows = connection.execute(
        "SELECT p.id, p.starts, p.ends, t.text FROM passages p"
        " JOIN documents d ON d.id = p.document_id JOIN texts t ON t.id = d.text_id"
        f" WHERE p.id IN ({_marks(found.passages)})",
        found.passages,
    )
    texts = {row["id"]: row["text"][row["starts"] : row["ends"]] for row in rows}
    return [texts[each] for each in found.passages]


def _named(
    connection: Connection, asked: Sequence[Asked], collections: Sequence[str], weights: Weights
) -> dict[int, float]:
    """Return scores of the documents whose title, heading or term the query contains whole."""
    keys = sorted({each.key for each in asked})
    rows = connection.execute(
        _ENTRIES.format(keys=_marks(keys), names=_marks(collections)), (*keys, *collections)
    )
    found: dict[str, dict[int, Entry]] = defaultdict(dict)
    for row in rows:
        found[row["key"]][row["document_id"]] = Entry(row["key"], row["kind"], row["words"])
    return entry_scores(asked, found, weights.entries, weights.identifier_entry)


def _marks(values: Sequence[object]) -> str:
    return ",".join("?" * len(values))


def find_document(
    connection: Connection, url: str, collections: Sequence[str]
) -> IndexedDocument | None:
    """Return the stored text at a URL, or None if none of the named collections has it."""
    marks = ",".join("?" * len(collections))
    row = connection.execute(
        "SELECT d.url, d.path, d.domain, d.independence_key, d.content_type, d.indexed_at,"
        " d.kind AS given_kind, t.title, t.text, t.text_sha256, t.site, t.published, t.language,"
        " t.kind FROM documents d JOIN texts t ON t.id = d.text_id"
        f" JOIN collections c ON c.id = d.collection_id WHERE d.url = ? AND c.name IN ({marks})",
        (url, *collections),
    ).fetchone()
    return _make_document(row) if row else None


def count_listed(connection: Connection, collection: str, text: str = "") -> int:
    """Return how many documents `list_documents` can list."""
    row = connection.execute(
        f"SELECT count(*) AS number {_LISTED}", (collection, *_named_like(text))
    ).fetchone()
    return int(row["number"])


def list_documents(
    connection: Connection, collection: str, text: str, start: int, most: int
) -> list[ListedDocument]:
    """Return documents of a collection whose path or title has the text, from the place `start`
    (from 0) in the order of their paths.
    """
    rows = connection.execute(
        f"SELECT d.path, t.title {_LISTED} ORDER BY d.path LIMIT ? OFFSET ?",
        (collection, *_named_like(text), most, start),
    )
    return [ListedDocument(row["path"], _title(row)) for row in rows]


def _named_like(text: str) -> tuple[str, str]:
    """Return the patterns of a path and of a title with the text; its signs mean themselves."""
    pattern = "%" + re.sub("[!%_]", r"!\g<0>", text) + "%"
    return pattern, pattern


def collection_names(connection: Connection) -> list[str]:
    """Return the names of all collections, in alphabetical order."""
    return [row["name"] for row in connection.execute("SELECT name FROM collections ORDER BY name")]


def _hit(connection: Connection, found: Ranked, terms: QueryTerms) -> IndexHit | None:
    row = connection.execute(
        "SELECT d.url, d.path, t.title, t.text, t.published FROM documents d"
        " JOIN texts t ON t.id = d.text_id WHERE d.id = ?",
        (found.document_id,),
    ).fetchone()
    if row is None:
        return None
    return IndexHit(
        url=row["url"],
        title=_title(row),
        snippet=snippet(_passage_text(connection, found, row["text"]), terms),
        score=found.score,
        published=row["published"],
    )


def _passage_text(connection: Connection, found: Ranked, text: str) -> str:
    passage = connection.execute(
        "SELECT starts, ends FROM passages WHERE id = ?", found.passages[:1] or (0,)
    ).fetchone()
    return text[passage["starts"] : passage["ends"]] if passage else text[:2000]


def _title(row: Any) -> str:
    return row["title"] or PurePosixPath(row["path"]).stem


def _make_document(row: Any) -> IndexedDocument:
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


def snippet(passage: str, terms: QueryTerms) -> str:
    """Return at most `MAX_CHARACTERS` of the passage, from its most relevant sentence on."""
    plain = _MARKUP.sub("", passage).strip()
    if len(" ".join(plain.split())) <= MAX_CHARACTERS:
        return " ".join(plain.split())
    sentences = [" ".join(found.split()) for found in _SENTENCE.findall(plain)]
    sentences = [sentence for sentence in sentences if sentence]
    stems = {_stem(word) for word in terms.words}
    windows = [_window(sentences, start) for start in range(len(sentences))]
    return max(windows, key=lambda text: _coverage(text, stems), default="")


def _window(sentences: list[str], start: int) -> str:
    text = sentences[start]
    for sentence in sentences[start + 1 :]:
        if len(text) + 1 + len(sentence) > MAX_CHARACTERS:
            break
        text = f"{text} {sentence}"
    return text if len(text) <= MAX_CHARACTERS else text[: MAX_CHARACTERS - 1].rstrip() + "…"


def _coverage(text: str, stems: set[str]) -> int:
    folded = text.casefold()
    return sum(stem in folded for stem in stems)


def _stem(word: str) -> str:
    """Return a prefix that most forms of an English word share."""
    return word[: max(4, len(word) - 3)]
