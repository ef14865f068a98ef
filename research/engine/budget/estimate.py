"""Prices of the run's model, and the cost of a plan, as ranges, before it is approved.

The prices are asked once, journaled, and required for a cap on money.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import ceil
from typing import Literal, get_args

from research.engine.budget.meter import REPORT_CALLS, Rates, report_calls, sections_within
from research.engine.config import ResearchConfig
from research.engine.knobs import ConfigError
from research.engine.limits import (
    MOST_PARTS,
    THOROUGH_FROM,
    USUAL_PARTS,
    Limits,
    limits_for,
    tree_breadths,
)
from research.engine.ports import ModelRole, PricedModel
from research.engine.records import Complexity, Crowding, Estimate, Plan
from research.engine.report.report_format import LENGTHS, words_of_statements
from research.engine.run import Run
from research.engine.verifier.qualification import BATCHES

SECONDS_PER_CALL = (1.0, 10.0)
SECONDS_PER_ROUND = (0.05, 6.0)
TOKENS_PER_CALL = (700, 6000)
ANSWER_SHARE = (0.1, 0.25)
"""What of a call's tokens is the model's answer: the dear part."""
FEW_WORDS, FEW_OF_MANY = 120, 150
"""Words of a sub-question, about a paragraph, below which a deeper report is suggested."""
WORTHWHILE = 1.5
"""How many times as many a deeper report must have to be suggested."""
DEEPER: dict[str, Literal["standard", "thorough"]] = {"quick": "standard", "standard": "thorough"}
UNKNOWN = (
    "MAX_COST_USD is set, but nobody knows what {model} costs: set its price, or take the limit "
    "on money away and limit MAX_TOKENS."
)


@dataclass(frozen=True)
class Course:
    """A possible course of a run: its rounds, its model calls, and how many are sequential."""

    rounds: int
    calls: int
    in_a_row: int


@dataclass(frozen=True)
class Reach:
    """Bounds of a run before its question is known: words of the report, and the most rounds, which
    a simple question has fewer of than a complex one.
    """

    words: tuple[int, int]
    rounds: tuple[int, int]


def estimate_plan(
    plan: Plan,
    config: ResearchConfig,
    has_model: bool,
    rates: Rates,
    is_qualified: bool = True,
    parts: int = 0,
) -> Estimate:
    """Return the range from the shortest course to the longest, each including its report.

    The longest also qualifies the model as verifier if that hasn't been done. `parts` are the sub-
    questions that widen the limits.
    """
    allowed = limits_for(config, plan.complexity, parts)
    allowed = replace(allowed, sections=sections_within(config, allowed.sections, rates))
    short, long = (
        _estimate_tree(config)
        if config.deep_research_mode == "fixed"
        else _estimate_rounds(plan, allowed)
    )
    if config.has_verifier and not is_qualified:
        long = replace(long, calls=long.calls + BATCHES, in_a_row=long.in_a_row + 1)
    calls = (
        _count_calls(short, report_calls(allowed.sections) - 2, config),
        _count_calls(long, report_calls(allowed.sections), config),
    )
    calls = calls if has_model else (0, 0)
    tokens = tuple(min(config.max_tokens, calls[i] * TOKENS_PER_CALL[i]) for i in (0, 1))
    seconds = tuple(
        min(
            config.max_seconds,
            way.rounds * SECONDS_PER_ROUND[i] + has_model * way.in_a_row * SECONDS_PER_CALL[i],
        )
        for i, way in enumerate((short, long))
    )
    return Estimate(
        seconds=(seconds[0], seconds[1]),
        llm_calls=calls,
        tokens=(tokens[0], tokens[1]),
        cost_usd=_cost_range(tokens, config, rates) if has_model else (0.0, 0.0),
        words=allowed.words if parts else None,
        sources=_count_sources(allowed, parts) if parts else None,
    )


def estimate_depth(config: ResearchConfig) -> Reach:
    """Return the reach of a run of this depth, over questions of every complexity and breadth."""
    most = USUAL_PARTS if config.research_depth == "quick" else MOST_PARTS
    bends = {1, THOROUGH_FROM, USUAL_PARTS, most}  # between these, more parts take more
    cases = [(complexity, parts) for complexity in Complexity for parts in bends]
    allowed = [limits_for(config, complexity, parts) for complexity, parts in cases]
    return Reach(
        words=(min(each.words[0] for each in allowed), max(each.words[1] for each in allowed)),
        rounds=(min(each.rounds for each in allowed), max(each.rounds for each in allowed)),
    )


def find_crowding(
    plan: Plan, config: ResearchConfig, parts: int, estimate: Callable[[ResearchConfig], Estimate]
) -> Crowding | None:
    """Return what a deeper report has for each of so many `parts`; None if the words of this depth
    suffice, no depth has many more, or the form of the report sets its length.
    """
    depth = DEEPER.get(config.research_depth)
    if depth is None or parts < 2 or plan.form in LENGTHS:
        return None
    deeper = config.model_copy(update={"research_depth": depth})
    words, there = _words_of_part(plan, config, parts), _words_of_part(plan, deeper, parts)
    few = FEW_OF_MANY if parts > USUAL_PARTS else FEW_WORDS
    if words[1] >= few or there[1] < WORTHWHILE * words[1]:
        return None
    return Crowding(words[1], depth, there, estimate(deeper))


def _words_of_part(plan: Plan, config: ResearchConfig, parts: int) -> tuple[int, int]:
    """Return the minimum and maximum number of words per sub-question, rounded down to tens, as
    the draft's prompt gives them; all else that a standard report says counts towards its length.
    """
    least, most = limits_for(config, plan.complexity, parts).words
    if config.research_depth == "standard":
        most = words_of_statements(most, plan.complexity, parts)
    each = most // parts // 10 * 10
    return min(each, least // parts // 10 * 10), each


def _count_sources(allowed: Limits, parts: int) -> tuple[int, int]:
    """Return the range of sources, from what the gates require to what two rounds read.

    Sub-questions share pages, so that only half of these pages count.
    """
    topics = min(parts, allowed.topics_per_round)
    read = max(topics * allowed.pages_per_topic, allowed.pages_per_round)
    least = max(allowed.independent_sites, topics * allowed.sources_per_aspect // 2, 1)
    return least, max(least, read * min(2, allowed.rounds) // 2)


def _estimate_rounds(plan: Plan, allowed: Limits) -> tuple[Course, Course]:
    """Return the courses from one round to the soft end plus verification.

    A unit takes one `read` or shares it with others, a round takes one `assess`. Units read
    concurrently, so a round takes the time of two calls.
    """
    topics = allowed.topics_per_round
    units = allowed.readings(min(len(plan.aspects), topics))
    later = (allowed.rounds - 1) * allowed.readings(topics)
    least = 1 + units + 1
    most = 2 + units + later + allowed.rounds + 1
    return Course(1, least, 4), Course(allowed.rounds, most, 2 * allowed.rounds + 5)


def _estimate_tree(config: ResearchConfig) -> tuple[Course, Course]:
    """Return the course of the whole tree, or of as much of it as the search limit allows.

    Queries are generated for one node after the other, pages are read concurrently; there is no
    intake and no assessment.
    """
    rounds, calls, in_a_row = 0, 0, 0
    nodes, searches_left = 1, config.max_searches // len(config.search_kind)
    for breadth in tree_breadths(config):
        queries = min(nodes * breadth, searches_left)
        waves = ceil(queries / config.max_concurrent_research_units)
        rounds += waves
        calls += nodes + queries
        in_a_row += nodes + waves
        nodes *= breadth
        searches_left -= queries
        if not searches_left:
            break
    return Course(rounds, calls, in_a_row + 1), Course(rounds, calls, in_a_row + REPORT_CALLS)


def _count_calls(way: Course, report: int, config: ResearchConfig) -> int:
    """Return the calls of research, at most what the report's share leaves."""
    room = max(0, config.max_llm_calls - REPORT_CALLS)
    return min(min(way.calls, room) + report, config.max_llm_calls)


def _cost_range(
    tokens: tuple[int, ...], config: ResearchConfig, rates: Rates
) -> tuple[float, float] | None:
    """Return the cost range.

    It reaches from all calls by the cheapest model with short answers to all by the most expensive
    one with long answers.
    """
    if not rates:
        return None
    ends = []
    for count, share, choose in zip(tokens, ANSWER_SHARE, (min, max), strict=True):
        a_token = choose(own * (1 - share) + out * share for own, out in rates.values())
        cap = config.max_cost_usd
        cost = count * a_token
        ends.append(round(cost if cap is None else min(cost, cap), 6))
    return ends[0], ends[1]


async def know_prices(run: Run) -> None:
    """Hand the meter what tokens cost. Raises `ConfigError` for a cap that can't be kept."""
    if not run.has_model:
        return
    tools = run.journal.tools

    async def ask() -> dict[str, list[float] | None]:
        model = tools.model if tools else None
        if not isinstance(model, PricedModel):
            return {}
        prices = {role: model.price(role) for role in get_args(ModelRole)}
        return {role: price and [price.input, price.output] for role, price in prices.items()}

    recorded = await run.journal.decide_once("prices", ask)
    # a run that was begun before there was a reader had the research model read
    known = {"reader": recorded.get("research"), **recorded}
    rates = {role: rate for role, rate in known.items() if rate}
    unknown = [role for role in _roles_used(run) if role not in rates]
    if run.config.max_cost_usd is not None and unknown:
        model = tools.model if tools else None
        named = model.model_of(unknown[0]) if isinstance(model, PricedModel) else ""
        raise ConfigError(UNKNOWN.format(model=named or run.journal.analyst))
    run.journal.meter.rates = {role: (rate[0], rate[1]) for role, rate in rates.items()}


def _roles_used(run: Run) -> list[ModelRole]:
    """Those that the run asks: a tree has no rounds to judge, a report is marked where wanted."""
    has_judge = run.config.has_verifier or not run.is_fixed
    judging: list[ModelRole] = ["evaluator"] if has_judge else []
    marking: list[ModelRole] = ["judge"] if run.config.enable_online_evals else []
    return ["research", "reader", *judging, *marking]
