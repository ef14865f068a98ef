"""What a model's server sent back, whole or as a stream, and whether it is an answer."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

from research.engine.budget import CHARACTERS_PER_TOKEN
from research.engine.tools import Hear

_CUT = frozenset({"length", "max_tokens"})
_REFUSED = frozenset({"content_filter", "refusal"})


@dataclass
class Reply:
    """`finish` is the server's word for why it ended, '' where a stream broke off.

    Tokens are None where the server did not count.
    """

    text: str = ""
    reasoning: str = ""
    refusal: str = ""
    finish: str = ""
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cached_tokens: int = 0

    @property
    def cut_off(self) -> bool:
        return self.finish in _CUT

    @property
    def reasoned(self) -> bool:
        return bool(self.reasoning) or "<think>" in self.text[:200].lower()

    @property
    def written(self) -> int:
        """Tokens that were written, by the server's count or a guess."""
        if self.completion_tokens is not None:
            return self.completion_tokens
        return (len(self.text) + len(self.reasoning)) // CHARACTERS_PER_TOKEN

    def fault(self) -> str | None:
        """Why this is no answer, in words for people; None where it is one."""
        if self.refusal or self.finish in _REFUSED:
            return "the model refused to answer"
        if not self.finish:
            return "the model's answer broke off"
        if not self.text.strip():
            reasoned = self.reasoning and self.cut_off
            return "the model used up its answer on reasoning" if reasoned else EMPTY
        return None


EMPTY = "the model gave an empty answer"


def whole(completion: Any) -> Reply:
    """A reply that came in one piece."""
    reply = Reply(finish="stop")
    choices = completion.choices or []
    if choices:
        message = choices[0].message
        reply.finish = choices[0].finish_reason or "stop"
        reply.text = (message.content if message else None) or ""
        reply.refusal = getattr(message, "refusal", None) or ""
        reply.reasoning = _reasoning(message)
    _count(reply, completion.usage)
    return reply


async def streamed(chunks: AsyncIterator[Any], hear: Hear) -> tuple[Reply, bool]:
    """A reply put together from its stream, and whether there was any; `hear` gets its text."""
    reply, any_came = Reply(), False
    async for chunk in chunks:
        any_came = True
        _count(reply, getattr(chunk, "usage", None))
        for choice in (chunk.choices or [])[:1]:
            delta = choice.delta
            reply.reasoning += _reasoning(delta)
            reply.refusal += getattr(delta, "refusal", None) or ""
            reply.finish = choice.finish_reason or reply.finish
            if part := getattr(delta, "content", None):
                reply.text += part
                hear(reply.text)
    return reply, any_came


def _reasoning(message: Any) -> str:
    """Servers put what a model thinks under one of two names, beside the answer."""
    found = getattr(message, "reasoning_content", None) or getattr(message, "reasoning", None)
    return found if isinstance(found, str) else ""


def _count(reply: Reply, usage: Any) -> None:
    if usage is None or not usage.total_tokens:
        return
    reply.prompt_tokens = usage.prompt_tokens
    reply.completion_tokens = usage.completion_tokens
    details = getattr(usage, "prompt_tokens_details", None)
    reply.cached_tokens = getattr(details, "cached_tokens", None) or 0
