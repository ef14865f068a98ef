"""Rank documents for a query: BM25 over titles, leads, whole pages and passages, fused.

A title names a page, its lead (the first words) summarises it, the page is about its subject, and a
passage contains the query's words together. BM25 scores are added unchanged: the rarity of a word
among titles or leads expresses its importance there. The sum is lowered for pages that are lists of
links.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate, zip_longest
from typing import Any

from research.fulltext.entries import Kind
from research.fulltext.wording import Wording

KEPT_BEFORE_SIDES, KEPT_BEFORE_CLAUSES = 3, 2
OF_EACH_CLAUSE = 3
BEST_PASSAGES = 3
WORDED = 10
"""Documents whose passages are compared with the wording of a query."""
MOST_PARTS = 3
"""Parts of one file that are given before what other files have."""


@dataclass(frozen=True)
class Weights:
    """The shares were fitted to the 504 questions for tuning over two manuals in one index
    (`bench/questions/pages.jsonl`).

    The field weights hardly matter (a term in a title is in the text, too, and BM25
    saturates); the shares of the four scores do.
    """

    title_share: float = 0.3
    lead_share: float = 0.4
    page_share: float = 1.0
    passage_share: float = 0.8
    # How much the second and third best passage of a page add to its best.
    more_passages: float = 0.1
    # A page with less prose than `enough_prose` loses, down to `no_prose` of its score.
    enough_prose: float = 0.5
    no_prose: float = 0.7
    title: float = 6.0
    name: float = 2.0
    headings: float = 3.0
    passage_heading: float = 0.5
    extra: float = 0.7
    name_in_titles: float = 0.5
    # What a title, heading or term adds that the query says whole; the last part of a dotted
    # name adds `part` of that, an identifier `identifier_entry` times as much.
    entries: Mapping[Kind, float] = field(
        default_factory=lambda: {"title": 8.0, "heading": 6.0, "term": 8.0, "part": 0.5}
    )
    identifier_entry: float = 3.5
    candidates: int = 60
    # How many matches of terms in pages a query may cost, and how many when passages are
    # searched, each of which has several to a page; see `rarest_phrases`.
    matches: int = 10_000
    passage_matches: int = 6_000


@dataclass(frozen=True)
class Match:
    """A title, lead, page or passage that contains a term, with its BM25 score."""

    document_id: int
    score: float
    passage_id: int | None = None


@dataclass(frozen=True)
class Matches:
    """Matches in a database: the best pages and passages, each list best first, and the titles and
    leads of all their documents. `counts` is how many pages have each term.
    """

    pages: Sequence[Match]
    passages: Sequence[Match]
    titles: Sequence[Match]
    leads: Sequence[Match]
    counts: Mapping[str, int]


@dataclass(frozen=True)
class Ranked:
    """A document with its score, the file that it is a part of, and its best passages, best first,
    as far as some were found.
    """

    document_id: int
    score: float
    file: tuple[int, str]
    passages: tuple[int, ...] = ()


Scores = dict[int, float]


def rarest_phrases(counts: Mapping[str, int], limit: int) -> list[str]:
    """Return the rarest phrases whose matches keep within the limit, from how often each matches.

    BM25 has to look at every match, and those of the commonest words are many and weigh
    next to nothing. The rarest phrase is always asked for.
    """
    phrases = sorted(counts, key=lambda phrase: counts[phrase])
    spent = list(accumulate(counts[phrase] for phrase in phrases))
    return phrases[: max(1, bisect_right(spent, limit))]


def rank_documents(
    connection: Any, found: Matches, named: Mapping[int, float], weights: Weights
) -> list[Ranked]:
    """Return the documents, best first, ties by URL.

    `named` are the scores of documents with a title, heading or term that the query contains whole.
    Of documents with the same text only the first by URL is returned.
    """
    sums: Scores = defaultdict(float, named)
    for share, matches in (
        (weights.page_share, found.pages),
        (weights.title_share, found.titles),
        (weights.lead_share, found.leads),
    ):
        for match in matches:
            sums[match.document_id] += share * match.score
    best: dict[int, tuple[int, ...]] = {}
    for document_id, passages in _by_document(found.passages).items():
        passages = passages[:BEST_PASSAGES]
        best[document_id] = tuple(each.passage_id for each in passages if each.passage_id)
        scores = [passage.score for passage in passages]
        together = scores[0] + weights.more_passages * sum(scores[1:])
        sums[document_id] += weights.passage_share * together
    return [
        replace(settled, passages=best.get(settled.document_id, ()))
        for settled in _settled(connection, sums, weights)
    ]


def by_wording(
    best: Sequence[Ranked], wording: Wording, texts_of: Callable[[Ranked], Iterable[str]]
) -> list[Ranked]:
    """Rank the first `WORDED` documents anew by what their passages have of the wording, too.

    `texts_of` returns the texts of a document's best passages.
    """
    compared = [
        replace(found, score=found.score + wording.worth(texts_of(found)))
        for found in best[:WORDED]
    ]
    compared.sort(key=lambda found: -found.score)
    return [*compared, *best[WORDED:]]


def parts_last(best: Iterable[Ranked]) -> list[Ranked]:
    """Let parts of one file that go beyond `MOST_PARTS` follow all others."""
    parts: Counter[tuple[int, str]] = Counter()
    kept: list[Ranked] = []
    more: list[Ranked] = []
    for found in best:
        parts[found.file] += 1
        (kept if parts[found.file] <= MOST_PARTS else more).append(found)
    return kept + more


def with_sides(best: Sequence[Ranked], for_sides: Sequence[Ranked]) -> list[Ranked]:
    """Return the best documents of a query with the best one for each name in it.

    The first `KEPT_BEFORE_SIDES` keep their places: names that are asked about together are mostly
    on one page.
    """
    return _each_once((*best[:KEPT_BEFORE_SIDES], *for_sides, *best[KEPT_BEFORE_SIDES:]))


def with_clauses(best: Sequence[Ranked], by_clause: Sequence[Sequence[Ranked]]) -> list[Ranked]:
    """Return the best documents of a question, and behind the first `KEPT_BEFORE_CLAUSES` those of
    its clauses in turn: two subjects are seldom on one page.

    A document of a clause also counts for what it has of the whole question, because a clause
    alone doesn't say what "that setting" belongs to.
    """
    whole = {found.document_id: found.score / best[0].score for found in best}

    def ordered(clause: Sequence[Ranked]) -> list[Ranked]:
        return sorted(clause, key=lambda found: -_worth(found, clause[0], whole))

    in_turn = zip_longest(*(ordered(clause)[:OF_EACH_CLAUSE] for clause in by_clause))
    clauses = [found for row in in_turn for found in row if found is not None]
    kept = KEPT_BEFORE_CLAUSES
    return _each_once((*best[:kept], *clauses, *best[kept:]))


def _worth(found: Ranked, best: Ranked, whole: Mapping[int, float]) -> float:
    return found.score / best.score + whole.get(found.document_id, 0.0)


def _each_once(order: Iterable[Ranked]) -> list[Ranked]:
    first: dict[int, Ranked] = {}
    for found in order:
        first.setdefault(found.document_id, found)
    return list(first.values())


def eligible_documents(pages: Sequence[Match], passages: Sequence[Match]) -> list[int]:
    """Return the documents that may be given."""
    return sorted({match.document_id for match in (*pages, *passages)})


def _by_document(passages: Sequence[Match]) -> dict[int, list[Match]]:
    gathered: dict[int, list[Match]] = defaultdict(list)
    for match in passages:
        gathered[match.document_id].append(match)
    return gathered


def _settled(connection: Any, sums: Scores, weights: Weights) -> list[Ranked]:
    """Return the documents by their sums, lowered for pages without prose, best first, without
    copies of the same text.
    """
    if not sums:
        return []
    marks = ",".join("?" * len(sums))
    known = connection.execute(
        "SELECT d.id, d.url, d.text_id, d.collection_id, d.path, t.prose FROM documents d"
        f" JOIN texts t ON t.id = d.text_id WHERE d.id IN ({marks})",
        list(sums),
    )
    scored = [(sums[row["id"]] * _prior(row["prose"], weights), row) for row in known]
    scored.sort(key=lambda pair: (-pair[0], pair[1]["url"]))
    firsts: dict[int, Ranked] = {}
    for score, row in scored:
        file = row["collection_id"], row["path"]
        firsts.setdefault(row["text_id"], Ranked(row["id"], score, file))
    return list(firsts.values())


def _prior(prose_share: float, weights: Weights) -> float:
    reached = min(1.0, prose_share / weights.enough_prose)
    return weights.no_prose + (1 - weights.no_prose) * reached
