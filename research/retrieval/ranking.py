"""Which documents answer a query best: BM25 over titles, whole pages and passages, fused.

A title says what a page is for, the page what it is about, and a passage that the query's
words stand together. Each of the three scores is divided by the best of its list, so that
no scale matters; their weighted sum is lowered for pages that are lists of links.
"""

from __future__ import annotations

import sqlite3
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate

from research.retrieval.terms import QueryTerms


@dataclass(frozen=True)
class Weights:
    """Found by trying on a hundred questions over two sets of documentation in one index.

    The field weights hardly matter (a term in a title is in the text, too, and BM25
    saturates); the shares of the three scores do.
    """

    title_share: float = 0.2
    page_share: float = 0.4
    passage_share: float = 0.7
    # How much the second and third best passage of a page add to its best.
    more_passages: float = 0.4
    # A page with less prose than `enough_prose` loses, down to `no_prose` of its score.
    enough_prose: float = 0.7
    no_prose: float = 0.5
    title: float = 6.0
    name: float = 2.0
    headings: float = 3.0
    passage_heading: float = 2.0
    extra: float = 0.7
    name_in_titles: float = 0.5
    candidates: int = 100
    # How many matches of terms in pages a query may cost, and how many when passages are
    # searched, each of which has several to a page; see `_telling`.
    matches: int = 25_000
    passage_matches: int = 15_000


@dataclass(frozen=True)
class Ranked:
    """A document with its score and its best passage, if one was found."""

    document_id: int
    score: float
    passage_id: int | None


Scores = dict[int, float]

_WITHIN = "d.collection_id IN (SELECT id FROM collections WHERE name IN ({marks}))"
_TITLES = f"""
SELECT d.id, -bm25(title_terms, 1, ?) AS score
FROM title_terms JOIN documents d ON d.id = title_terms.rowid
WHERE title_terms MATCH ? AND {_WITHIN} ORDER BY score DESC, d.url LIMIT ?
"""
_PAGES = f"""
SELECT d.id, -bm25(document_terms, ?, ?, ?, 1, ?) AS score
FROM document_terms JOIN documents d ON d.id = document_terms.rowid
WHERE document_terms MATCH ? AND {_WITHIN} ORDER BY score DESC, d.url LIMIT ?
"""
_PASSAGES = f"""
SELECT d.id, p.id AS passage, -bm25(passage_terms, ?, 1, ?) AS score
FROM passage_terms
JOIN passages p ON p.id = passage_terms.rowid
JOIN documents d ON d.id = p.document_id
WHERE passage_terms MATCH ? AND {_WITHIN} ORDER BY score DESC, d.url, p.start LIMIT ?
"""


def rank(
    connection: sqlite3.Connection,
    terms: QueryTerms,
    collections: Sequence[str],
    limit: int,
    weights: Weights,
) -> list[Ranked]:
    """The best documents of the named collections, best first, ties by address.

    Of documents with the same text only the first by address is given.
    """
    w = weights
    marks = ",".join("?" * len(collections))
    in_pages, in_passages = _telling(connection, terms, (w.matches, w.passage_matches))

    def rows(query: str, asked: str, *fields: float, candidates: int) -> list[sqlite3.Row]:
        parameters = (*fields, asked, *collections, candidates)
        return connection.execute(query.format(marks=marks), parameters).fetchall()

    titles = rows(_TITLES, in_pages, w.name_in_titles, candidates=w.candidates)
    pages = rows(_PAGES, in_pages, w.title, w.name, w.headings, w.extra, candidates=w.candidates)
    passages = rows(_PASSAGES, in_passages, w.passage_heading, w.extra, candidates=2 * w.candidates)
    sums: Scores = defaultdict(float)
    _add(sums, w.page_share, {row["id"]: row["score"] for row in pages})
    _add(sums, w.passage_share, _passage_scores(passages, w.more_passages))
    _add(sums, w.title_share, {row["id"]: row["score"] for row in titles if row["id"] in sums})
    best_passages = {row["id"]: row["passage"] for row in reversed(passages)}
    return [
        Ranked(document_id, score, best_passages.get(document_id))
        for document_id, score in _settled(connection, sums, weights)[:limit]
    ]


def match_expression(phrases: Iterable[str]) -> str:
    """The FTS5 query: every phrase a quoted string, any of them enough."""
    return " OR ".join(map(_quoted, phrases))


def _telling(connection: sqlite3.Connection, terms: QueryTerms, limits: Sequence[int]) -> list[str]:
    """For each limit the FTS5 query of the rarest phrases whose matches keep within it.

    BM25 has to look at every match, and those of the commonest words are many and weigh
    next to nothing. The rarest phrase is always asked for; an index of few pages never
    comes near a limit, and is asked for all.
    """
    phrases = [*terms.words, *terms.identifiers]
    (pages,) = connection.execute("SELECT coalesce(max(id), 0) FROM documents").fetchone()
    if pages * len(phrases) <= min(limits):
        return [match_expression(phrases)] * len(limits)
    counts = {phrase: _pages_with(connection, phrase) for phrase in phrases}
    phrases.sort(key=lambda phrase: counts[phrase])
    spent = list(accumulate(counts[phrase] for phrase in phrases))
    return [match_expression(phrases[: max(1, bisect_right(spent, limit))]) for limit in limits]


def _pages_with(connection: sqlite3.Connection, phrase: str) -> int:
    query = "SELECT count(*) FROM document_terms WHERE document_terms MATCH ?"
    (count,) = connection.execute(query, (_quoted(phrase),)).fetchone()
    return int(count)


def _quoted(phrase: str) -> str:
    return '"' + phrase.replace('"', '""') + '"'


def _passage_scores(passages: Iterable[sqlite3.Row], more: float) -> Scores:
    by_document: dict[int, list[float]] = defaultdict(list)
    for row in passages:
        by_document[row["id"]].append(row["score"])
    return {
        document: scores[0] + more * sum(scores[1:3]) for document, scores in by_document.items()
    }


def _add(sums: Scores, share: float, scores: Scores) -> None:
    best = max(scores.values(), default=0.0)
    for document, score in scores.items():
        sums[document] += share * score / best if best > 0 else 0.0


def _settled(
    connection: sqlite3.Connection, sums: Scores, weights: Weights
) -> list[tuple[int, float]]:
    """Sums lowered for want of prose, best first, without copies of the same text."""
    marks = ",".join("?" * len(sums))
    known = connection.execute(
        "SELECT d.id, d.url, d.text_id, t.prose FROM documents d JOIN texts t ON t.id = d.text_id"
        f" WHERE d.id IN ({marks})",
        list(sums),
    )
    scored = [(sums[row["id"]] * _prior(row["prose"], weights), row) for row in known]
    scored.sort(key=lambda pair: (-pair[0], pair[1]["url"]))
    firsts: dict[int, tuple[int, float]] = {}
    for score, row in scored:
        firsts.setdefault(row["text_id"], (row["id"], score))
    return list(firsts.values())


def _prior(prose_share: float, weights: Weights) -> float:
    reached = min(1.0, prose_share / weights.enough_prose)
    return weights.no_prose + (1 - weights.no_prose) * reached
