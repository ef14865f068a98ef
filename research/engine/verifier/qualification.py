"""Qualifying a model as verifier: labelled pairs, once for each server, model and prompt version.

A verifier that misses a tenth of the false pairs is wrongly distrusted in .2 % of cases by the
usual limit of 16 errors in 80; one that misses three tenths is believed in 3 %.

A run knows its verifier by the stored qualification, frozen, or by one of its own.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from math import comb
from typing import Any, cast

from research.engine.budget.meter import Spent
from research.engine.journal.forms import Form
from research.engine.llm_tasks.prompting.ask import TaskFailedError
from research.engine.llm_tasks.verify import VERIFY, ask_verdicts_unfitted, prompt_version
from research.engine.records import Qualification, StopReason
from research.engine.run import Run
from research.engine.verifier.pairs import CitedQuote, LabelledPair, Pair, qualification_pairs

BATCH = 20
BATCHES = 8
PROMPT_TOKENS, ANSWER_TOKENS = 2000, 300
TOKENS_PER_CALL = PROMPT_TOKENS + ANSWER_TOKENS
"""Of a call with a batch of the labelled pairs: upper guesses, for budgets and the price shown."""

AskBatch = Callable[[int, Sequence[Pair]], Awaitable[Sequence[bool]]]
"""Asks for the verdicts on a batch by its number, counted from 1."""


def is_qualified(found: Qualification, most_errors: int) -> bool:
    """Return whether the model has at most so many errors on either side."""
    return max(found.missed, found.refused) <= most_errors


@dataclass(frozen=True)
class PlantedResult:
    """How a verifier did on the canaries of one call; errors are counted as in `Qualification`."""

    false_pairs: int
    missed: int
    faithful_pairs: int
    refused: int

    @property
    def found(self) -> int:
        return self.false_pairs - self.missed


def is_plausible(result: PlantedResult, known: Qualification, least_probability: float) -> bool:
    """Return whether a verifier with its known rates may well do as badly as this.

    Each side is tested with half of the probability, so that both together keep to it.
    """
    missing = expected_rate(known.missed, known.false_pairs)
    refusing = expected_rate(known.refused, known.faithful_pairs)
    tails = (
        upper_tail(result.missed, result.false_pairs, missing),
        upper_tail(result.refused, result.faithful_pairs, refusing),
    )
    return min(tails) >= least_probability / 2


async def qualify(ask_batch: AskBatch, prompt_version: str) -> Qualification:
    """Have all labelled pairs judged, in batches side by side. Raises what `ask_batch` raises."""
    ordered = shuffled_pairs()
    batches = [ordered[at : at + BATCH] for at in range(0, len(ordered), BATCH)]
    answers = await asyncio.gather(
        *(ask_batch(n, [each.pair for each in batch]) for n, batch in enumerate(batches, 1)),
        return_exceptions=True,
    )
    for answer in answers:
        if isinstance(answer, BaseException):
            raise answer
    verdicts = [verdict for answer in answers for verdict in cast(Sequence[bool], answer)]
    return count_errors(ordered, verdicts, prompt_version)


def count_errors(
    pairs: Sequence[LabelledPair], verdicts: Sequence[bool], prompt_version: str
) -> Qualification:
    """Count the errors of both kinds; `verdicts` say of each pair whether it was found carried."""
    judged = list(zip(pairs, verdicts, strict=True))
    faithful = [carried for each, carried in judged if each.faithful]
    false = [carried for each, carried in judged if not each.faithful]
    return Qualification(
        prompt_version, len(false), sum(false), len(faithful), len(faithful) - sum(faithful)
    )


def shuffled_pairs() -> tuple[LabelledPair, ...]:
    """Return the labelled pairs in a fixed order that keeps pairs of one quote apart."""
    seen: Counter[tuple[CitedQuote, ...]] = Counter()
    order: dict[LabelledPair, tuple[int, bytes]] = {}
    for each in sorted(qualification_pairs(), key=_digest):
        order[each] = (seen[each.pair.quotes], _digest(each))
        seen[each.pair.quotes] += 1
    return tuple(sorted(order, key=lambda each: order[each]))


def _digest(labelled: LabelledPair) -> bytes:
    return hashlib.sha256(labelled.pair.statement.encode()).digest()


CONFIDENCE = 0.95
_STEPS = 60


def upper_tail(count: int, trials: int, rate: float) -> float:
    """Return the probability of at least `count` events in `trials`, each with this rate."""
    return sum(
        comb(trials, k) * rate**k * (1 - rate) ** (trials - k) for k in range(count, trials + 1)
    )


def least_proportion(count: int, trials: int, confidence: float = CONFIDENCE) -> float:
    """Return the one-sided lower bound of a proportion by Clopper and Pearson (1934).

    0 for no trials. The bound is the rate at which `count` or more events would have the
    probability 1 - confidence; it is found by bisection.
    """
    if not count:
        return 0.0
    low, high = 0.0, 1.0
    for _ in range(_STEPS):
        middle = (low + high) / 2
        if upper_tail(count, trials, middle) < 1 - confidence:
            low = middle
        else:
            high = middle
    return low


def expected_rate(count: int, trials: int) -> float:
    """Return the rate to expect after `count` events in `trials`, by Laplace's rule."""
    return (count + 1) / (trials + 2)


OF_TOOLS = frozenset({StopReason.BUDGET_SEARCHES, StopReason.BUDGET_FETCHES})
NO_ROOM = "the model was not qualified as verifier: the budget has no room for it"


async def know_verifier(run: Run) -> None:
    """Freeze what is stored of the model as verifier, so that replays decide alike."""
    if not run.has_model or not run.config.has_verifier:
        return
    stored = run.question.verifier

    async def read() -> dict[str, Any] | None:
        return stored.as_dict() if stored else None

    frozen: Mapping[str, Any] | None = await run.journal.decide_once("verifier", read)
    run.qualification = Qualification(**frozen) if frozen else None


async def qualification_of(run: Run) -> Qualification | None:
    """Return how the model did on the labelled pairs, asking it now if that is unknown.

    None where the budget has no room for that or the model gave no usable answer; it is not
    tried twice in a run.
    """
    if run.qualification is None and not run.is_qualified_in_vain:
        run.is_qualified_in_vain = True
        run.qualification = await _qualify(run)
        if run.qualification is not None:
            run.is_qualified_in_vain = False
            run.journal.emit(run.qualification)
    return run.qualification


async def _qualify(run: Run) -> Qualification | None:
    if not has_room(run):
        run.fell_back(VERIFY.name, NO_ROOM)
        return None
    run.report_action("Finding out how well the model checks statements")

    async def ask_batch(number: int, pairs: Sequence[Pair]) -> Sequence[bool]:
        place, attempts = f"verifier/{number}", run.config.max_model_attempts
        return await ask_verdicts_unfitted(run.journal, attempts, place, pairs)

    try:
        return await qualify(ask_batch, prompt_version())
    except TaskFailedError as failed:
        run.fell_back(VERIFY.name, failed.cause)
        return None


def has_room(run: Run) -> bool:
    """Return whether the budgets hold a qualification beside the report's share."""
    calls, meter = BATCHES, run.journal.meter
    for_prompt, for_answer = meter.rates.get("evaluator", (0.0, 0.0))
    dollars = calls * (PROMPT_TOKENS * for_prompt + ANSWER_TOKENS * for_answer)
    cost = Spent(calls=calls, tokens=calls * TOKENS_PER_CALL, dollars=dollars)
    short = meter.short_of(cost, meter.seconds, has_model=True)
    # what is left to search and fetch doesn't matter here, though a run may have ended for it
    is_outside = run.form >= Form.EDITED and short in OF_TOOLS
    return short is None or is_outside
