"""Task `intake` for a small model: a search query, and what else has to be known."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from pydantic import Field

from research.engine.records import PlannedAspect
from research.engine.run import Run
from research.engine.similarity import jaccard
from research.engine.tasks.answers import Answer
from research.engine.tasks.ask import Task, TaskFailed, ask
from research.engine.tasks.understood import Understood, from_wording
from research.engine.text import normalise, term_set

MOST_PARTS = 2
TOO_ALIKE = 0.6


class SmallIntake(Answer):
    query: Annotated[str, Field(json_schema_extra={"maxLength": 100})]
    parts: Annotated[
        list[Annotated[str, Field(json_schema_extra={"maxLength": 120})]],
        Field(json_schema_extra={"maxItems": MOST_PARTS}),
    ]


TASK = Task("intake", SmallIntake, 200, shown_answer=300, prompt="small/intake")


async def understand(
    run: Run, place: str, clarifications: tuple[str, ...], comment: str
) -> Understood:
    """The plan by the question's wording, with the model's query and its further parts.

    A part without a word of the question, or almost the question itself, is left out.
    """
    worded = from_wording(run.question.text, clarifications, comment, run.usual_language)
    asked = " ".join((run.question.text, *clarifications, comment)).strip()
    try:
        answer = await ask(
            run.journal, run.config.max_model_attempts, place, TASK, {"question": asked}
        )
    except TaskFailed as failed:
        run.fell_back(TASK.name, failed.cause)
        return worded
    first, *others = worded.aspects
    if term_set(answer.query) & term_set(asked):
        first = replace(first, query=normalise(answer.query))
    parts = _further(asked, [normalise(part) for part in answer.parts[:MOST_PARTS]])
    return replace(worded, aspects=(first, *others, *(PlannedAspect(p, p) for p in parts)))


def _further(asked: str, parts: list[str]) -> list[str]:
    taken, further = [term_set(asked)], list[str]()
    for part in parts:
        words = term_set(part)
        if words & taken[0] and all(jaccard(words, other) < TOO_ALIKE for other in taken):
            taken.append(words)
            further.append(part)
    return further
