"""The plan that waits for its approval."""

from __future__ import annotations

from typing import Any

from research.models import Run


def plan(run: Run) -> dict[str, Any]:
    """What is shown beside the form that approves the plan."""
    stored = run.plan or {}
    names = (
        ("Scope", "scope"),
        ("Evidence", "evidence_strategy"),
        ("Output", "output_format"),
    )
    return {
        "brief": stored.get("brief", ""),
        "facts": [{"name": name, "text": stored[key]} for name, key in names if stored.get(key)],
        "estimate": estimate(stored.get("estimate")),
    }


def estimate(stored: dict[str, Any] | None) -> str:
    """For example: About 12–60 s, 4–13 model calls, price unknown."""
    if not stored:
        return ""
    least, most = stored["llm_calls"]
    calls = [f"{_span(least, most)} model call{'' if most == 1 else 's'}"] if most else []
    return f"About {', '.join([_span_of_time(*stored['seconds']), *calls, price(stored)])}."


def price(stored: dict[str, Any]) -> str:
    if not stored["llm_calls"][1]:
        return "free"
    if stored.get("cost_usd") is None:
        return "price unknown"
    low, high = stored["cost_usd"]
    return f"${low:.2f}–{high:.2f}" if high else "free"


def _span_of_time(low: float, high: float) -> str:
    if high < 90:
        return f"{_span(round(low), round(high))} s"
    return f"{_span(max(1, round(low / 60)), round(high / 60))} min"


def _span(low: int, high: int) -> str:
    return f"{low}" if low == high else f"{low}–{high}"
