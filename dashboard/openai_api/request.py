"""What a request asks for: a question in a conversation, a research depth, and searches.

Models name the depths, tools the searches. Content is text or a list of parts.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from dashboard.openai_api.errors import InvalidRequestError
from dashboard.openai_api.housekeeping import answer_housekeeping, unwrap_question
from research.engine.knobs import ConfigError
from research.services.errors import ServiceError
from research.services.runs import QUESTION_LENGTH

INSTRUCTING = ("system", "developer")
TEXT_PARTS = ("text", "input_text", "output_text")
# "web_search", "web_search_2025_08_26", "web_search_preview_2025_03_11"
_WEB = re.compile(r"web_search(_preview)?(_\d{4}_\d{2}_\d{2})?")
FILES = "file_search"
DEPTHS = {
    "plumbline-quick": "quick",
    "plumbline-standard": "standard",
    "plumbline-thorough": "thorough",
}
DEEP_RESEARCH = "-deep-research"
"""OpenAI's deep research models, such as o4-mini-deep-research, are accepted as well."""


@dataclass(frozen=True)
class Conversation:
    """The last user message, and the one before it or ''."""

    question: str
    earlier: str = ""


def read_conversation(messages: Sequence[Any], param: str) -> Conversation:
    """Return the question.

    Raise `InvalidRequestError` if there is none, or it is more than text.
    """
    said = _contents(messages, ("user",))
    question = text_of(said[-1], param) if said else ""
    texts = [*filter(str.strip, [*map(_known_text, said[:-1]), question])]
    if not texts:
        raise InvalidRequestError("There is no user message with text.", param)
    asked = [unwrap_question(text).strip() for text in texts[-2:]]
    return Conversation(asked[-1], asked[-2] if len(asked) > 1 else "")


def find_ready_answer(messages: Sequence[Any], param: str) -> str | None:
    """Return the answer to what a client asks by itself; None for a question to research.

    It is the last user message, or a system message before it.
    """
    asked = _contents(messages, ("user",))
    texts = [text_of(content, param) for content in asked[-1:]]
    texts += [each for each in _contents(messages, INSTRUCTING) if isinstance(each, str)]
    earlier = [*filter(str.strip, map(_known_text, asked[:-1]))]
    return next(filter(None, (answer_housekeeping(text, earlier) for text in texts)), None)


def _contents(messages: Sequence[Any], roles: Sequence[str]) -> list[Any]:
    """Return the contents of the messages of these roles."""
    said = [message for message in messages if isinstance(message, dict)]
    return [each.get("content") for each in said if each.get("role") in roles]


def _known_text(content: Any) -> str:
    """Return the text of an earlier message without its images, which were refused then."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else ()
    texts = [part.get("text") for part in parts if isinstance(part, dict)]
    return "\n".join(text for text in texts if isinstance(text, str))


def check_length(question: str, param: str) -> None:
    """Raise `InvalidRequestError` for a question that is too long to research."""
    if len(question) > QUESTION_LENGTH:
        text = f"A question has at most {QUESTION_LENGTH:,} characters, not {len(question):,}."
        raise InvalidRequestError(text, param, "string_above_max_length")


def text_of(content: Any, param: str) -> str:
    """Return the text of a message. Raise `InvalidRequestError` for images and other parts."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        raise InvalidRequestError("The content of a message is a text or a list of parts.", param)
    texts = []
    for part in content:
        kind = part.get("type") if isinstance(part, dict) else None
        if kind not in TEXT_PARTS or not isinstance(part.get("text"), str):
            raise InvalidRequestError(f"Only text can be researched, not {kind!r}.", param)
        texts.append(part["text"])
    return "\n".join(texts)


@dataclass(frozen=True)
class SearchChoice:
    """`source` and `collections` of a run, and knobs that follow from filters.

    `params` tells where the request has what a run calls "collections" or "only_sites".
    """

    source: str = ""
    collections: tuple[str, ...] = ()
    knobs: dict[str, Any] = field(default_factory=dict)
    params: dict[str, str] = field(default_factory=dict)

    def refusal(self, error: ServiceError | ConfigError) -> InvalidRequestError:
        """Return the error in the words and with the parameter of the request."""
        if isinstance(error, ServiceError):
            return InvalidRequestError(
                str(error), self.params.get(error.about, error.about) or None
            )
        for name, text in error.problems.items():
            if name in self.params:
                return InvalidRequestError(text, self.params[name])
        return InvalidRequestError(str(error))


def choose_searches(tools: Sequence[Any]) -> SearchChoice:
    """Map web search to the installation's search, file search to collections by their ids.

    Raise `InvalidRequestError` that names a tool which isn't one of them.
    """
    web, collections = False, list[str]()
    knobs, params = dict[str, Any](), dict[str, str]()
    for place, tool in enumerate(tools):
        kind = tool.get("type") if isinstance(tool, dict) else None
        if isinstance(kind, str) and _WEB.fullmatch(kind):
            web = True
            params["only_sites"] = f"tools[{place}].filters.allowed_domains"
            knobs |= _allowed_sites(tool, f"tools[{place}].filters")
        elif kind == FILES:
            params["collections"] = f"tools[{place}].vector_store_ids"
            collections += _store_ids(tool, params["collections"])
        else:
            text = f"The tool {kind!r} is not supported; use web_search or file_search."
            raise InvalidRequestError(text, f"tools[{place}].type", "unsupported_tool")
    source = ("both" if web else "documents") if collections else ""
    return SearchChoice(source, tuple(dict.fromkeys(collections)), knobs, params)


def check_choice(choice: Any) -> None:
    """Raise `InvalidRequestError` if a request requires a tool that is never called."""
    kind = choice.get("type") if isinstance(choice, dict) else None
    if kind in (None, FILES, "allowed_tools") or _WEB.fullmatch(str(kind)):
        return
    text = f"The tool {kind!r} is never called here, so it can't be required."
    raise InvalidRequestError(text, "tool_choice", "unsupported_tool")


def _store_ids(tool: dict[str, Any], param: str) -> list[str]:
    ids = tool.get("vector_store_ids")
    if not isinstance(ids, list) or not ids or not all(isinstance(each, str) for each in ids):
        raise InvalidRequestError("File search takes a list of ids of collections.", param)
    return ids


def _allowed_sites(tool: dict[str, Any], param: str) -> dict[str, Any]:
    filters = tool.get("filters") or {}
    if not isinstance(filters, dict):
        raise InvalidRequestError("Filters are an object.", param)
    sites = filters.get("allowed_domains")
    if not sites:
        return {}
    if not isinstance(sites, list) or not all(isinstance(each, str) for each in sites):
        raise InvalidRequestError(
            "Allowed domains are a list of names.", f"{param}.allowed_domains"
        )
    return {"only_sites": tuple(sites)}


def find_depth(model: str) -> str:
    """Return the research depth of a model. Raise `InvalidRequestError` for an unknown one."""
    if model in DEPTHS:
        return DEPTHS[model]
    if DEEP_RESEARCH in model:
        return "standard" if "mini" in model else "thorough"
    names = ", ".join(DEPTHS)
    raise InvalidRequestError(
        f"The model {model!r} does not exist; use {names}.", "model", "model_not_found", 404
    )


def model_object(name: str) -> dict[str, Any]:
    return {"id": name, "object": "model", "created": 0, "owned_by": "plumbline"}
