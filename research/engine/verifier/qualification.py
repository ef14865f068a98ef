"""Qualifying a model as verifier: labelled pairs, once for each server, model and prompt version.

A verifier that misses a tenth of the false pairs is wrongly distrusted in .2 % of cases by the
usual limit of 16 errors in 80; one that misses three tenths is believed in 3 %.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import cast

from research.engine.records import Qualification
from research.engine.verifier.binomial import expected_rate, upper_tail
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
