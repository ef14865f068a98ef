"""Full-text search of an index in PostgreSQL: BM25 over titles, leads, pages and passages.

PostgreSQL's `ts_rank` ignores the rarity of words, so scores are BM25 (the variant and constants of
FTS5), in two steps. The GIN index finds the rows of each word, and rows are ordered by the rarity
of their words. Vectors with word frequencies by field are read only for the best of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from research.documents.parse_document import ReadDocument, build_vectors
from research.fulltext.pg_lexemes import phrase_query, text_lexemes
from research.fulltext.query_terms import QueryTerms
from research.fulltext.ranking import Match, Matches, Weights, eligible_documents, rarest_phrases

_K1, _B = 1.2, 0.75
# How many times the wanted rows have their vectors read.
_READ_FOR_EACH = 2

_ADD_TITLE = """
INSERT INTO titles (document_id, collection_id, words, vector) VALUES (?, ?, ?, ?::tsvector)
"""
_ADD_LEAD = """
INSERT INTO leads (document_id, collection_id, words, vector) VALUES (?, ?, ?, ?::tsvector)
"""
_ADD_PAGE = """
INSERT INTO pages (document_id, collection_id, title_words, lead_words, passages, passage_words,
    words, vector)
VALUES (?, ?, ?, ?, ?, ?, ?, ?::tsvector)
"""
_ADD_PASSAGES = """
INSERT INTO passages (document_id, collection_id, starts, ends, words, vector)
SELECT ?, ?, starts, ends, words, vector::tsvector
FROM unnest(?::integer[], ?::integer[], ?::integer[], ?::text[]) WITH ORDINALITY
    AS passage (starts, ends, words, vector, number)
ORDER BY number
"""
_SIZES = """
SELECT count(*) AS pages, sum(words) AS page_words, sum(title_words) AS title_words,
    sum(lead_words) AS lead_words, sum(passages) AS passages, sum(passage_words) AS passage_words
FROM pages WHERE collection_id = ANY(?)
"""
_ASKED = "unnest(?::text[]) WITH ORDINALITY AS asked (query, number)"
_COUNTS = f"""
SELECT asked.number, (
    SELECT count(*) FROM (
        SELECT FROM {{table}} t
        WHERE t.vector @@ asked.query::tsquery AND t.collection_id = ANY(?) LIMIT ?
    ) AS counted
) AS rows FROM {_ASKED}
"""
# What a row holds is put together for the best rows alone: there are matches by the ten thousand.
_CANDIDATES = f"""
WITH matched AS MATERIALIZED (
    SELECT t.{{key}} AS key, t.words, asked.number
    FROM {_ASKED} JOIN {{table}} t ON t.vector @@ asked.query::tsquery
    WHERE t.collection_id = ANY(?)
), weighed AS MATERIALIZED (
    SELECT number, greatest(ln((? - count(*) + 0.5) / (count(*) + 0.5)), 1e-6)::float AS rarity
    FROM matched GROUP BY number
), best AS MATERIALIZED (
    SELECT key, sum(rarity) AS total FROM matched JOIN weighed USING (number)
    WHERE ?::bigint[] IS NULL OR key = ANY(?) GROUP BY key ORDER BY total DESC, key LIMIT ?
)
SELECT key, words, array_agg(number) AS numbers, array_agg(rarity) AS rarities
FROM best JOIN matched USING (key) JOIN weighed USING (number)
GROUP BY key, words, total ORDER BY total DESC, key
"""
_COUNTED = """
SELECT t.{key} AS key, t.document_id, entry.lexeme,
    cardinality(array_positions(entry.weights, 'A')) AS a,
    cardinality(array_positions(entry.weights, 'B')) AS b,
    cardinality(array_positions(entry.weights, 'C')) AS c,
    cardinality(array_positions(entry.weights, 'D')) AS d
FROM {table} t CROSS JOIN unnest(t.vector) AS entry
WHERE t.{key} = ANY(?) AND entry.lexeme = ANY(?)
"""


@dataclass(frozen=True)
class _Table:
    """A table to search, its key column, and the weight of a word in a field of each label.

    `rows` and `average` are the number of rows in the requested collections and their mean length.
    """

    name: str
    key: str
    fields: Mapping[str, float]
    rows: int
    average: float

    def statement(self, form: str) -> str:
        return form.format(table=self.name, key=self.key)


class TsVectors:
    """The `FullText` of PostgreSQL. What a document leaves goes with its row, by cascade."""

    def add(
        self,
        connection: Any,
        collection_id: int,
        document_id: int,
        path: str,
        read: ReadDocument,
    ) -> None:
        made = read.lexed or build_vectors(path, read)
        owner = (document_id, collection_id)
        connection.execute(_ADD_TITLE, (*owner, made.title.words, made.title.text))
        connection.execute(_ADD_LEAD, (*owner, made.lead.words, made.lead.text))
        passage_words = [vector.words for vector in made.passages]
        sizes = (made.title.words, made.lead.words, len(passage_words), sum(passage_words))
        connection.execute(_ADD_PAGE, (*owner, *sizes, made.page.words, made.page.text))
        passages = [indexed.passage for indexed in read.passages]
        connection.execute(
            _ADD_PASSAGES,
            (
                *owner,
                [passage.start for passage in passages],
                [passage.end for passage in passages],
                passage_words,
                [vector.text for vector in made.passages],
            ),
        )

    def forget(self, connection: Any, document_id: int) -> None:
        """Nothing to do: the rows refer to the document's."""

    def settle(self, connection: Any) -> None:
        """Sorts in what GIN keeps aside for later; every search has to read that through."""
        for table in ("titles", "leads", "pages", "passages"):
            connection.execute("SELECT gin_clean_pending_list(?)", (f"{table}_vector_idx",))

    def matches(
        self, connection: Any, terms: QueryTerms, collections: Sequence[str], weights: Weights
    ) -> Matches:
        w = weights
        asked_for = "SELECT id FROM collections WHERE name = ANY(?)"
        ids = [row["id"] for row in connection.execute(asked_for, (list(collections),))]
        titles, leads, pages, passages = _tables(connection, ids, w)
        counts = _counts(connection, pages, ids, terms.phrases, w)
        in_pages, in_passages = (
            rarest_phrases(counts, w.matches),
            rarest_phrases(counts, w.passage_matches),
        )
        best_pages = _best_rows(connection, pages, ids, in_pages, w.candidates)
        best_passages = _best_rows(connection, passages, ids, in_passages, 2 * w.candidates)
        documents = eligible_documents(best_pages, best_passages)
        return Matches(
            pages=best_pages,
            passages=best_passages,
            titles=_best_rows(connection, titles, ids, in_pages, len(documents), documents),
            leads=_best_rows(connection, leads, ids, in_pages, len(documents), documents),
            counts=counts,
        )


def _tables(connection: Any, collections: Sequence[int], weights: Weights) -> Sequence[_Table]:
    """Titles, leads, pages and passages."""
    w, size = weights, connection.execute(_SIZES, (collections,)).fetchone()
    pages, passages = size["pages"], size["passages"] or 0

    def table(
        name: str, key: str, rows: int, words: int | None, fields: Mapping[str, float]
    ) -> _Table:
        return _Table(name, key, fields, rows, (words or 0) / (rows or 1) or 1.0)

    in_title = {"a": 1.0, "c": w.name_in_titles}
    in_page = {"a": w.title, "b": w.headings, "c": w.name, "d": 1.0}
    in_passage = {"b": w.passage_heading, "d": 1.0}
    return (
        table("titles", "document_id", pages, size["title_words"], in_title),
        table("leads", "document_id", pages, size["lead_words"], {"d": 1.0}),
        table("pages", "document_id", pages, size["page_words"], in_page),
        table("passages", "id", passages, size["passage_words"], in_passage),
    )


def _counts(
    connection: Any,
    table: _Table,
    collections: Sequence[int],
    phrases: Sequence[str],
    weights: Weights,
) -> dict[str, int]:
    """Return the number of rows with each phrase, counted up to where it affects `telling`."""
    queries = [phrase_query(phrase) for phrase in phrases]
    most = 1 + max(weights.matches, weights.passage_matches)
    rows = connection.execute(table.statement(_COUNTS), (collections, most, queries))
    counted = {row["number"]: row["rows"] for row in rows}
    return {phrase: counted[number] for number, phrase in enumerate(phrases, 1)}


def _best_rows(
    connection: Any,
    table: _Table,
    collections: Sequence[int],
    phrases: Sequence[str],
    most: int,
    only: Sequence[int] | None = None,
) -> list[Match]:
    """Return the rows of the best score, best first, ties in the order in which they were added.

    `only` are the keys of the only rows that are wanted.
    """
    queries = [phrase_query(phrase) for phrase in phrases]
    candidates = connection.execute(
        table.statement(_CANDIDATES),
        (queries, collections, table.rows, only, only, _READ_FOR_EACH * most),
    ).fetchall()
    parts = [text_lexemes(phrase) for phrase in phrases]
    counted = _counted(connection, table, candidates, parts)
    matches = []
    for row in candidates:
        document_id, frequencies = counted[row["key"]]
        length = 1 - _B + _B * row["words"] / table.average
        score = 0.0
        for number, rarity in zip(row["numbers"], row["rarities"], strict=True):
            # A phrase stands in a text no more often than the rarest of its words.
            frequency = min(frequencies[part] for part in parts[number - 1])
            score += rarity * frequency * (_K1 + 1) / (frequency + _K1 * length)
        matches.append((score, row["key"], document_id))
    matches.sort(key=lambda match: (-match[0], match[1]))
    passages = table.key == "id"
    return [
        Match(document_id, score, key if passages else None)
        for score, key, document_id in matches[:most]
    ]


def _counted(
    connection: Any, table: _Table, candidates: Sequence[Any], parts: Sequence[Sequence[str]]
) -> dict[int, tuple[int, dict[str, float]]]:
    """Return for each row its document and weighted lexeme frequencies."""
    wanted = sorted({part for each in parts for part in each})
    rows = connection.execute(
        table.statement(_COUNTED), ([row["key"] for row in candidates], wanted)
    )
    counted: dict[int, tuple[int, dict[str, float]]] = {}
    for row in rows:
        _, frequencies = counted.setdefault(row["key"], (row["document_id"], {}))
        frequencies[row["lexeme"]] = sum(
            weight * row[label] for label, weight in table.fields.items()
        )
    return counted
