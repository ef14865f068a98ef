"""The activity log of a run: outside calls, time by kind of call, and model usage."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dashboard import words
from research.models import JournalEntry

TASKS = {
    "follow_up": "Asked the model what the follow-up is about",
    "intake": "Asked the model to understand the question",
    "read": "Asked the model to read pages",
    "assess": "Asked the model to judge the round",
    "compare": "Asked the model to compare the findings",
    "draft": "Asked the model to write the report",
    "section": "Asked the model for a section of the report",
    "summary": "Asked the model for the summary",
    "repair": "Asked the model to mend the report",
    "verify": "Asked the model to check statements",
    "tree_queries": "Asked the model for queries",
    "tree_extract": "Asked the model to read pages",
}
"""Model calls in the log, by task."""

OUTCOMES = {
    "pending": words.State("under way, or cut off", "spinner", "busy"),
    "failed": words.State("failed", "cross", "bad"),
    "refused": words.State("refused by a budget", "cross", "fair"),
}


def activity_line(entry: JournalEntry) -> dict[str, Any]:
    """Return one line of the log."""
    again = f" (attempt {entry.attempt})" if entry.attempt > 1 else ""
    return {
        "at": entry.created_at,
        "did": f"{describe_call(entry)}{again}",
        "outcome": OUTCOMES.get(entry.status),
        "told": summarize_result(entry),
        "seconds": entry.seconds,
    }


def describe_call(entry: JournalEntry) -> str:
    asked: Mapping[str, Any] = entry.request
    if entry.kind == "search":
        return f"Searched “{asked['query']}”"
    if entry.kind == "fetch":
        return f"Fetched {words.readable_url(asked['url'])}"
    return TASKS.get(asked["task"], f"Asked the model ({asked['task']})")


def summarize_result(entry: JournalEntry) -> str:
    """Return the result of a call in a few words; '' if it has none to show."""
    answer = entry.answer
    if not isinstance(answer, dict):
        return ""
    if reason := answer.get("reason"):
        return str(reason)
    if entry.kind == "search":
        return words.count_noun(len(answer.get("hits", ())), "result")
    if entry.kind == "fetch":
        return str(answer.get("note") or answer.get("title", ""))
    tokens = answer.get("prompt_tokens", 0) + answer.get("completion_tokens", 0)
    return words.count_noun(tokens, "token")


def spending_lines(totals: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return calls and seconds by kind and task, slowest first."""
    kinds = {"search": "Searching", "fetch": "Fetching pages"}
    return [
        {
            "what": kinds.get(row["kind"]) or TASKS.get(row["task"], row["task"]),
            "calls": row["calls"],
            "failed": row["failed"],
            "seconds": row["seconds"] or 0,
        }
        for row in sorted(totals, key=lambda row: -(row["seconds"] or 0))
    ]


# --- model usage ----------------------------------------------------------------


TASK_NAMES = {
    "follow_up": "Understanding the follow-up",
    "intake": "Understanding the question",
    "read": "Reading pages",
    "assess": "Judging a round",
    "compare": "Comparing the findings",
    "draft": "Writing the report",
    "section": "Writing a section",
    "summary": "Writing the summary",
    "repair": "Mending sentences",
    "verify": "Checking statements",
    "tree_queries": "Planning searches",
    "tree_extract": "Reading pages",
    "judge": "Marking the report",
}
"""Rows of the usage table, by task."""

STAGES = {
    "intake": "Before research",
    **{stage.value: name for stage, name in words.STAGE.items()},
}


def usage_by_task(usage: Mapping[str, Any]) -> list[dict[str, str]]:
    """Return a line for each task that was sent to the model or done by its fallback in code."""
    spent = usage.get("spent_by", {}).get("task", {})
    answers, fallbacks = usage.get("answers", {}), usage.get("fallbacks", {})
    return [
        _task_line(name, answers.get(name, 0), fallbacks.get(name, {}), spent.get(name))
        for name in TASK_NAMES
        if name in spent or name in fallbacks
    ]


def usage_by_stage(usage: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return a line for each stage in order, then the total; [] if nothing was recorded."""
    spent = usage.get("spent_by", {}).get("stage", {})
    lines = [_took(STAGES[name], spent[name]) for name in STAGES if name in spent]
    return [*lines, _together(usage, usage.get("seconds"))] if lines else []


def usage_by_model(usage: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return a line for each model, one for failed calls, then the total."""
    spent = usage.get("spent_by", {}).get("model", {})
    lines = [_took(name, part) for name, part in sorted(spent.items())]
    if lost := usage.get("llm_calls", 0) - sum(part["calls"] for part in spent.values()):
        lines.append(_took("No model answered", {"calls": lost}))
    return [*lines, _together(usage, None)] if lines else []


def _took(what: str, part: Mapping[str, Any]) -> dict[str, Any]:
    """Return a line of the table; `seconds` is None if they were not recorded."""
    tokens = part.get("prompt_tokens", 0) + part.get("completion_tokens", 0)
    return {
        "what": what,
        "calls": f"{part['calls']:,}",
        "tokens": f"{tokens:,}",
        "cost": format_usd(part.get("cost_usd", 0.0)),
        "seconds": part.get("seconds"),
    }


def _together(usage: Mapping[str, Any], seconds: float | None) -> dict[str, Any]:
    names = ("prompt_tokens", "completion_tokens", "cost_usd")
    part = {name: usage.get(name, 0) for name in names}
    took = _took("Together", {**part, "calls": usage.get("llm_calls", 0), "seconds": seconds})
    return {**took, "is_sum": True}


def _task_line(
    name: str, answers: int, fallbacks: Mapping[str, int], spent: Mapping[str, Any] | None
) -> dict[str, str]:
    by_code = sum(fallbacks.values())
    return {
        "task": TASK_NAMES[name],
        "own": f"{answers} of {answers + by_code}",
        "calls": f"{spent['calls']:,}" if spent else "0",
        "tokens": f"{spent['prompt_tokens'] + spent['completion_tokens']:,}" if spent else "0",
        "cost": format_usd(spent["cost_usd"] if spent else 0.0),
        "why": "; ".join(f"{cause} ({count})" for cause, count in fallbacks.items()),
    }


def format_usd(amount: float | None) -> str:
    return "unknown" if amount is None else f"${amount:.4f}"


def describe_evaluation(found: Mapping[str, Any] | None) -> str:
    """Return the evaluation of a finished run as a sentence; '' if it was not evaluated."""
    if not found:
        return ""
    return (
        f"A model marked this run {found['composite']:.1f} of 10: the answer "
        f"{found['answer']:.1f} (60 %), how it came about {found['process']:.1f} (40 %). "
        f"{found['reasoning']}"
    ).strip()
