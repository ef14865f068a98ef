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
    """For example: About $0.04–0.11, 2–4 min, 6–13 model calls."""
    if not stored:
        return ""
    parts = []
    if stored.get("cost_usd"):
        low, high = stored["cost_usd"]
        parts.append("free" if not high else f"${low:.2f}–{high:.2f}")
    low, high = stored["seconds"]
    parts.append(_span_of_time(low, high))
    low, high = stored["llm_calls"]
    if high:
        parts.append(_span(low, high) + " model calls")
    return "About " + ", ".join(parts) + "."


def _span_of_time(low: float, high: float) -> str:
    if high < 90:
        return f"{_span(round(low), round(high))} s"
    return f"{_span(max(1, round(low / 60)), round(high / 60))} min"


def _span(low: int, high: int) -> str:
    return f"{low}" if low == high else f"{low}–{high}"
