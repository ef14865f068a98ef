"""Task `verify`: judge whether the cited quotes support each statement in full.

A model's verdict counts only for statements that code can neither vouch for nor refuse; see
`research/engine/verifier/`. In one call it looks at each statement twice, the second time in the
reverse order and for faults; its qualification and its canaries measure the first look.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

from research.engine.journal import Journal
from research.engine.llm_tasks.answers import Answer
from research.engine.llm_tasks.prompting.ask import PROMPTS, Task, ask_model
from research.engine.llm_tasks.prompting.fences import neutral
from research.engine.llm_tasks.prompting.fit_to_context import ask_fitting
from research.engine.run import Run
from research.engine.verifier.pairs import CONCLUSION, QUALIFICATION_FILE, Pair


class VerifyAnswer(Answer):
    """The numbers of the pairs by their verdict."""

    carried: list[int]
    more: list[int]
    other: list[int]


class SecondLookAnswer(VerifyAnswer):
    """With the numbers of the faulty statements in the second list."""

    faults: list[int]


VERIFY = Task("verify", VerifyAnswer, 1000, role="evaluator")
VERIFY_TWICE: Task[VerifyAnswer] = Task("verify", SecondLookAnswer, 1500, role="evaluator")


class Verdict(NamedTuple):
    """What a model found of a pair at its first look, whether the second one found a fault, and
    whether either says something else than the quotes.
    """

    carried: bool
    is_faulty: bool
    is_other: bool = False


@cache
def prompt_version() -> str:
    """Return a digest of what a qualification is valid for: the prompt and the labelled pairs."""
    parts = ((PROMPTS / "verify.md").read_bytes(), QUALIFICATION_FILE.read_bytes())
    return hashlib.sha256(b"\0".join(parts)).hexdigest()[:16]


def verify_context(
    pairs: Sequence[Pair], task: Task[VerifyAnswer] = VERIFY_TWICE
) -> dict[str, Any]:
    """Return what the prompt shows."""
    return {
        "pairs": pairs,
        "neutral": neutral,
        "is_twice": task is VERIFY_TWICE,
        "has_conclusions": any(pair.statement.startswith(CONCLUSION) for pair in pairs),
    }


async def ask_verdicts(run: Run, place: str, pairs: Sequence[Pair]) -> tuple[Verdict, ...]:
    """Return the model's verdict on each pair; a missing one counts as not carried.

    Pairs that the model's window has no room for are left out from the end and not carried.
    Raises `TaskFailedError`.
    """

    def context(room: int) -> dict[str, Any]:
        return verify_context(_within(pairs, room))

    answer, shown = await ask_fitting(run, place, VERIFY_TWICE, context)
    return verdicts_by_pair(answer, len(shown["pairs"]), len(pairs))


async def ask_verdicts_unfitted(
    journal: Journal, attempts: int, place: str, pairs: Sequence[Pair]
) -> tuple[bool, ...]:
    """Return for each pair whether the model finds it carried at one look, outside of a run and
    with every pair shown. Raises `TaskFailedError`.
    """
    answer = await ask_model(journal, attempts, place, VERIFY, verify_context(pairs, VERIFY))
    return tuple(each.carried for each in verdicts_by_pair(answer, len(pairs), len(pairs)))


def _within(pairs: Sequence[Pair], room: int) -> list[Pair]:
    shown = []
    for pair in pairs:
        room -= 2 * len(pair.statement) + sum(len(q.text) + len(q.source) for q in pair.quotes)
        if room < 0:
            break
        shown.append(pair)
    return shown


def verdicts_by_pair(answer: VerifyAnswer, shown: int, asked: int) -> tuple[Verdict, ...]:
    """Return the verdict on each pair; one that has two at the first look is not carried.

    The last of the pairs shown is the first of the second list, which is numbered after them. A
    fault that is given by a number of the first list counts, too.
    """
    carried, other = set(answer.carried).difference(answer.more, answer.other), {*answer.other}
    faults = answer.faults if isinstance(answer, SecondLookAnswer) else ()
    faulty = {number if number <= shown else 2 * shown + 1 - number for number in faults}
    return tuple(
        Verdict(number <= shown and number in carried, number in faulty, number in other)
        for number in range(1, asked + 1)
    )
