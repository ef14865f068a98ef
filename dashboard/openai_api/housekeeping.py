"""Requests that chat clients send by themselves: titles, tags, follow-ups and search queries.

They are answered from the conversation without research. The wording is that of the default
prompts of Open WebUI and LibreChat; a client whose prompt was changed should use another model for
them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable

TITLE_LENGTH = 60
# Open WebUI: "### Task:\nGenerate a concise, 3-5 word title …\n### Chat History:\n<chat_history>"
_TASK = re.compile(r"\A\s*#{2,4} *Task:?", re.IGNORECASE)
# LibreChat: "Provide a concise, 5-word-or-less title for the conversation, using title case …"
_LIBRECHAT_TITLE = re.compile(
    r"\b(concise|detect)\b.{0,200}\btitle\b.{0,60}\bconversation", re.DOTALL
)


def answer_housekeeping(prompt: str) -> str | None:
    """Return the answer to a client's own request; None if the prompt is a question to research."""
    if _TASK.match(prompt):
        return next((make(prompt) for word, make in TASKS if word.search(prompt)), None)
    if len(prompt) < 20_000 and _LIBRECHAT_TITLE.search(prompt[:600]):
        return short_title(_first_question(prompt) or prompt)
    return None


def short_title(question: str) -> str:
    """Return a question as a title, cut at a word."""
    line = " ".join(question.split()).rstrip("?!. ")
    if len(line) <= TITLE_LENGTH:
        return line
    return line[:TITLE_LENGTH].rpartition(" ")[0] + "…"


def _title(prompt: str) -> str:
    history = prompt.partition("<chat_history>")[2]
    return json.dumps({"title": short_title(_first_question(history))}, ensure_ascii=False)


def _first_question(conversation: str) -> str:
    """Return the first line that a user said: "USER: How old do oaks get?", "||>User: …"."""
    for line in conversation.splitlines():
        speaker, _, text = line.strip().removeprefix("||>").partition(":")
        if speaker.strip().lower() == "user":
            return text.strip()
    return ""


TASKS: tuple[tuple[re.Pattern[str], Callable[[str], str]], ...] = (
    (re.compile(r"\bfollow-?up (questions|prompts)\b", re.I), lambda _: '{"follow_ups": []}'),
    (re.compile(r"\btags\b.{0,80}\bcategor", re.I | re.DOTALL), lambda _: '{"tags": []}'),
    (re.compile(r"\btitle\b", re.I), _title),
    (re.compile(r"\b(search|retrieval) quer(y|ies)\b", re.I), lambda _: '{"queries": []}'),
    (re.compile(r"\bautocomplet", re.I), lambda _: '{"text": ""}'),
)
