"""Task `assess` for a small model: the one thing that is missing most, and a search for it.

Marks and what counts as answered come from the ledger, as without a model.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any

from pydantic import Field

from research.engine.aside import aside
from research.engine.assessment import Assessment, Missing
from research.engine.extractive import judging
from research.engine.gaps import same_gap
from research.engine.run import Run
from research.engine.similarity import twin
from research.engine.tasks.answers import Answer
from research.engine.tasks.ask import Task, TaskFailed
from research.engine.tasks.fitting import ask_fitting, most_relevant
from research.engine.text import normalise, term_set

FINDINGS_SHOWN = 8
SEARCHES_SHOWN = 8


class SmallAssessment(Answer):
    enough: bool
    missing: Annotated[str, Field(json_schema_extra={"maxLength": 120})]
    query: Annotated[str, Field(json_schema_extra={"maxLength": 100})]


TASK = Task("assess", SmallAssessment, 200, "evaluator", 300, "small/assess")


async def assess(run: Run, place: str) -> Assessment:
    """The ledger's own judgement, with the gap that the model names."""
    ledger = run.ledger
    judged = await aside(ledger.pages.values(), judging.judge, ledger, run.limits)

    def context(room: int) -> dict[str, Any]:
        return {
            "question": run.question.text,
            "findings": most_relevant(ledger.evidence, room, FINDINGS_SHOWN),
            "searched": list(ledger.queries)[-SEARCHES_SHOWN:],
        }

    try:
        answer, _ = await ask_fitting(run, place, TASK, context)
    except TaskFailed as failed:
        run.fell_back(TASK.name, failed.cause)
        return judged
    return replace(judged, gaps=(*judged.gaps, *_named(run, judged, answer)), by_model=True)


def _named(run: Run, judged: Assessment, answer: SmallAssessment) -> tuple[Missing, ...]:
    """The model's gap, where it has to do with the question; it never holds a run up."""
    query = normalise(answer.query)
    aspects = sorted(run.ledger.aspects, key=lambda aspect_id: aspect_id not in judged.unanswered)
    if answer.enough or not query or not term_set(query) & term_set(run.question.text):
        return ()
    threshold = run.config.duplicate_topic_similarity_threshold
    if twin(query, [gap.query for gap in judged.gaps], threshold):
        return ()
    text = normalise(answer.missing) or query
    known = same_gap(run.ledger, text, query, threshold)
    return (Missing(text, query, aspects[0], False, gap_id=known),)
