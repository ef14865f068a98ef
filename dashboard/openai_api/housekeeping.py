"""What chat clients wrap around a question, and what they ask of a model by themselves.

Requests for titles, tags, follow-ups, search queries, summaries and the like are answered from the
conversation, without research. They are recognized by the statement with which the default prompts
of Open WebUI and LibreChat open, never by what the conversation within them says. A client whose
prompts were changed should use another model for them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from dashboard import titles
from research.engine.text.language import language_of

TITLE_LENGTH = 60
HISTORY = "<chat_history>"
"""What Open WebUI's tasks show the conversation in."""
CHOOSING = "Your task is to choose and return the correct tool(s) from the list of available tools"
# "### Task:\nGenerate a concise title …": Open WebUI's tasks begin so, but also its RAG template.
_TASK = re.compile(r"\s*#{2,4} *Task:?\s*", re.IGNORECASE)
_RAG = re.compile(
    r"^#{2,4} *Task:?\s*Respond to the user query using the provided context\b",
    re.IGNORECASE | re.MULTILINE,
)
# Open WebUI's button that merges the answers of several models to one question
_MERGE = re.compile(
    r"\s*You have been provided with a set of responses from various models to the latest user "
    r'query: "(.*?)"\s{0,9}Your task is to synthesize these responses\b',
    re.DOTALL,
)
# Open WebUI's and LibreChat's last message of a conversation whose beginning they cut off
_COMPACTION = re.compile(
    r"\s*(#{2,4} *Task:?\s*Summarize the conversation (above|history) that will be compacted\b"
    r"|Hold on, before you continue I need you to write me a checkpoint\b"
    r"|Hold on again, update your checkpoint\b)",
    re.IGNORECASE,
)
PREVIOUS_SUMMARY = "### Previous Summary:"


def unwrap_question(prompt: str) -> str:
    """Return the user's question of a prompt in one of Open WebUI's templates; others are returned.

    In the template for merging answers it is quoted. By version of the RAG template it is a tag
    within it, or the text after or before it.
    """
    merged = _MERGE.match(prompt)
    if merged is not None:
        return merged[1]
    found = _RAG.search(prompt)
    if found is None:
        return prompt
    after = prompt[found.start() :].rpartition("</context>")[2]
    tagged = after.partition("<user_query>")[2].rpartition("</user_query>")[0]
    question = tagged.strip() or after.strip()
    return question or prompt[: found.start()].strip() or prompt


def answer_housekeeping(prompt: str, earlier: Sequence[str] = ()) -> str | None:
    """Return the answer to a client's own request; None if the prompt is a question to research.

    `earlier` is what the user said before in the conversation.
    """
    if _COMPACTION.match(prompt):
        return _summary(prompt, earlier)
    task = _TASK.match(prompt)
    if task and HISTORY in prompt:
        return _find_answer(_TASKS, prompt, task.end())
    return _find_answer(_OPENINGS, prompt, len(prompt) - len(prompt.lstrip()))


def _find_answer(answers: Answers, prompt: str, place: int) -> str | None:
    made = (make(prompt) for opening, make in answers if opening.match(prompt, place))
    return next(filter(None, made), None)


def short_title(question: str) -> str:
    """Return a question as a title, without its question mark."""
    return titles.short_title(question, TITLE_LENGTH).rstrip("?!. ")


def _user_lines(conversation: str) -> Iterator[str]:
    """Yield what a user said: "USER: How old …", "User: How old …", '||>User:\\n"How old …"'."""
    lines = iter(conversation.splitlines())
    for line in lines:
        speaker, _, text = line.strip().removeprefix("||>").partition(":")
        if speaker.strip().lower() == "user":
            yield (text.strip() or next(lines, "")).strip().strip('"')


def _history(prompt: str) -> Sequence[str]:
    """Return the user's lines in the chat history of one of Open WebUI's tasks."""
    return [*_user_lines(prompt.partition(HISTORY)[2])]


def _summary(prompt: str, earlier: Sequence[str]) -> str:
    """Return the questions so far: their reports are here, and continue by them."""
    before = prompt.partition(PREVIOUS_SUMMARY)[2].partition("\n### ")[0].strip()
    asked = [unwrap_question(text) for text in earlier] or [*_user_lines(prompt)]
    lines = [before] if before else []
    return "\n".join(
        [*lines, "Questions so far:", *(f"- {' '.join(text.split())}" for text in asked)]
    )


def _plain_title(prompt: str) -> str:
    return short_title(next(_user_lines(prompt), prompt))


def _titled(prompt: str) -> str:
    title = _plain_title(prompt)
    return _json({"language": language_of(title), "title": title})


def _choice_of_tools(prompt: str) -> str | None:
    return _json({"tool_calls": []}) if CHOOSING in prompt else None


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


Answers = tuple[tuple[re.Pattern[str], Callable[[str], str | None]], ...]

# Open WebUI, after "### Task:"; the numbers and the wording of titles differ by version.
_TASKS: Answers = (
    (
        re.compile(
            r"(?i)Generate a concise\b[^\n.]{0,30}\btitle\b[^\n]{0,30}"
            r"\bsummarizing the chat history"
        ),
        lambda prompt: _json({"title": short_title(next(iter(_history(prompt)), ""))}),
    ),
    (
        re.compile(r"(?i)Generate [\d-]+ broad tags categorizing\b"),
        lambda prompt: _json({"tags": []}),
    ),
    (
        re.compile(r"(?i)Suggest [\d-]+ relevant follow-?up (questions|prompts)\b"),
        lambda prompt: _json({"follow_ups": []}),
    ),
    (
        re.compile(
            r"(?i)(Analyze|Based on) the chat history,?( to)? determine\b[^\n]{0,50}\bsearch\b"
        ),
        lambda prompt: _json({"queries": []}),
    ),
    (
        re.compile(r"(?i)You are an autocompletion system\b"),
        lambda prompt: _json({"text": ""}),
    ),
    (
        re.compile(r"(?i)Generate a detailed prompt for a[mn]? image generation task\b"),
        lambda prompt: _json({"prompt": next(reversed(_history(prompt)), "")}),
    ),
)

# LibreChat's titles, then Open WebUI's choice of tools and of an emoji, which are no "### Task:".
_OPENINGS: Answers = (
    (
        re.compile(
            r"(?i)(Provide|Please generate) a concise, 5-word-or-less title for the conversation"
        ),
        _plain_title,
    ),
    (
        re.compile(
            r"(?i)Please generate a concise title \(max \d+ characters\) for a conversation\b"
        ),
        _plain_title,
    ),
    (
        re.compile(r"(?i)Analyze this conversation and provide:\s*1\. The detected language of\b"),
        _titled,
    ),
    (re.compile(r"(?i)Available Tools: "), _choice_of_tools),
    (
        re.compile(r"(?i)Your task is to reflect the speaker's likely facial expression through\b"),
        lambda prompt: "💬",
    ),
)
