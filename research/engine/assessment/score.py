"""The quality score: the weighted mean of the judged dimensions, capped by what the ledger proves.

A flattering model cannot raise the score of research without evidence. The cap, with n
sub-questions, of which s rest on enough independent sources, o on fewer, d are disputed and the
rest are open:

cap = 1 + 9 · (s + 0.75·o + 0.5·d) / n

It is at most half a point below the threshold while the evidence gate fails, a sub-question was
never searched, or code had to judge in a model's place and not everything is met. More evidence
never lowers it while sub-questions and contradictions stay the same. A round's improvement ignores
that last limit, so that a higher threshold never makes a round look as if it had improved less.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass

from research.engine.evidence.ledger import ANSWERING, Ledger
from research.engine.records import AspectState, Dimensions

FEWER, DISPUTED = 0.75, 0.5
BELOW_THRESHOLD = 0.5


@dataclass(frozen=True)
class Score:
    """Scores on the scale 1-10; `cap_reason` is empty if the cap lowered nothing."""

    score: float
    earned: float
    model_score: float
    cap: float
    cap_reason: str


def weighted_mean(dimensions: Dimensions, weights: Mapping[str, float]) -> float:
    """Return the mean of the judged dimensions, with the weights of unjudged ones left out. 1 if
    none.
    """
    judged = {name: mark for name, mark in asdict(dimensions).items() if mark is not None}
    total = sum(weights[name] for name in judged)
    if not total:
        return 1.0
    mean = sum(weights[name] * mark for name, mark in judged.items()) / total
    return float(round(mean, 2))


def score_cap(ledger: Ledger, sources_per_aspect: int) -> tuple[float, str]:
    """Return the highest score that the ledger supports, and what limits it."""
    worth, short = 0.0, {"open": 0, "disputed": 0, "one source": 0}
    for aspect in ledger.aspects.values():
        if aspect.state not in ANSWERING:
            short["open"] += 1
        elif aspect.state is AspectState.DISPUTED:
            worth += DISPUTED
            short["disputed"] += 1
        elif len(ledger.keys_of(aspect.id)) < sources_per_aspect:
            worth += FEWER
            short["one source"] += 1
        else:
            worth += 1
    reasons = {
        "open": "{} without an answer",
        "disputed": "{} on which sources disagree",
        "one source": "{} resting on too few sources",
    }
    why = ", ".join(reasons[kind].format(count) for kind, count in short.items() if count)
    return round(1 + 9 * worth / max(1, len(ledger.aspects)), 2), why


def stated(value: float, held: tuple[str, ...], threshold: float) -> Score:
    """Return the score of a probability, kept below the threshold for the reasons `held`."""
    highest = min(10.0, max(1.0, threshold - BELOW_THRESHOLD)) if held else 10.0
    capped = min(value, highest)
    return Score(capped, capped, value, highest, "; ".join(held) if capped < value else "")


def score_round(
    ledger: Ledger,
    dimensions: Dimensions,
    weights: Mapping[str, float],
    sources_per_aspect: int,
    threshold: float,
    evidence_gate_passed: bool,
    held: tuple[str, ...] = (),
    cap: Callable[[Ledger, int], tuple[float, str]] = score_cap,
) -> Score:
    """Return the round's score; `model_score` is the mean before the cap. `held` are further
    reasons to keep it below the threshold.
    """
    mean = weighted_mean(dimensions, weights)
    highest, why = cap(ledger, sources_per_aspect)
    earned = round(min(mean, highest), 2)
    below = max(1.0, threshold - BELOW_THRESHOLD)
    reasons = (*held, "" if evidence_gate_passed else "too little evidence for the gate")
    if any(reasons) and highest > below:
        highest = below
        why = "; ".join(filter(None, (why, *reasons)))
    capped = min(mean, highest)
    return Score(round(capped, 2), earned, mean, highest, why if capped < mean else "")
