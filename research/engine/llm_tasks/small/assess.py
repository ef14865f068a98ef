"""Task `assess` for a small model: the one thing that is missing most, and a search for it.

Marks and what counts as answered come from the ledger, as without a model.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any

from pydantic import Field

from research.engine.assessment.assessment import Assessment, MissingInfo
from research.engine.assessment.gaps import same_gap
from research.engine.llm_tasks.answers import Answer
from research.engine.llm_tasks.prompting.ask import Task, TaskFailed
from research.engine.llm_tasks.prompting.fences import fences
from research.engine.llm_tasks.prompting.fit_to_context import ask_fitting, most_relevant
from research.engine.offline import judging
from research.engine.run import Run
from research.engine.text.offload import run_in_thread_if_long
from research.engine.text.similarity import find_twin
from research.engine.text.tokens import term_set

FINDINGS_SHOWN = 8
SEARCHES_SHOWN = 8


class SmallAssessment(Answer):
    enough: bool
    missing: Annotated[str, Field(json_schema_extra={"maxLength": 120})]
    query: Annotated[str, Field(json_schema_extra={"maxLength": 100})]


TASK = Task("assess", SmallAssessment, 200, "evaluator", 300, "small/assess")


async def assess_ledger(run: Run, place: str) -> Assessment:
    """Return the ledger's own judgement, with the gap that the model names."""
    ledger = run.ledger
    judged = await run_in_thread_if_long(
        ledger.pages.values(), judging.judge_ledger, ledger, run.limits
    )

    def context(room: int) -> dict[str, Any]:
        return {
            "question": run.question.text,
            "findings": most_relevant(ledger.statable, room, FINDINGS_SHOWN),
            "fence": fences(run),
            "searched": list(ledger.queries)[-SEARCHES_SHOWN:],
        }

    try:
        answer, _ = await ask_fitting(run, place, TASK, context)
    except TaskFailed as failed:
        run.fell_back(TASK.name, failed.cause)
        return judged
    gaps = (*judged.gaps, *_named_gap(run, judged, answer))
    return replace(judged, gaps=gaps, by_model=True, is_marked_by_code=True)


def _named_gap(run: Run, judged: Assessment, answer: SmallAssessment) -> tuple[MissingInfo, ...]:
    """Return the model's gap if it relates to the question; it never keeps a run going."""
    query = run.admitted(answer.query)
    aspects = sorted(run.ledger.aspects, key=lambda aspect_id: aspect_id not in judged.unanswered)
    if answer.enough or not query or not term_set(query) & term_set(run.question.text):
        return ()
    threshold = run.config.duplicate_topic_similarity_threshold
    if find_twin(query, [gap.query for gap in judged.gaps], threshold):
        return ()
    text = run.admitted(answer.missing) or query
    known = same_gap(run.ledger, text, query, threshold)
    return (MissingInfo(text, query, aspects[0], False, gap_id=known),)
