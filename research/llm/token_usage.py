"""Token counts reported by the server, as far as they are plausible."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Counts:
    """Token counts; None if the server reported none or zero. `cached` is included in `prompt`."""

    prompt: int | None = None
    completion: int | None = None
    cached: int = 0

    def updated(self, usage: Mapping[str, Any]) -> Counts:
        """Return the counts after an event. Reasoning tokens are billed as completion tokens, even
        if the server includes them only in the total or counts them separately.
        """
        prompt = _tokens(usage.get("prompt_tokens"))
        written = _tokens(usage.get("completion_tokens")) or 0
        total = _tokens(usage.get("total_tokens")) or 0
        thought = _tokens(_part(usage, "completion_tokens_details", "reasoning_tokens")) or 0
        if thought > written:
            written += thought
        if prompt:
            written = max(written, total - prompt)
        cached = _part(usage, "prompt_tokens_details", "cached_tokens")
        cached = _tokens(cached) or _tokens(usage.get("prompt_cache_hit_tokens"))
        return Counts(
            prompt or self.prompt, written or self.completion, min(cached or 0, prompt or 0)
        ) if prompt or written else self  # fmt: skip


def _part(usage: Mapping[str, Any], group: str, name: str) -> Any:
    found = usage.get(group)
    return found.get(name) if isinstance(found, dict) else None


def _tokens(value: Any) -> int | None:
    """Return a positive count, given as number or string; None for anything else."""
    if isinstance(value, str) and value.isascii() and value.isdigit():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1e12:
        return None
    return int(value)
