"""What a plan will take, as a range, before it is approved."""

from __future__ import annotations

from research.engine.budget import REPORT_CALLS, Rates
from research.engine.config import ResearchConfig
from research.engine.limits import limits
from research.engine.records import Estimate, Plan

SECONDS_PER_CALL = (1.0, 10.0)
SECONDS_PER_ROUND = (0.05, 6.0)
TOKENS_PER_CALL = (700, 6000)
ANSWER_SHARE = (0.1, 0.25)
"""What of a call's tokens is the model's answer: the dear part."""


def estimate(plan: Plan, config: ResearchConfig, has_model: bool, rates: Rates) -> Estimate:
    """From one round to the soft end and a verification; a unit is one `read`, a round one
    `assess`. A round's units read side by side, so its time is that of two calls."""
    allowed = limits(config, plan.complexity)
    units = min(len(plan.aspects), allowed.topics_per_round)
    later = (allowed.rounds - 1) * allowed.topics_per_round
    least = 1 + units + 1 + 1
    most = 2 + units + later + allowed.rounds + 1 + REPORT_CALLS
    calls = (min(least, config.max_llm_calls), min(most, config.max_llm_calls))
    calls = calls if has_model else (0, 0)
    tokens = tuple(min(config.max_tokens, calls[i] * TOKENS_PER_CALL[i]) for i in (0, 1))
    rounds, in_a_row = (1, allowed.rounds), (4, 2 * allowed.rounds + 4)
    seconds = tuple(
        min(
            config.max_seconds,
            rounds[i] * SECONDS_PER_ROUND[i] + has_model * in_a_row[i] * SECONDS_PER_CALL[i],
        )
        for i in (0, 1)
    )
    return Estimate(
        seconds=(seconds[0], seconds[1]),
        llm_calls=calls,
        tokens=(tokens[0], tokens[1]),
        cost_usd=_cost(tokens, config, rates) if has_model else (0.0, 0.0),
    )


def _cost(
    tokens: tuple[int, ...], config: ResearchConfig, rates: Rates
) -> tuple[float, float] | None:
    """All by the cheapest model with short answers, to all by the dearest with long ones."""
    if not rates:
        return None
    ends = []
    for count, share, choose in zip(tokens, ANSWER_SHARE, (min, max), strict=True):
        a_token = choose(own * (1 - share) + out * share for own, out in rates.values())
        cap = config.max_cost_usd
        cost = count * a_token
        ends.append(round(cost if cap is None else min(cost, cap), 6))
    return ends[0], ends[1]
