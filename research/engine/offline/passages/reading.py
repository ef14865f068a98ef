"""Reading without a model: the passages of some pages that may answer the sub-questions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from research.engine.evidence.quotes import quote_source
from research.engine.evidence.store import Finding
from research.engine.journal.model_calls import UNEXPECTED, contain_errors
from research.engine.offline.passages.complete_passages import Passage
from research.engine.offline.passages.passage_model import (
    RankedPassage,
    each_distinct,
    rank_passages,
)
from research.engine.offline.passages.passage_signs import AskedText, PassageRanking
from research.engine.ports import Page, ToolFailedError
from research.engine.records import Aspect
from research.engine.rounds.findings import Reading, claim_doubts
from research.engine.run import Run
from research.engine.text.offload import run_in_thread_if_long

KEPT = 10
"""Passages of one lot of pages that are kept for a sub-question."""
LEAST = 0.02
"""A passage with a lower probability than this is not kept."""


@dataclass(frozen=True)
class ScoredPassage:
    """A passage, its sub-question, and the probability (0-1) that it answers it.

    `claim` is the sentence with most words of the question, preceded by the term that it defines.
    """

    passage: Passage
    aspect_id: str
    score: float
    claim: str


def read_pages(
    pages: Sequence[Page],
    aspects: Sequence[Aspect],
    per_page: int,
    beside: Sequence[Page] = (),
) -> list[ScoredPassage]:
    """Return the best passages for each sub-question, in the order of the pages.

    They are ranked together with those of the pages `beside`, which were read before.
    """
    ranking = PassageRanking([*beside, *pages])
    order = {page.url: number for number, page in enumerate(pages)}
    found = [
        _score_passage(ranking, each, aspect, asked)
        for aspect in aspects
        for asked in [AskedText(aspect.text)]
        for each in _kept(rank_passages(ranking, asked), order, per_page)
    ]
    return sorted(found, key=lambda each: (order[each.passage.page.url], each.passage.slices))


def _kept(
    ranked: Sequence[RankedPassage], order: dict[str, int], per_page: int
) -> list[RankedPassage]:
    of_page: Counter[str] = Counter()
    kept: list[RankedPassage] = []
    new = (r for r in ranked if r.passage.page.url in order and r.probability >= LEAST)
    for each in each_distinct(new):
        url = each.passage.page.url
        if of_page[url] < per_page:
            of_page[url] += 1
            kept.append(each)
        if len(kept) == KEPT:
            break
    return kept


def _score_passage(
    ranking: PassageRanking, each: RankedPassage, aspect: Aspect, asked: AskedText
) -> ScoredPassage:
    weights = {term: ranking.rarity(term) for term in asked.terms}
    core = max(
        each.passage.lines,
        key=lambda line: sum(w for term, w in weights.items() if term in line.words),
    )
    score = round(each.probability, 4)
    label = each.passage.lines[0].label
    claim = core.sentence.text
    if label and label.casefold() not in claim.casefold():
        claim = f"{label}: {claim}"
    return ScoredPassage(each.passage, aspect.id, score, claim)


async def read_extractively(run: Run, pages: Sequence[Page], aspects: Sequence[Aspect]) -> Reading:
    """Return the passages that answer, looked for in a thread: of long pages that takes seconds.

    Raises `ToolFailedError` for an unexpected error.
    """
    if not pages:
        return Reading()
    per_page = run.config.max_evidence_claims_per_research_unit
    new = {page.url for page in pages}
    before = [page for page in run.ledger.pages.values() if page.url not in new]
    with contain_errors("reading", ToolFailedError(UNEXPECTED)):
        scored = await run_in_thread_if_long(
            [*before, *pages],
            read_pages,
            pages,
            aspects,
            per_page,
            before,
        )
    return Reading([_to_finding(item) for item in scored])


def _to_finding(item: ScoredPassage) -> Finding:
    """Return the passage as a finding: its slices as quotes, its best sentence as the claim."""
    passage = item.passage
    first, *others = (quote_source(passage.page, *each, passage.section) for each in passage.slices)
    return Finding(
        claim=item.claim,
        aspect_id=item.aspect_id,
        source=first,
        relevance=item.score,
        uncertainty=claim_doubts(item.claim),
        also=tuple(others),
    )
