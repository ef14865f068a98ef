"""The tokens that a server counted, as far as its numbers can be believed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Counts:
    """None where the server did not count; a zero is no count. `cached` is among `prompt`."""

    prompt: int | None = None
    completion: int | None = None
    cached: int = 0

    def updated(self, usage: Mapping[str, Any]) -> Counts:
        """With what an event tells. What is thought is paid like what is written, also where a
        server counts it in the total alone, or beside the answer.
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
    """A count above zero, also as a string; None for anything else."""
    if isinstance(value, str) and value.isascii() and value.isdigit():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1e12:
        return None
    return int(value)
