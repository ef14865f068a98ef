"""Task `intake` for a small model: a search query, and what else has to be known."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from pydantic import Field

from research.engine.llm_tasks.answers import Answer
from research.engine.llm_tasks.parsed_question import Understood, from_wording
from research.engine.llm_tasks.prompting.ask import Task, TaskFailed, ask_model
from research.engine.records import PlannedAspect
from research.engine.run import Run
from research.engine.text.similarity import jaccard
from research.engine.text.tokens import normalise_space, term_set

MOST_PARTS = 2
TOO_ALIKE = 0.6


class SmallIntake(Answer):
    query: Annotated[str, Field(json_schema_extra={"maxLength": 100})]
    parts: Annotated[
        list[Annotated[str, Field(json_schema_extra={"maxLength": 120})]],
        Field(json_schema_extra={"maxItems": MOST_PARTS}),
    ]


TASK = Task("intake", SmallIntake, 200, shown_answer=300, prompt="small/intake")


async def understand_question(
    run: Run, place: str, clarifications: tuple[str, ...], comment: str
) -> Understood:
    """Return the plan by the question's wording, with the model's query and its further parts.

    A part without a word of the question, or almost the question itself, is left out.
    """
    worded = from_wording(run.question.text, clarifications, comment, run.usual_language)
    asked = " ".join((run.question.text, *clarifications, comment)).strip()
    try:
        answer = await ask_model(
            run.journal, run.config.max_model_attempts, place, TASK, {"question": asked}
        )
    except TaskFailed as failed:
        run.fell_back(TASK.name, failed.cause)
        return worded
    first, *others = worded.aspects
    if term_set(answer.query) & term_set(asked):
        first = replace(first, query=normalise_space(answer.query))
    parts = _further_parts(asked, [normalise_space(part) for part in answer.parts[:MOST_PARTS]])
    return replace(worded, aspects=(first, *others, *(PlannedAspect(p, p) for p in parts)))


def _further_parts(asked: str, parts: list[str]) -> list[str]:
    taken, further = [term_set(asked)], list[str]()
    for part in parts:
        words = term_set(part)
        if words & taken[0] and all(jaccard(words, other) < TOO_ALIKE for other in taken):
            taken.append(words)
            further.append(part)
    return further
