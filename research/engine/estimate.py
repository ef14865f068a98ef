"""What a plan will take, as a range, before it is approved."""

from __future__ import annotations

from research.engine.config import ResearchConfig, limits
from research.engine.records import Estimate, Plan

SECONDS_PER_CALL = (1.5, 8.0)
SECONDS_PER_ROUND = (0.5, 6.0)
TOKENS_PER_CALL = (1500, 6000)


def estimate(plan: Plan, config: ResearchConfig, has_model: bool) -> Estimate:
    """From one round to the soft end; a unit is one `read`, a round one `assess`."""
    allowed = limits(config, plan.complexity)
    units = min(len(plan.aspects), allowed.topics_per_round)
    least = 1 + units + 1 + 1
    most = 2 + units + (allowed.rounds - 1) * allowed.topics_per_round + allowed.rounds + 2
    calls = (min(least, config.max_llm_calls), min(most, config.max_llm_calls))
    calls = calls if has_model else (0, 0)
    rounds = (1, allowed.rounds)
    seconds = tuple(
        min(config.max_seconds, rounds[i] * SECONDS_PER_ROUND[i] + calls[i] * SECONDS_PER_CALL[i])
        for i in (0, 1)
    )
    tokens = tuple(min(config.max_tokens, calls[i] * TOKENS_PER_CALL[i]) for i in (0, 1))
    return Estimate(
        seconds=(seconds[0], seconds[1]),
        llm_calls=calls,
        tokens=(tokens[0], tokens[1]),
        cost_usd=None if has_model else (0.0, 0.0),
    )
