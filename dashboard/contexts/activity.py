"""Every call of a run in words, and where its time went."""

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
    "draft": "Asked the model to write the report",
    "repair": "Asked the model to mend the report",
    "tree_queries": "Asked the model for queries",
    "tree_extract": "Asked the model to read pages",
}
OUTCOMES = {
    "pending": words.State("under way, or cut off", "spinner", "busy"),
    "failed": words.State("failed", "cross", "bad"),
    "refused": words.State("refused by a budget", "cross", "fair"),
}


def activity(entry: JournalEntry) -> dict[str, Any]:
    """One line of the log."""
    again = f" (attempt {entry.attempt})" if entry.attempt > 1 else ""
    return {
        "at": entry.created_at,
        "did": f"{did(entry)}{again}",
        "outcome": OUTCOMES.get(entry.status),
        "told": told(entry),
        "seconds": entry.seconds,
    }


def did(entry: JournalEntry) -> str:
    asked: Mapping[str, Any] = entry.request
    if entry.kind == "search":
        return f"Searched “{asked['query']}”"
    if entry.kind == "fetch":
        return f"Fetched {words.place(asked['url'])}"
    return TASKS.get(asked["task"], f"Asked the model ({asked['task']})")


def told(entry: JournalEntry) -> str:
    """What came back, in a few words."""
    answer = entry.answer
    if not isinstance(answer, dict):
        return ""
    if reason := answer.get("reason"):
        return str(reason)
    if entry.kind == "search":
        return words.count(len(answer.get("hits", ())), "result")
    if entry.kind == "fetch":
        return str(answer.get("note") or answer.get("title", ""))
    tokens = answer.get("prompt_tokens", 0) + answer.get("completion_tokens", 0)
    return words.count(tokens, "token")


def spent(totals: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Calls and seconds by kind and task, the longest first."""
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
