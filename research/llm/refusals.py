"""Decides which request option to drop after a rejection, from the server's error message."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from research.llm.capabilities import Capabilities, TokenLimit
from research.llm.failures import Refused

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
    known: Capabilities, error: Refused, sent: Mapping[str, Any]
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


def _named_field(error: Refused, sent: Mapping[str, Any]) -> GiveUp | None:
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
