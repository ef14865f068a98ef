"""Tasks `tree_queries` and `tree_extract` of the fixed mode."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from research.engine.llm_tasks.answers import Answer
from research.engine.llm_tasks.assess import running_summary
from research.engine.llm_tasks.prompting.ask import Task, ask_model
from research.engine.llm_tasks.prompting.fences import fences
from research.engine.llm_tasks.prompting.fit_to_context import ask_fitting
from research.engine.llm_tasks.prompting.prompt_pages import PromptPage, number_sentences
from research.engine.offline.leads import find_leads
from research.engine.offline.planning import query_of
from research.engine.ports import Page
from research.engine.rounds.findings import Reading
from research.engine.run import Run
from research.engine.text.tokens import split_tokens, unique_texts

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
    """Return `breadth` queries for a node of the tree, which join `taken`.

    Raises `TaskFailedError`.
    """
    context = {
        "question": run.question.text,
        "today": run.question.today,
        "node": parent,
        "fence": fences(run),
        "learnings": [record.claim for record in running_summary(run)],
        "breadth": breadth,
    }
    attempts = run.config.max_model_attempts
    answer = await ask_model(run.journal, attempts, place, QUERIES, context)
    found = [Query(run.admitted(q.query), run.admitted(q.goal)) for q in answer.queries]
    return choose_queries(run, parent, found, breadth, taken)


def choose_queries(
    run: Run, parent: str, found: Sequence[Query], breadth: int, taken: set[str]
) -> list[Query]:
    """Return the first `breadth` queries not in `taken`, which they join; words of the question
    complete what was `found`.
    """
    worded = [Query(text, text) for text in _word_queries(run, parent)]
    chosen: list[Query] = []
    for query in (*found, *worded):
        if len(chosen) < breadth and query.query and query.query.casefold() not in taken:
            taken.add(query.query.casefold())
            chosen.append(Query(query.query, query.goal or query.query))
    return chosen


def _word_queries(run: Run, parent: str) -> list[str]:
    base = query_of(parent.removeprefix("Previous goal: ").split("\n")[0])
    words = query_of(run.question.text).split()
    leads = [lead.query for lead in find_leads(run.ledger)]
    parts = [" ".join(words[i : i + 3]) for i in range(len(words))]
    numbered = [f"{base} {word}" for word in (*words, *split_tokens(parent))]
    return unique_texts([base, *leads, *parts, *numbered, *(f"{base} {n}" for n in range(1, 21))])


def _without_dictation(sheets: Sequence[PromptPage]) -> list[PromptPage]:
    """Return the pages without what dictates: follow-up questions may come from any sentence."""
    return [
        replace(sheet, lines=tuple(line for line in sheet.lines if not line.dictated))
        for sheet in sheets
    ]


async def extract_learnings(
    run: Run, place: str, goal: str, pages: Sequence[Page]
) -> tuple[Reading, list[str]]:
    """Return findings of one query's pages, and follow-up questions. Raises `TaskFailedError`."""

    fence = fences(run, pages)

    def context(room: int) -> dict[str, Any]:
        return {
            "question": run.question.text,
            "today": run.question.today,
            "goal": goal,
            "fence": fence,
            "sheets": _without_dictation(
                number_sentences(
                    pages,
                    (run.question.text, goal),
                    room,
                    run.rules.near_copy_share,
                )
            ),
        }

    answer, shown = await ask_fitting(run, place, EXTRACT, context, pages=pages)
    reading, aspect = Reading(), replace(next(iter(run.ledger.aspects.values())), text=goal)
    lines = {line.number: line for sheet in shown["sheets"] for line in sheet.lines}
    for learning in answer.learnings:
        pointed = [lines[n] for n in learning.sentences if n in lines]
        run.rules.check_finding(reading, learning.text, pointed, aspect, run.question.text, 1)
    follow_ups = filter(None, map(run.admitted, answer.follow_ups))
    return reading, [text[:FOLLOW_UP_LENGTH] for text in follow_ups][:MOST_FOLLOW_UPS]
