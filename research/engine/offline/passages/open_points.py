"""Passages of the pages read that may tell a point which a report leaves open."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from research.engine.offline.passages.complete_passages import Passage
from research.engine.offline.passages.passage_model import (
    answer_probability,
    best_distinct,
    rank_passages,
)
from research.engine.offline.passages.passage_signs import AskedText, PassageRanking
from research.engine.ports import Page
from research.engine.text.relevance import page_relevance

MOST_PAGES, CLOSEST = 5, 5
"""Pages that are searched for each point, and passages that are returned."""
LEAST_TOLD = 0.1
"""Probability that the passages tell a point, by its own words, below which none is returned."""


def closest_passages(
    pages: Sequence[Page], points: Sequence[tuple[str, str]]
) -> list[list[Passage]]:
    """Return the passages closest to each point, which is given with its sub-question, best first:
    by its own words and by those of its sub-question with them. None where hardly one may tell it.
    """
    likely = {page.url for point in points for page in _likely_pages(pages, *point)}
    ranking = PassageRanking([page for page in pages if page.url in likely])
    return [_passages_on(ranking, *point) for point in points]


def _likely_pages(pages: Sequence[Page], point: str, sub_question: str) -> list[Page]:
    """Return the pages that are most relevant to a point; ranking all passages would take long."""
    wanted = f"{point} {sub_question}"
    worth = {page.url: page_relevance(wanted, page.title, page.text) for page in pages}
    return sorted(pages, key=lambda page: -worth[page.url])[:MOST_PAGES]


def _passages_on(ranking: PassageRanking, point: str, sub_question: str) -> list[Passage]:
    asked = AskedText(point)
    alone = rank_passages(ranking, asked)
    if answer_probability(asked, ranking, best_distinct(alone)) < LEAST_TOLD:
        return []
    within = rank_passages(ranking, AskedText(f"{point} {sub_question}"))
    both = {id(each.passage): each.probability for each in within}
    summed = [
        replace(each, probability=round(each.probability + both.get(id(each.passage), 0.0), 6))
        for each in alone
    ]
    best = sorted(summed, key=lambda each: -each.probability)
    return [each.passage for each in best_distinct(best, CLOSEST)]


def numbers_shown(passages: Sequence[Passage]) -> dict[str, frozenset[int]]:
    """Return the numbers of the sentences in some passages by the address of their page."""
    shown: dict[str, frozenset[int]] = {}
    for each in passages:
        numbers = frozenset(line.sentence.number for line in each.lines)
        shown[each.page.url] = shown.get(each.page.url, frozenset()) | numbers
    return shown
