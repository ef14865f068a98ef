"""Capabilities of a model's server, detected from its responses and cached for a week.

After a rejection, the server's error message decides which option is dropped. The body of a chat
completion is built from the options that remain.
"""

from __future__ import annotations

import json
import logging
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from time import time
from typing import Any, Literal

from research.engine.ports import ModelRequest
from research.llm.failures import RefusedError
from research.llm.settings import ModelSettings

AnswerForm = Literal["json_schema", "json_object", "prompt"]
Streaming = Literal["asked", "always", "never"]
TokenLimit = Literal["max_tokens", "max_completion_tokens"]

FRESH_SECONDS = 7 * 86_400
log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Capabilities:
    """Request options that one model at one server accepts; the defaults are tried first.

    `form` is how the answer's schema is passed, `streaming` whether responses are streamed.
    `most_output` is the maximum length of an answer in tokens, None if unlimited. `reasons` means
    that the model was seen to reason before it answers.
    """

    form: AnswerForm = "json_schema"
    token_limit: TokenLimit = "max_tokens"
    most_output: int | None = None
    system_role: bool = True
    streaming: Streaming = "asked"
    stream_usage: bool = True
    temperature: bool = True
    reasoning_effort: bool = True
    reasons: bool = False

    def plainer(self) -> Capabilities | None:
        """Return the next weaker answer form (schema, any JSON object, prompt only), or None."""
        if self.form == "prompt":
            return None
        return replace(self, form="json_object" if self.form == "json_schema" else "prompt")


class CapabilityBook:
    """Cache of capabilities by server and model, in a file shared by several processes.

    Entries older than a week are ignored. `path` None keeps the cache in memory only.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        self._known: dict[str, Capabilities] = {}

    def get(self, server: str, model: str) -> Capabilities:
        key = _key(server, model)
        if key not in self._known:
            entry = self._read().get(key, {})
            fresh = time() - entry.get("at", 0) < FRESH_SECONDS
            self._known[key] = _capabilities(entry if fresh else {})
        return self._known[key]

    def put(self, server: str, model: str, known: Capabilities) -> None:
        key = _key(server, model)
        if self._known.get(key) == known:
            return
        self._known[key] = known
        self._write({**self._read(), key: {"at": int(time()), **asdict(known)}})

    def learn(self, server: str, model: str, before: Capabilities, after: Capabilities) -> None:
        """Store what changed from `before` to `after`, keeping what other calls learned since."""
        changed = {
            name: value for name, value in asdict(after).items() if value != getattr(before, name)
        }
        self.put(server, model, replace(self.get(server, model), **changed))

    def forget(self, server: str, model: str) -> None:
        """Delete an entry, so that the next call or preflight check detects it again."""
        key = _key(server, model)
        self._known.pop(key, None)
        self._write({k: entry for k, entry in self._read().items() if k != key})

    def _read(self) -> dict[str, dict[str, Any]]:
        if self._path is None or not self._path.exists():
            return {}
        try:
            found = json.loads(self._path.read_text())
        except (OSError, ValueError):
            log.warning(
                "%s cannot be read; the servers' capabilities are detected again", self._path.name
            )
            return {}
        return found if isinstance(found, dict) else {}

    def _write(self, entries: dict[str, dict[str, Any]]) -> None:
        if self._path is None:
            return
        draft = self._path.with_suffix(f".{os.getpid()}")
        try:
            draft.write_text(json.dumps(entries, indent=1, sort_keys=True))
            draft.replace(self._path)
        except OSError as error:
            log.warning("%s cannot be written (%s)", self._path.name, error.strerror)


def _key(server: str, model: str) -> str:
    return f"{server.rstrip('/')} {model}"


def _capabilities(entry: dict[str, Any]) -> Capabilities:
    """Read an entry; fields that this version doesn't know are ignored."""
    known = {field.name for field in fields(Capabilities)}
    return Capabilities(**{name: value for name, value in entry.items() if name in known})


def fields_of(
    settings: ModelSettings, request: ModelRequest, known: Capabilities, wants_stream: bool
) -> dict[str, Any]:
    """Return the fields of one chat completion."""
    most = known.most_output or request.max_output_tokens
    fields: dict[str, Any] = {
        "model": settings.model_of(request.role),
        "messages": _messages(request, known),
        known.token_limit: min(request.max_output_tokens, most),
        **_form(request, known),
    }
    if settings.temperature is not None and known.temperature:
        fields["temperature"] = settings.temperature
    if settings.reasoning_effort and known.reasoning_effort:
        fields["reasoning_effort"] = settings.reasoning_effort
    if known.streaming == "always" or (wants_stream and known.streaming == "asked"):
        fields["stream"] = True
        if known.stream_usage:
            fields["stream_options"] = {"include_usage": True}
    return fields


def _form(request: ModelRequest, known: Capabilities) -> dict[str, Any]:
    if known.form == "prompt":
        return {}
    if known.form == "json_object":
        return {"response_format": {"type": "json_object"}}
    schema = {"name": request.task, "schema": dict(request.schema), "strict": True}
    return {"response_format": {"type": "json_schema", "json_schema": schema}}


def _messages(request: ModelRequest, known: Capabilities) -> list[dict[str, str]]:
    """Return the messages; the system prompt joins the user message if that role is rejected."""
    prompt = request.prompt
    if known.form != "json_schema":
        schema = json.dumps(dict(request.schema), ensure_ascii=False)
        prompt = f"{prompt}\n# ANSWER\nOne JSON object of this schema: {schema}\n"
    if not known.system_role:
        return [{"role": "user", "content": f"{request.system}\n\n{prompt}"}]
    return [{"role": "system", "content": request.system}, {"role": "user", "content": prompt}]


GiveUp = Callable[[Capabilities], Capabilities | None]
_OPTIONAL = ("stream_options", "reasoning_effort", "temperature")
_BY_NAME_ONLY = frozenset({0, 500, 501})
# "'system' role is not supported", "Only user and assistant roles are supported"
_ROLE = re.compile(
    r"\b(system|developer)\W{1,2}(role|instruction|message|prompt)s?\b.{0,60}\b(not|un\w+)\b"
    r"|\broles?\b.{0,60}\b(system|developer|alternate)\b|only user and assistant roles",
    re.IGNORECASE | re.DOTALL,
)
_STREAM = re.compile(r"\bstream(ing|s)?\b", re.IGNORECASE)


def after_refusal(
    known: Capabilities, error: RefusedError, sent: Mapping[str, Any]
) -> tuple[Capabilities, bool] | None:
    """Return the capabilities to try next, and whether the error named the option; None to give up.

    A named option is dropped. If none is named, the answer form is weakened step by step; at last
    all optional fields are dropped at once.
    """
    if (most := error.most_output(sent[known.token_limit])) is not None:
        return replace(known, most_output=most), True
    if known.system_role and _ROLE.search(error.words):
        return replace(known, system_role=False), True
    if error.status not in {400, 422} and error.status not in _BY_NAME_ONLY:
        return None
    if named := _named_field(error, sent):
        return _result(named(known), True)
    if error.status in _BY_NAME_ONLY:
        return None
    if _STREAM.search(error.words) and "stream" not in sent:
        return replace(known, streaming="always"), True
    for field, words, give_up in _HINTS:
        if field in sent and words.search(error.words):
            return _result(give_up(known), False)
    return _result(known.plainer() or _bare(known, sent), False)


def _result(other: Capabilities | None, named: bool) -> tuple[Capabilities, bool] | None:
    return None if other is None else (other, named)


def _named_field(error: RefusedError, sent: Mapping[str, Any]) -> GiveUp | None:
    """Return the adaptation for the field that the error names, else the first one in its text."""
    told = [field for field in _GIVEN_UP if field == error.field and field in sent]
    found = {
        at.start(): field
        for field in _GIVEN_UP
        if field in sent and (at := re.search(_NAMES.get(field, rf"\b{field}\b"), error.words))
    }
    first = told or [field for _, field in sorted(found.items())]
    return _GIVEN_UP[first[0]] if first else None


def _other_limit(known: Capabilities) -> Capabilities:
    other: TokenLimit = (
        "max_completion_tokens" if known.token_limit == "max_tokens" else "max_tokens"
    )
    return replace(known, token_limit=other)


def _bare(known: Capabilities, sent: Mapping[str, Any]) -> Capabilities | None:
    if not any(field in sent for field in _OPTIONAL):
        return None
    return replace(known, stream_usage=False, reasoning_effort=False, temperature=False)


_GIVEN_UP: dict[str, GiveUp] = {
    "stream_options": lambda known: replace(known, stream_usage=False),
    "response_format": Capabilities.plainer,
    "reasoning_effort": lambda known: replace(known, reasoning_effort=False),
    "temperature": lambda known: replace(known, temperature=False),
    "max_tokens": _other_limit,
    "max_completion_tokens": _other_limit,
}
_NAMES = {
    "stream_options": r"\b(stream_options|include_usage)\b",
    "response_format": r"(?i)\bresponse[ _]format\b|\bjson_(schema|object)\b",
}
_HINTS: tuple[tuple[str, re.Pattern[str], GiveUp], ...] = (
    ("response_format", re.compile(r"schema|grammar|structured|\bjson mode\b", re.IGNORECASE),
     Capabilities.plainer),
    ("reasoning_effort", re.compile(r"\breasoning\b|\bthink", re.IGNORECASE),
     _GIVEN_UP["reasoning_effort"]),
    ("stream", _STREAM, lambda known: replace(known, streaming="never")),
)  # fmt: skip
