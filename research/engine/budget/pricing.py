"""Price of the run's model: asked once, journaled, and required for a cap on money."""

from __future__ import annotations

from typing import get_args

from research.engine.knobs import ConfigError
from research.engine.ports import ModelRole, PricedModel
from research.engine.run import Run

UNKNOWN = (
    "MAX_COST_USD is set, but nobody knows what {model} costs: set its price, or take the limit "
    "on money away and limit MAX_TOKENS."
)


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
