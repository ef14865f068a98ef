"""Task `follow_up`: a new turn of a thread goes on with its topic, or leaves it (rule D13); what
was found before answers it, or more has to be found.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import Field

from research.engine.llm_tasks.answers import Answer
from research.engine.llm_tasks.prompting.ask import Task, TaskFailedError
from research.engine.llm_tasks.prompting.fences import fences
from research.engine.llm_tasks.prompting.fit_to_context import ask_fitting
from research.engine.offline.follow_up import Turn
from research.engine.records import Evidence
from research.engine.run import Run
from research.engine.text.tokens import normalise_space, term_set, unique_texts

SUMMARY_CHARACTERS = 4_000
FINDINGS_CHARACTERS = 60_000
ALWAYS_TELLING = 6
"""Findings that may answer a turn, however few there are: a weak model names all it is shown."""
ASTRAY = "The new wording had nothing of what was asked."


class FollowUpAnswer(Answer):
    same_topic: bool
    question: str
    answered_by: list[str] = Field(default_factory=list)


TASK = Task("follow_up", FollowUpAnswer, 600)


@dataclass(frozen=True)
class EarlierTurns:
    """The thread so far: the last question as a self-standing one, and in a few sentences what
    was understood and found ('' if nothing was). `findings` are what may answer the new turn
    without a search, `answer` is the short answer that they were given.
    """

    question: str
    summary: str = ""
    findings: Sequence[Evidence] = ()
    answer: str = ""


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
            "answer": before.answer,
            "findings": _closest(before.findings, said, min(room, FINDINGS_CHARACTERS)),
            "fence": fences(run),
            "said": said,
        }

    answer, _ = await ask_fitting(run, place, TASK, context)
    return _to_turn(answer, before, said)


def _closest(findings: Sequence[Evidence], said: str, room: int) -> list[Evidence]:
    """Return the findings whose claims fit into this number of characters, in their order: those
    that share most words with the new turn are taken first, then key claims.
    """
    asked = term_set(said)

    def rank(record: Evidence) -> tuple[int, bool, float]:
        return -len(asked & term_set(record.claim)), not record.key, -record.relevance

    kept: set[str] = set()
    for record in sorted(findings, key=rank):
        room -= len(record.claim)
        if room >= 0:
            kept.add(record.id)
    return [record for record in findings if record.id in kept]


def _to_turn(answer: FollowUpAnswer, before: EarlierTurns, said: str) -> Turn:
    """Return the model's reading; a question without a word of what was asked is none."""
    if not answer.same_topic:
        return Turn(False, normalise_space(said))
    question = normalise_space(answer.question)
    if not term_set(question) & term_set(f"{before.question} {said}"):
        raise TaskFailedError(ASTRAY)
    known = {record.id for record in before.findings}
    named = [i for i in unique_texts(answer.answered_by) if i in known]
    is_telling = len(named) <= max(ALWAYS_TELLING, len(known) // 2)
    return Turn(True, question, tuple(named) if is_telling else ())
