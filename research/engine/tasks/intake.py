"""Task `intake`: understand the question, or ask back, and propose the sub-questions."""

from __future__ import annotations

from dataclasses import replace
from itertools import zip_longest
from typing import Any

from research.engine.languages import code_of, language_of
from research.engine.records import Complexity, PlannedAspect
from research.engine.run import Run
from research.engine.tasks.answers import Answer
from research.engine.tasks.ask import Task, TaskFailed, ask
from research.engine.tasks.small import intake as small
from research.engine.tasks.understood import Understood, from_wording
from research.engine.text import normalise

MOST_ASPECTS = 6
MOST_QUESTIONS = 3


class IntakeAnswer(Answer):
    """What research needs; `queries` belong to `sub_questions`, place by place."""

    complexity: Complexity
    language: str
    brief: str
    sub_questions: list[str]
    queries: list[str]


class PlanAnswer(IntakeAnswer):
    """And what a person is asked, or reads before they approve the plan."""

    clarifying_questions: list[str]
    scope: str
    evidence_strategy: str
    output_format: str


AGREED = Task("intake", IntakeAnswer, 1500)
ASKING = Task("intake", PlanAnswer, 1500)


async def understand(
    run: Run, place: str, clarifications: tuple[str, ...] = (), comment: str = ""
) -> Understood:
    """The model's reading of the question, or the one by its wording alone.

    The fixed mode has no intake: its tree starts from the question as it is worded.
    """
    if run.is_small and not run.is_fixed:
        return await small.understand(run, place, clarifications, comment)
    if run.has_model and not run.is_fixed:
        context = {
            "question": run.question.text,
            "today": run.question.today,
            "clarifications": clarifications,
            "comment": comment,
            "most": MOST_ASPECTS,
            "agreed": run.question.agreed,
        }
        task: Task[Any] = AGREED if run.question.agreed else ASKING
        try:
            answer = await ask(run.journal, run.config.max_model_attempts, place, task, context)
            return _understood(run, answer)
        except TaskFailed as failed:
            run.fell_back(task.name, failed.cause)
    return from_wording(run.question.text, clarifications, comment, run.usual_language)


def _understood(run: Run, answer: IntakeAnswer) -> Understood:
    question = run.question.text
    parts = zip_longest(answer.sub_questions[:MOST_ASPECTS], answer.queries, fillvalue="")
    planned = [
        PlannedAspect(normalise(part), normalise(query) or normalise(part))
        for part, query in parts
        if part.strip()
    ]
    understood = Understood(
        brief=normalise(answer.brief) or question,
        complexity=answer.complexity,
        language=code_of(answer.language) or language_of(question, run.usual_language),
        aspects=tuple(planned) or (PlannedAspect(question, question),),
    )
    if not isinstance(answer, PlanAnswer):
        return understood
    return replace(
        understood,
        questions=tuple(q for q in answer.clarifying_questions if q.strip())[:MOST_QUESTIONS],
        scope=answer.scope,
        evidence_strategy=answer.evidence_strategy,
        output_format=answer.output_format,
    )
