"""Tasks `tree_queries` and `tree_extract` of the fixed mode."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from research.engine.extractive.leads import find_leads
from research.engine.extractive.planning import query_of
from research.engine.findings import Reading, check_finding
from research.engine.run import Run
from research.engine.sheets import number_sentences
from research.engine.tasks.answers import Answer
from research.engine.tasks.ask import Task, TaskFailed, ask
from research.engine.tasks.assess import summary
from research.engine.tasks.fitting import ask_fitting
from research.engine.tasks.passages import read_extractively
from research.engine.text import normalise, tokens, unique
from research.engine.tools import Page

MOST_FOLLOW_UPS = 3
FOLLOW_UP_LENGTH = 300


class TreeQuery(Answer):
    query: str
    goal: str


class TreeQueries(Answer):
    queries: list[TreeQuery]


class Learning(Answer):
    text: str
    sentences: list[int]


class TreeExtract(Answer):
    learnings: list[Learning]
    follow_ups: list[str]


QUERIES = Task("tree_queries", TreeQueries, 800)
EXTRACT = Task("tree_extract", TreeExtract, 2500, role="reader")


@dataclass(frozen=True)
class Query:
    """A search and what it is meant to find out."""

    query: str
    goal: str


async def generate_queries(
    run: Run, place: str, parent: str, breadth: int, taken: set[str]
) -> list[Query]:
    """`breadth` queries for a node of the tree, none of them in `taken`, which they join."""
    found: list[Query] = []
    if run.has_model:
        context = {
            "question": run.question.text,
            "today": run.question.today,
            "node": parent,
            "learnings": [record.claim for record in summary(run)],
            "breadth": breadth,
        }
        try:
            answer = await ask(run.journal, run.config.max_model_attempts, place, QUERIES, context)
            found = [
                Query(normalise(q.query), normalise(q.goal) or q.query) for q in answer.queries
            ]
        except TaskFailed as failed:
            run.fell_back(QUERIES.name, failed.cause)
    worded = [Query(text, text) for text in _worded(run, parent)]
    return _untaken([*found, *worded], breadth, taken)


def _untaken(candidates: Sequence[Query], breadth: int, taken: set[str]) -> list[Query]:
    """The first `breadth` that nobody asked yet; code fills up what the model leaves short."""
    chosen: list[Query] = []
    for query in candidates:
        if len(chosen) < breadth and query.query and query.query.casefold() not in taken:
            taken.add(query.query.casefold())
            chosen.append(Query(query.query, query.goal or query.query))
    return chosen


def _worded(run: Run, parent: str) -> list[str]:
    base = query_of(parent.removeprefix("Previous goal: ").split("\n")[0])
    words = query_of(run.question.text).split()
    leads = [lead.query for lead in find_leads(run.ledger)]
    parts = [" ".join(words[i : i + 3]) for i in range(len(words))]
    numbered = [f"{base} {word}" for word in (*words, *tokens(parent))]
    return unique([base, *leads, *parts, *numbered, *(f"{base} {n}" for n in range(1, 21))])


async def extract(
    run: Run, place: str, goal: str, pages: Sequence[Page]
) -> tuple[Reading, list[str]]:
    """What the pages of one query say, and what to ask next."""
    if run.has_model and pages:
        try:
            return await _extract_with_model(run, place, goal, pages)
        except TaskFailed as failed:
            run.fell_back(EXTRACT.name, failed.cause)
    aspect = next(iter(run.ledger.aspects.values()))
    return await read_extractively(run, pages, [aspect]), []


async def _extract_with_model(
    run: Run, place: str, goal: str, pages: Sequence[Page]
) -> tuple[Reading, list[str]]:
    def context(room: int) -> dict[str, Any]:
        return {
            "question": run.question.text,
            "today": run.question.today,
            "goal": goal,
            "sheets": number_sentences(pages, (run.question.text, goal), room),
        }

    answer, shown = await ask_fitting(run, place, EXTRACT, context)
    reading, aspect = Reading(), replace(next(iter(run.ledger.aspects.values())), text=goal)
    lines = {line.number: line for sheet in shown["sheets"] for line in sheet.lines}
    for learning in answer.learnings:
        pointed = [lines[n] for n in learning.sentences if n in lines]
        check_finding(reading, learning.text, pointed, aspect, run.question.text)
    follow_ups = [normalise(text)[:FOLLOW_UP_LENGTH] for text in answer.follow_ups if text.strip()]
    return reading, follow_ups[:MOST_FOLLOW_UPS]
