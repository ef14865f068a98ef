"""Task `verify`: judge whether each statement says no more than its cited quotes.

A model's verdict counts only for statements that code can neither vouch for nor refuse; see
`research/engine/verifier/`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cache
from typing import Any

from research.engine.journal import Journal
from research.engine.llm_tasks.answers import Answer
from research.engine.llm_tasks.prompting.ask import PROMPTS, Task, ask_model
from research.engine.llm_tasks.prompting.fences import neutral
from research.engine.llm_tasks.prompting.fit_to_context import ask_fitting
from research.engine.run import Run
from research.engine.verifier.pairs import QUALIFICATION_FILE, Pair


class VerifyAnswer(Answer):
    """The numbers of the pairs by their verdict."""

    carried: list[int]
    more: list[int]
    other: list[int]


VERIFY = Task("verify", VerifyAnswer, 1000, role="evaluator")


@cache
def prompt_version() -> str:
    """Return a digest of what a qualification is valid for: the prompt and the labelled pairs."""
    parts = ((PROMPTS / "verify.md").read_bytes(), QUALIFICATION_FILE.read_bytes())
    return hashlib.sha256(b"\0".join(parts)).hexdigest()[:16]


def verify_context(pairs: Sequence[Pair]) -> dict[str, Any]:
    """Return what the prompt shows."""
    return {"pairs": pairs, "neutral": neutral}


async def ask_verdicts(run: Run, place: str, pairs: Sequence[Pair]) -> tuple[bool, ...]:
    """Return for each pair whether the model found it carried; False where it gave no verdict.

    Pairs that the model's window has no room for are left out from the end and not carried.
    Raises `TaskFailed`.
    """

    def context(room: int) -> dict[str, Any]:
        return verify_context(_within(pairs, room))

    answer, shown = await ask_fitting(run, place, VERIFY, context)
    return verdicts_by_pair(answer, len(shown["pairs"]), len(pairs))


async def ask_verdicts_unfitted(
    journal: Journal, attempts: int, place: str, pairs: Sequence[Pair]
) -> tuple[bool, ...]:
    """As `ask_verdicts`, outside of a run and with every pair shown. Raises `TaskFailed`."""
    answer = await ask_model(journal, attempts, place, VERIFY, verify_context(pairs))
    return verdicts_by_pair(answer, len(pairs), len(pairs))


def _within(pairs: Sequence[Pair], room: int) -> list[Pair]:
    shown = []
    for pair in pairs:
        room -= len(pair.statement) + sum(len(q.text) + len(q.source) for q in pair.quotes)
        if room < 0:
            break
        shown.append(pair)
    return shown


def verdicts_by_pair(answer: VerifyAnswer, shown: int, asked: int) -> tuple[bool, ...]:
    """Return whether each pair is carried; one that also has another verdict is not."""
    carried = set(answer.carried).difference(answer.more, answer.other)
    return tuple(number <= shown and number in carried for number in range(1, asked + 1))
