"""The question in a conversation, whether its content is text or a list of parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dashboard.openai_api.errors import InvalidRequest
from research.services.runs import QUESTION_LENGTH

TEXT_PARTS = ("text", "input_text", "output_text")


@dataclass(frozen=True)
class Conversation:
    """The last user message, and the one before it or ''."""

    question: str
    earlier: str = ""


def read_conversation(messages: Sequence[Any], param: str) -> Conversation:
    """Return the question. Raise `InvalidRequest` if there is none."""
    said = [
        text_of(message.get("content"), param)
        for message in messages
        if isinstance(message, dict) and message.get("role") == "user"
    ]
    texts = [text.strip() for text in said if text.strip()]
    if not texts:
        raise InvalidRequest("There is no user message with text.", param)
    return Conversation(texts[-1], texts[-2] if len(texts) > 1 else "")


def check_length(question: str, param: str) -> None:
    """Raise `InvalidRequest` for a question that is too long to research."""
    if len(question) > QUESTION_LENGTH:
        text = f"A question has at most {QUESTION_LENGTH:,} characters, not {len(question):,}."
        raise InvalidRequest(text, param, "string_above_max_length")


def text_of(content: Any, param: str) -> str:
    """Return the text of a message. Raise `InvalidRequest` for images and other parts."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        raise InvalidRequest("The content of a message is a text or a list of parts.", param)
    texts = []
    for part in content:
        kind = part.get("type") if isinstance(part, dict) else None
        if kind not in TEXT_PARTS or not isinstance(part.get("text"), str):
            raise InvalidRequest(f"Only text can be researched, not {kind!r}.", param)
        texts.append(part["text"])
    return "\n".join(texts)
