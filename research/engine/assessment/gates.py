"""Gates: formulas over the ledger, without a model; each reports its criteria and what failed.

A stage is left only through its gate. After every round the gates are evaluated in order on one
ledger, so several stages may be passed at once. A gate passes if each criterion meets its minimum
and the score is reached. Scores are 0-1 and are stored with their criteria. Rules C1-C6 and D3 of
`docs/requirements.md`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime

from research.engine.assessment import criteria
from research.engine.assessment.rules import DEFAULT_RULES, Rules
from research.engine.config import ResearchConfig
from research.engine.evidence.ledger import Ledger
from research.engine.limits import Limits
from research.engine.records import Criterion, GateDecision, GateName, GateResult

ASKED: tuple[GateName, ...] = ("overview", "deep_research", "evidence")
"""The gates that the rules of quality wait for."""
Results = Mapping[GateName, GateResult]
Criteria = tuple[Criterion, ...]


def evaluate_gates(
    ledger: Ledger,
    limits: Limits,
    config: ResearchConfig,
    round_number: int,
    ready: bool,
    at: datetime,
    given_up: str = "",
    rules: Rules = DEFAULT_RULES,
) -> dict[GateName, GateResult]:
    """Evaluate all gates of one round except the draft's, in order.

    `given_up` is the reason why nothing that falls short can be found any more; "" if it may be.
    """
    gives_up = rules.gives_up_aspects
    if not given_up and gives_up and criteria.is_exhausted(ledger, limits):
        given_up = criteria.IN_VAIN
    evidence = _ask_unless_open("evidence", criteria.evidence_gate_criteria(ledger, limits), rules)
    looked_at: dict[GateName, tuple[Criteria, float | None]] = {
        "overview": (
            criteria.overview_criteria(ledger, config, gives_up),
            config.gate_overview_pass_score,
        ),
        "deep_research": (
            criteria.deep_research(ledger, limits, gives_up),
            config.gate_deep_pass_score,
        ),
        "evidence": (evidence, None),
        "report_ready": (criteria.report_ready(ledger, evidence, ready), None),
    }
    asked = {
        gate: (_apply_given_up(_ask_unless_open(gate, found, rules), given_up), threshold)
        for gate, (found, threshold) in looked_at.items()
    }
    return {
        gate: _gate_result(gate, round_number, found, threshold, at)
        for gate, (found, threshold) in asked.items()
    }


def ask_for_more(
    ledger: Ledger, limits: Limits, config: ResearchConfig, rules: Rules = DEFAULT_RULES
) -> bool:
    """Return whether a gate asks for something that may be found, given the ledger."""
    number = ledger.round.number
    return has_open_request(
        evaluate_gates(ledger, limits, config, number, True, datetime.min, rules=rules)
    )


def has_open_request(results: Results) -> bool:
    """Return whether a gate that quality rules depend on asks for something that may be found."""
    return any(results[gate].decision == "retry" for gate in ASKED)


def _ask_unless_open(gate: GateName, found: Criteria, rules: Rules) -> Criteria:
    """Return the criteria; those of an open gate ask for nothing."""
    if gate not in rules.open_gates:
        return found
    return tuple(replace(criterion, minimum=0, goal=0) for criterion in found)


def _apply_given_up(found: Criteria, given_up: str) -> Criteria:
    return criteria.given_up(found, given_up) if given_up else found


def _gate_result(
    gate: GateName,
    round_number: int,
    found: Criteria,
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
    told = tuple(gate_feedback(c) for c in short)
    return GateResult(round_number, gate, decision, value, threshold, found, told, at)


def gate_feedback(criterion: Criterion) -> str:
    """Return what a gate asks for if a criterion falls short, and why it is unavailable."""
    wanted = criterion.minimum if not criterion.met else criterion.goal
    told = f"{criterion.name}: {criterion.value:g} of {wanted:g}"
    return f"{told}; {criterion.unavailable}" if criterion.unavailable else told
