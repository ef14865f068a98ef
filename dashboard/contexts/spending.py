"""What the model did in a run: answers of its own, calls, tokens and money by task."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dashboard import words

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

STAGES = {
    "intake": "Before research",
    **{stage.value: name for stage, name in words.STAGE.items()},
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


def by_stage(usage: Mapping[str, Any]) -> list[dict[str, Any]]:
    """A line for each stage in the order of a run, and their sum; none where nothing is known."""
    spent = usage.get("spent_by", {}).get("stage", {})
    lines = [_took(STAGES[name], spent[name]) for name in STAGES if name in spent]
    return [*lines, _together(usage, usage.get("seconds"))] if lines else []


def by_model(usage: Mapping[str, Any]) -> list[dict[str, Any]]:
    """A line for each model, one for calls that came to nothing, and their sum."""
    spent = usage.get("spent_by", {}).get("model", {})
    lines = [_took(name, part) for name, part in sorted(spent.items())]
    if lost := usage.get("llm_calls", 0) - sum(part["calls"] for part in spent.values()):
        lines.append(_took("No model answered", {"calls": lost}))
    return [*lines, _together(usage, None)] if lines else []


def _took(what: str, part: Mapping[str, Any]) -> dict[str, Any]:
    """`seconds` is None where it was not counted."""
    tokens = part.get("prompt_tokens", 0) + part.get("completion_tokens", 0)
    return {
        "what": what,
        "calls": f"{part['calls']:,}",
        "tokens": f"{tokens:,}",
        "cost": money(part.get("cost_usd", 0.0)),
        "seconds": part.get("seconds"),
    }


def _together(usage: Mapping[str, Any], seconds: float | None) -> dict[str, Any]:
    names = ("prompt_tokens", "completion_tokens", "cost_usd")
    part = {name: usage.get(name, 0) for name in names}
    took = _took("Together", {**part, "calls": usage.get("llm_calls", 0), "seconds": seconds})
    return {**took, "is_sum": True}


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
