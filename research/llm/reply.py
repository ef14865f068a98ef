"""A model server's response, parsed while it arrives, and whether it is a valid answer.

Tolerates any structure: missing and unexpected fields are ignored. Token counts are taken as far as
they are plausible.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from research.engine.budget.meter import tokens_of
from research.engine.llm_tasks.prompting.parse_json import without_thoughts

_BESIDE = (b":", b"event:", b"id:", b"retry:")
_CUT = frozenset({"length", "max_tokens", "model_length"})
_REFUSED = frozenset({"content_filter", "refusal", "safety", "recitation", "blocklist"})
_BROKEN = frozenset({"", "error"})
_THINKS = frozenset({"thinking", "reasoning"})
EMPTY = "the model gave an empty answer"
ALL_REASONING = "the model used up its answer on reasoning"
BROKE_OFF = "the model's answer was cut off"


async def parse_events(chunks: AsyncIterator[bytes]) -> AsyncIterator[tuple[bool, Any]]:
    """Yield the JSON values of a body, each with whether it was a stream event.

    Detected from the body itself: servers stream without being asked or ignore the request to
    stream, with any content type. Raise `ValueError` if the body is neither.
    """
    is_stream, pending, others = False, b"", []
    async for line in _lines(chunks):
        if line.startswith(b"data:"):
            is_stream = True
            pending += line.removeprefix(b"data:").strip()
            if pending == b"[DONE]":
                return
            value = _json(pending)
            if value is not _UNFINISHED:
                pending = b""
                yield True, value
        elif not line.startswith(_BESIDE):
            others.append(line)
    if not is_stream:
        yield False, json.loads(b"\n".join(others))
    elif pending:
        raise ValueError("an event of the stream is no JSON")


_UNFINISHED = object()


def _json(text: bytes) -> Any:
    """Return an event's value; `_UNFINISHED` if it continues on the next line or is invalid."""
    try:
        return json.loads(text)
    except ValueError:
        return _UNFINISHED


async def _lines(chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    r"""Yield lines split at "\n" only: other line separators may occur within a JSON string."""
    parts: list[bytes] = []
    async for chunk in chunks:
        *lines, rest = chunk.split(b"\n")
        for line in lines:
            yield b"".join([*parts, line]).rstrip(b"\r")
            parts = []
        parts.append(rest)
    yield b"".join(parts).rstrip(b"\r")


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


@dataclass
class Reply:
    """An accumulated response; `finish` is the server's finish reason ('' if none), `called` the
    arguments of a tool call, which some servers use for the answer.
    """

    text: str = ""
    reasoning: str = ""
    called: str = ""
    refusal: str = ""
    finish: str = ""
    counts: Counts = field(default_factory=Counts)

    def take(self, event: Any) -> None:
        """Add a whole completion, or the next chunk of one."""
        found = _mapping(event)
        self.counts = self.counts.updated(_mapping(found.get("usage")))
        for choice in map(_mapping, _as_list(found.get("choices"))[:1]):
            said = _mapping(choice["delta"] if "delta" in choice else choice.get("message"))
            content = said.get("content", choice.get("text"))
            self.text += _content_text(content)
            self.reasoning += _thought(content) or _reasoning(said)
            self.called += _arguments(said)
            self.refusal += _content_text(said.get("refusal"))
            self.finish = _content_text(choice.get("finish_reason")).lower() or self.finish

    @property
    def has_begun(self) -> bool:
        return bool(self.text or self.reasoning or self.called)

    @property
    def answer(self) -> str:
        """Return the text, or else the JSON found in a tool call or in the reasoning."""
        if self.text.strip() or self.cut_off:
            return self.text
        return self.called or (self.reasoning if "{" in self.reasoning else self.text)

    @property
    def cut_off(self) -> bool:
        return self.finish in _CUT

    @property
    def reasoned(self) -> bool:
        return bool(self.reasoning) or "<think>" in self.text[:200].lower()

    @property
    def prompt_tokens(self) -> int | None:
        return self.counts.prompt

    @property
    def written(self) -> int:
        """Completion tokens, counted by the server or else estimated."""
        guess = tokens_of(self.text, self.reasoning, self.called)
        return guess if self.counts.completion is None else self.counts.completion

    @property
    def is_counted(self) -> bool:
        """Return whether the server counted prompt and completion tokens."""
        counts = self.counts
        return counts.prompt is not None and (counts.completion is not None or not self.has_begun)

    def fault(self) -> str | None:
        """Return why the response is not an answer, in words for users; None if it is one."""
        if self.refusal or self.finish in _REFUSED:
            return "the model refused to answer"
        if self.finish in _BROKEN and not _ends_whole(self.answer):
            return BROKE_OFF
        if self.cut_off and not without_thoughts(self.text).strip():
            return ALL_REASONING if self.reasoned else EMPTY
        return None if self.answer.strip() else EMPTY


def _ends_whole(text: str) -> bool:
    """Return whether the text ends with a closed object: some servers send no finish reason."""
    return text.rstrip("` \n").endswith("}")


def _content_text(content: Any) -> str:
    """Return the text of a message, which may come in parts or as an object instead of its JSON."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "".join(_content_text(part) for part in content if _kind(part) not in _THINKS)
    if isinstance(content, dict):
        told = content.get("text")
        return told if isinstance(told, str) and "type" in content else json.dumps(content)
    return ""


def _thought(content: Any) -> str:
    parts = [part for part in _as_list(content) if _kind(part) in _THINKS]
    return "".join(_content_text(part.get(_kind(part)) or part.get("text")) for part in parts)


def _kind(part: Any) -> str:
    return _content_text(_mapping(part).get("type"))


def _reasoning(said: Mapping[str, Any]) -> str:
    """Return the reasoning text, for which servers use one of two field names."""
    found = said.get("reasoning_content") or said.get("reasoning")
    return found if isinstance(found, str) else ""


def _arguments(said: Mapping[str, Any]) -> str:
    """Return the arguments of the first tool call; a stream sends them in pieces."""
    calls = [_mapping(call) for call in _as_list(said.get("tool_calls"))]
    made = [_mapping(call.get("function")) for call in calls if not call.get("index")][:1]
    return "".join(_content_text(call.get("arguments")) for call in [*made, *_legacy(said)][:1])


def _legacy(said: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [_mapping(said["function_call"])] if said.get("function_call") else []


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
