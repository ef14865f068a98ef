"""Rank what search found by words by its meaning, too: embeddings of its best passages.

A passage may answer a question in other words. BM25 still chooses what is compared, so that only
the passages of a few documents need an embedding. It is made when a query first finds the passage
and is kept with it; one of another model is made anew.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain
from operator import mul
from typing import Protocol, TypeAlias

from research.errors import PlumblineError
from research.fulltext.index_queries import Found
from research.fulltext.index_store import Connection
from research.fulltext.ranking import Ranked, parts_last

Vector: TypeAlias = "array[float]"
"""An embedding: numbers of single precision, whose squares add up to 1."""

COMPARED, MEANING = 20, 0.75
"""Documents whose passages are compared with the meaning of a query, and what the nearest of them
gains, as a share of the best score.
"""


TOO_LATE = "the embedding server did not answer in time"


class EmbeddingFailedError(PlumblineError):
    """No embeddings were made; the message is a clause for users."""


class Embedder(Protocol):
    """A model that turns texts into vectors; its name tells them from those of other models."""

    @property
    def name(self) -> str: ...

    async def embed_queries(self, texts: Sequence[str]) -> list[Vector]: ...

    async def embed_passages(self, texts: Sequence[str]) -> list[Vector]: ...


def compared_passages(found: Found) -> list[int]:
    """Return the passages whose meaning is compared with that of the query or of a clause."""
    lists = (found.whole, *(documents for _, documents in found.clauses))
    passages = (each.passages for every in lists for each in every[:COMPARED])
    return list(dict.fromkeys(chain.from_iterable(passages)))


def stored_vectors(
    connection: Connection, model: str, passages: Sequence[int]
) -> tuple[dict[int, Vector], dict[int, str]]:
    """Return the vectors of passages by a model, and the titled texts of those that have none."""
    marks = ",".join("?" * len(passages))
    rows = connection.execute(
        "SELECT p.id, p.starts, p.ends, t.title, t.text, v.numbers FROM passages p"
        " JOIN documents d ON d.id = p.document_id JOIN texts t ON t.id = d.text_id"
        f" LEFT JOIN vectors v ON v.passage_id = p.id AND v.model = ? WHERE p.id IN ({marks})",
        (model, *passages),
    )
    vectors, texts = {}, {}
    for row in rows:
        if row["numbers"] is None:
            texts[row["id"]] = f"{row['title']}. {row['text'][row['starts'] : row['ends']]}"
        else:
            vectors[row["id"]] = array("f", bytes(row["numbers"]))
    return vectors, texts


def store_vectors(connection: Connection, model: str, vectors: Mapping[int, Vector]) -> None:
    """Keep the vectors of passages that are still there, in the place of another model's."""
    for passage, vector in vectors.items():
        connection.execute(
            "INSERT INTO vectors (passage_id, model, numbers) SELECT id, ?, ? FROM passages"
            " WHERE id = ? ON CONFLICT (passage_id)"
            " DO UPDATE SET model = excluded.model, numbers = excluded.numbers",
            (model, vector.tobytes(), passage),
        )


def asked_texts(found: Found) -> list[str]:
    """Return the query and its clauses, in the order in which `rank_by_meaning` takes vectors."""
    return [found.query, *(words for words, _ in found.clauses)]


def rank_by_meaning(
    found: Found, queries: Sequence[Vector], vectors: Mapping[int, Vector]
) -> Found:
    """Return the documents ranked by meaning, too; `vectors` are those of passages by id."""
    whole, *clauses = queries
    return replace(
        found,
        whole=by_meaning(found.whole, _similarities(found.whole, whole, vectors)),
        clauses=[
            (words, by_meaning(documents, _similarities(documents, query, vectors)))
            for (words, documents), query in zip(found.clauses, clauses, strict=True)
        ],
    )


def by_meaning(best: Sequence[Ranked], similarities: Mapping[int, float]) -> list[Ranked]:
    """Rerank the first `COMPARED` documents by BM25 score and similarity to the query.

    The cosines of some models are all between .7 and .9, so what counts is where between the least
    and the most similar of these documents each one lies. One without a similarity is the least.
    """
    compared = best[:COMPARED]
    if not similarities:
        return list(best)
    least, most = min(similarities.values()), max(similarities.values())

    def nearer(found: Ranked) -> Ranked:
        share = (similarities.get(found.document_id, least) - least) / ((most - least) or 1.0)
        return replace(found, score=found.score + MEANING * best[0].score * share)

    anew = sorted(map(nearer, compared), key=lambda found: -found.score)
    return parts_last([*anew, *best[COMPARED:]])


def _similarities(
    documents: Sequence[Ranked], query: Vector, vectors: Mapping[int, Vector]
) -> dict[int, float]:
    """Return the cosine of the query and the nearest passage, by the document's id."""
    found = {}
    for each in documents[:COMPARED]:
        known = (vectors[passage] for passage in each.passages if passage in vectors)
        cosines = [sum(map(mul, query, one)) for one in known if len(one) == len(query)]
        if cosines:
            found[each.document_id] = max(cosines)
    return found
