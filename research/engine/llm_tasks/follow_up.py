"""Task `follow_up`: a new turn of a thread goes on with its topic, or leaves it (rule D13)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from research.engine.llm_tasks.answers import Answer
from research.engine.llm_tasks.prompting.ask import Task, TaskFailedError
from research.engine.llm_tasks.prompting.fit_to_context import ask_fitting
from research.engine.offline.follow_up import Turn
from research.engine.run import Run
from research.engine.text.tokens import normalise_space, term_set

SUMMARY_CHARACTERS = 4_000
ASTRAY = "The new wording had nothing of what was asked."


class FollowUpAnswer(Answer):
    same_topic: bool
    question: str


TASK = Task("follow_up", FollowUpAnswer, 300)


@dataclass(frozen=True)
class EarlierTurns:
    """The thread so far: the last question as a self-standing one, and in a few sentences what
    was understood and found ('' if nothing was).
    """

    question: str
    summary: str = ""


async def understand_follow_up(run: Run, place: str, before: EarlierTurns, said: str) -> Turn:
    """Return how the turn `said` continues `before`, by one model call. Raises `TaskFailedError`.

    If `Turn.same_topic` is true, findings may be kept, and `Turn.question` is the turn reworded so
    that it can be understood alone: the next brief. Otherwise `Turn.question` is the turn as typed,
    and research starts over; the caller asks the person before it drops anything.
    """

    def context(room: int) -> dict[str, Any]:
        return {
            "today": run.question.today,
            "question": before.question,
            "summary": before.summary[: min(room, SUMMARY_CHARACTERS)],
            "said": said,
        }

    answer, _ = await ask_fitting(run, place, TASK, context)
    return _to_turn(answer, before, said)


def _to_turn(answer: FollowUpAnswer, before: EarlierTurns, said: str) -> Turn:
    """Return the model's reading; a question without a word of what was asked is none."""
    if not answer.same_topic:
        return Turn(False, normalise_space(said))
    question = normalise_space(answer.question)
    if not term_set(question) & term_set(f"{before.question} {said}"):
        raise TaskFailedError(ASTRAY)
    return Turn(True, question)
