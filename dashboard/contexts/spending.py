"""What the model did in a run: answers of its own, calls, tokens and money by task."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

TASKS = {
    "follow_up": "Understanding the follow-up",
    "intake": "Understanding the question",
    "read": "Reading pages",
    "assess": "Judging a round",
    "draft": "Writing the report",
    "repair": "Mending sentences",
    "tree_queries": "Planning searches",
    "tree_extract": "Reading pages",
    "judge": "Marking the report",
}


def by_task(usage: Mapping[str, Any]) -> list[dict[str, str]]:
    """A line for each task that the model was asked, or that code did in its place."""
    spent = usage.get("spent_by", {}).get("task", {})
    fallbacks = usage.get("fallbacks", {})
    names = [name for name in TASKS if name in spent or name in fallbacks]
    return [
        _line(name, usage.get("answers", {}).get(name, 0), fallbacks.get(name, {}), spent.get(name))
        for name in names
    ]


def _line(
    name: str, answers: int, fallbacks: Mapping[str, int], spent: Mapping[str, Any] | None
) -> dict[str, str]:
    by_code = sum(fallbacks.values())
    return {
        "task": TASKS[name],
        "own": f"{answers} of {answers + by_code}",
        "calls": f"{spent['calls']:,}" if spent else "0",
        "tokens": f"{spent['prompt_tokens'] + spent['completion_tokens']:,}" if spent else "0",
        "cost": money(spent["cost_usd"] if spent else 0.0),
        "why": "; ".join(f"{cause} ({count})" for cause, count in fallbacks.items()),
    }


def money(amount: float | None) -> str:
    return "unknown" if amount is None else f"${amount:.4f}"


def evaluation(found: Mapping[str, Any] | None) -> str:
    """The marks of a finished run in one sentence, '' where nobody marked it."""
    if not found:
        return ""
    return (
        f"A model marked this run {found['composite']:.1f} of 10: the answer "
        f"{found['answer']:.1f} (60 %), how it came about {found['process']:.1f} (40 %). "
        f"{found['reasoning']}"
    ).strip()
