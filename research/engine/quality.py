"""The quality score: the judged dimensions' weighted mean, capped by what the ledger proves.

A flattering model cannot lift research that the evidence does not carry. The cap, with n
sub-questions, of which s rest on enough independent sources, o on fewer, d are disputed and
the rest are open:

    cap = 1 + 9 · (s + 0.75·o + 0.5·d) / n

and at most half a point below the threshold while the evidence gate fails, a sub-question was
never searched, or code had to judge in the place of a model and not everything holds. More evidence
never lowers it while the sub-questions and the contradictions stay the same. What a round
earned leaves that last part out: it does not depend on the threshold, so that a higher one
never makes a round look as if it had improved less.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass

from research.engine.ledger import ANSWERING, Ledger
from research.engine.records import AspectState, Dimensions

FEWER, DISPUTED = 0.75, 0.5
BELOW_THRESHOLD = 0.5


@dataclass(frozen=True)
class Score:
    """All on the scale 1-10; `cap_reason` is empty where the cap took nothing."""

    score: float
    earned: float
    model_score: float
    cap: float
    cap_reason: str


def weighted_mean(dimensions: Dimensions, weights: Mapping[str, float]) -> float:
    """Mean of the judged dimensions; one that nobody judged leaves the weights. 1 if none."""
    judged = {name: mark for name, mark in asdict(dimensions).items() if mark is not None}
    total = sum(weights[name] for name in judged)
    if not total:
        return 1.0
    mean = sum(weights[name] * mark for name, mark in judged.items()) / total
    return float(round(mean, 2))


def cap(ledger: Ledger, sources_per_aspect: int) -> tuple[float, str]:
    """The highest score that the ledger carries, and what holds it down."""
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


def score(
    ledger: Ledger,
    dimensions: Dimensions,
    weights: Mapping[str, float],
    sources_per_aspect: int,
    threshold: float,
    evidence_gate_passed: bool,
    held: tuple[str, ...] = (),
) -> Score:
    """The round's score; `model_score` is the mean before the cap. `held` are further reasons
    that hold it below the threshold.
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
