"""Full-text search of an index in SQLite: FTS5's BM25 over titles, leads, pages and passages.

The full-text tables keep no copy of the text (`content=''`): a row is deleted from them by
giving its old values again, so `add` and `forget` must be exact mirrors.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from typing import Any

from research.documents.parse_document import ReadDocument, lead_words, name_words, passage_heading
from research.fulltext.query_terms import QueryTerms
from research.fulltext.ranking import Match, Matches, Weights, eligible_documents, rarest_phrases

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
