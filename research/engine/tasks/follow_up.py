"""Task `follow_up`: a new turn of a thread goes on with its topic, or leaves it (rule D13)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from research.engine.extractive.follow_up import Turn, read_turn
from research.engine.run import Run
from research.engine.tasks.answers import Answer
from research.engine.tasks.ask import Task, TaskFailed
from research.engine.tasks.fitting import ask_fitting
from research.engine.text import normalise, term_set

SUMMARY_CHARACTERS = 4_000
ASTRAY = "The new wording had nothing of what was asked."


class FollowUpAnswer(Answer):
    same_topic: bool
    question: str


TASK = Task("follow_up", FollowUpAnswer, 300)


@dataclass(frozen=True)
class Before:
    """The thread so far: the last question as a self-standing one, and in a few sentences what
    was understood and found ('' if nothing was).
    """

    question: str
    summary: str = ""


async def follow_up(run: Run, place: str, before: Before, said: str) -> Turn:
    """How the turn `said` goes on from `before`; one journaled model call at `place`, or none.

    `Turn.same_topic` true: what was found may be kept, and `Turn.question` is the turn worded
    anew so that it can be understood alone: the next brief. False: start anew, with
    `Turn.question` just as it was said. The caller asks the person before it drops anything.
    Never fails: without a model, for a small one, and where the model's answer can't be used
    the words alone decide; the last is counted as a fallback with its cause.
    """
    by_words = read_turn(before.question, before.summary, said)
    if not run.has_model or run.is_small:
        return by_words

    def context(room: int) -> dict[str, Any]:
        return {
            "today": run.question.today,
            "question": before.question,
            "summary": before.summary[: min(room, SUMMARY_CHARACTERS)],
            "said": said,
        }

    try:
        answer, _ = await ask_fitting(run, place, TASK, context)
        return _turn(answer, before, said)
    except TaskFailed as failed:
        run.fell_back(TASK.name, failed.cause)
        return by_words


def _turn(answer: FollowUpAnswer, before: Before, said: str) -> Turn:
    """The model's reading; a question without a word of what was asked is none."""
    if not answer.same_topic:
        return Turn(False, normalise(said))
    question = normalise(answer.question)
    if not term_set(question) & term_set(f"{before.question} {said}"):
        raise TaskFailed(ASTRAY)
    return Turn(True, question)
