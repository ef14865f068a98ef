"""Task `judge`: a model marks the finished report and the process; off by default.

It follows the end of the run and never delays it; if it fails, there are no marks.
"""

from __future__ import annotations

from typing import Any

from research.engine.llm_tasks.answers import Answer
from research.engine.llm_tasks.prompting.ask import Task, TaskFailedError
from research.engine.llm_tasks.prompting.fit_to_context import ask_fitting
from research.engine.records import Evaluation
from research.engine.run import Run

ANSWER_SHARE = 0.6
REPORT_CHARACTERS = 16_000


class AnswerMarks(Answer):
    relevance: float
    completeness: float
    support: float
    clarity: float


class ProcessMarks(Answer):
    searching: float
    reading: float
    stopping: float


class JudgeAnswer(Answer):
    answer: AnswerMarks
    process: ProcessMarks
    reasoning: str


TASK = Task("judge", JudgeAnswer, 500, role="judge")


async def judge_report(run: Run, report: str) -> None:
    """Emit the marks of a finished run, or what kept them from being given."""

    def context(room: int) -> dict[str, Any]:
        return {
            "question": run.question.text,
            "today": run.question.today,
            "report": report[: min(room, REPORT_CHARACTERS)],
            "rounds": run.ledger.rounds,
        }

    try:
        answer, _ = await ask_fitting(run, "judge", TASK, context)
    except TaskFailedError as failed:
        run.trouble("model, judge", f"The report was not marked: {failed.cause.rstrip('.')}.")
    else:
        run.journal.emit(to_evaluation(answer))
    run.tell_usage()


def to_evaluation(answer: JudgeAnswer) -> Evaluation:
    """Answer 60 %, process 40 %; each the mean of its marks, 0-10."""
    marks = {kind: _clamp_marks(getattr(answer, kind)) for kind in ("answer", "process")}
    means = {kind: sum(given.values()) / len(given) for kind, given in marks.items()}
    composite = ANSWER_SHARE * means["answer"] + (1 - ANSWER_SHARE) * means["process"]
    return Evaluation(
        answer=round(means["answer"], 2),
        process=round(means["process"], 2),
        composite=round(composite, 2),
        marks={**marks["answer"], **marks["process"]},
        reasoning=answer.reasoning.strip(),
    )


def _clamp_marks(marks: Answer) -> dict[str, float]:
    return {name: min(10.0, max(0.0, mark)) for name, mark in marks.model_dump().items()}
