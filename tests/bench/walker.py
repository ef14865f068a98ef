"""A reference reader: follows leads with nothing but the search, the pages and the grammar."""

from __future__ import annotations

from collections.abc import Iterable

from bench.world.facts import Page, Question
from bench.world.grammar import Statement, parse
from bench.world.search import Ranking
from bench.world.wants import needs
from tests.bench.prompts import sentences_of

ROUNDS, RESULTS = 8, 8


def walk(ranking: Ranking, question: Question) -> tuple[set[Statement], int]:
    """All facts that it met, and in how many rounds of searches."""
    known: set[Statement] = set()
    searched: list[str] = []
    for rounds in range(ROUNDS):
        wants = needs([question.text], sorted(known, key=str)).wants
        fresh = [query for want in wants if (query := want.query(searched)) not in searched]
        if not fresh:
            return known, rounds
        searched += fresh
        for query in fresh:
            known |= read(page for _, page in ranking.best(query, RESULTS))
    return known, ROUNDS


def read(pages: Iterable[Page]) -> set[Statement]:
    found: set[Statement] = set()
    for page in pages:
        if page.readable:
            found |= {s for text in sentences_of(page) if (s := parse(text))}
    return found
