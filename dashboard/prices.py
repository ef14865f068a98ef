"""What the calls of a model cost, in the same words on every page."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from django.utils.translation import gettext

from dashboard import words
from research.llm.settings import is_loopback
from research.models import Run
from research.runtime.installation import current_installation
from research.runtime.status_summary import price_known


def describe_price(low: float | None, high: float | None = None, *, is_local: bool) -> str:
    """Return an amount or a range of dollars; without a price, a local model costs nothing."""
    most = low if high is None else high
    if low is None or most is None:
        return gettext("No cost") if is_local else gettext("Price unknown")
    if not most:
        return gettext("No cost")
    told = words.format_usd(low, 2)
    return told if high is None else f"{told}–{words.format_number(high, 2)}"


def priced_usage(run: Run) -> dict[str, Any]:
    """Return the usage of a run, where what a local model took costs nothing."""
    usage = dict(run.usage)
    if usage.get("cost_usd", 0.0) is not None or not is_model_local(run.analyst):
        return usage
    spent = {
        kind: {name: {**part, "cost_usd": 0.0} for name, part in parts.items()}
        for kind, parts in usage.get("spent_by", {}).items()
    }
    return {**usage, "cost_usd": 0.0, "spent_by": spent}


def is_model_local(name: str = "") -> bool:
    """Return whether the model of new runs is on this machine and, if given, has this name."""
    model = current_installation().model_settings
    if model is None or (name and name != model.research_model):
        return False
    return is_loopback(urlsplit(model.address).hostname or "")


def always_shows_plan() -> bool:
    """Return whether every plan but that of a quick run is shown first: its cost is unknown."""
    model = current_installation().model_settings
    return model is not None and not price_known(model)


def explain_asking() -> str:
    """Return what a run costs or, if the price is known, from which cost on its plan is shown."""
    now = current_installation()
    if now.model_settings is None:
        return ""
    if always_shows_plan():
        if is_model_local():
            return gettext("No cost: the model is on this machine.")
        return gettext("The model has no price here.")
    if not now.defaults.ask_above_usd:
        return gettext("Standard and thorough runs that cost anything show you the plan first.")
    told = gettext(
        "Standard and thorough runs that may cost more than %(amount)s show you the plan first."
    )
    return told % {"amount": words.format_usd(now.defaults.ask_above_usd, 2)}
