"""The gates: formulas over the ledger, no model. Each says what it looked at and what failed.

A stage is left only through its gate; after every round the gates are evaluated in order on
one ledger, so several stages may be passed at once. A gate passes where each criterion meets
its own minimum and the score is reached. Scores are 0-1 and are stored with their criteria.
Rules C1-C6 and D3 of `docs/requirements.md`.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from research.engine import criteria
from research.engine.config import ResearchConfig
from research.engine.ledger import Ledger
from research.engine.limits import Limits
from research.engine.records import Criterion, GateDecision, GateName, GateResult

ASKED: tuple[GateName, ...] = ("overview", "deep_research", "evidence")
"""The gates that the rules of quality wait for."""
Results = Mapping[GateName, GateResult]


def evaluate(
    ledger: Ledger,
    limits: Limits,
    config: ResearchConfig,
    round_number: int,
    ready: bool,
    at: datetime,
    given_up: str = "",
) -> dict[GateName, GateResult]:
    """All gates of one round but the draft's, in order.

    `given_up` says why nothing that is short can be had any more; "" where it may be.
    """
    if not given_up and criteria.exhausted(ledger, limits):
        given_up = criteria.IN_VAIN
    evidence = criteria.evidence(ledger, limits)
    looked_at: dict[GateName, tuple[tuple[Criterion, ...], float | None]] = {
        "overview": (criteria.overview(ledger, config), config.gate_overview_pass_score),
        "deep_research": (criteria.deep_research(ledger, limits), config.gate_deep_pass_score),
        "evidence": (evidence, None),
        "report_ready": (criteria.report_ready(ledger, evidence, ready), None),
    }
    return {
        gate: _result(gate, round_number, _settled(found, given_up), threshold, at)
        for gate, (found, threshold) in looked_at.items()
    }


def ask_for_more(ledger: Ledger, limits: Limits, config: ResearchConfig) -> bool:
    """Whether a gate asks for something that is to be had, as the ledger stands."""
    return ask(evaluate(ledger, limits, config, ledger.round.number, True, datetime.min))


def ask(results: Results) -> bool:
    """Whether a gate that the rules of quality wait for asks for something that is to be had."""
    return any(results[gate].decision == "retry" for gate in ASKED)


def _settled(found: tuple[Criterion, ...], given_up: str) -> tuple[Criterion, ...]:
    return criteria.given_up(found, given_up) if given_up else found


def _result(
    gate: GateName,
    round_number: int,
    found: tuple[Criterion, ...],
    threshold: float | None,
    at: datetime,
) -> GateResult:
    value = round(sum(c.share for c in found) / len(found), 4)
    short = [c for c in found if not c.met]
    if not short and threshold is not None and value < threshold:
        short = [c for c in found if c.share < 1]
    decision: GateDecision = "pass"
    if short:
        decision = "not_to_be_had" if all(c.unavailable for c in short) else "retry"
    told = tuple(feedback(c) for c in short)
    return GateResult(round_number, gate, decision, value, threshold, found, told, at)


def feedback(criterion: Criterion) -> str:
    """What a gate asks for where a criterion is short, and why it is not to be had."""
    wanted = criterion.minimum if not criterion.met else criterion.goal
    told = f"{criterion.name}: {criterion.value:g} of {wanted:g}"
    return f"{told}; {criterion.unavailable}" if criterion.unavailable else told
