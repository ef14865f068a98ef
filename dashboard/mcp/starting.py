"""A new run from the arguments of a tool; collections are named as their users name them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from dashboard.api import asking
from dashboard.api.auth import Caller
from research.models import Run
from research.services import documents

Depth = Literal["quick", "standard", "thorough"]
Sources = Literal["web", "documents", "both", "samples"]


def start_run(
    caller: Caller,
    *,
    question: str,
    depth: Depth | None = None,
    sources: Sources | None = None,
    collections: Sequence[str] = (),
    approve_first: bool = True,
    max_cost_usd: float | None = None,
    idempotency_key: str | None = None,
) -> Run:
    """Create a run. Raise `ServiceError` or `ConfigError` with a sentence for the user."""
    chosen = {"research_depth": depth, "max_cost_usd": max_cost_usd}
    knobs = {name: value for name, value in chosen.items() if value is not None}
    named = documents.find_by_name(caller.user, collections) if collections else []
    ids = [row.public_id for row in named]
    asked = asking.Asked(question, knobs, sources or "", ids, approve_first)
    return asking.start_run(caller, asked, idempotency_key)
