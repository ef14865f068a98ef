"""Probe of a model: short calls that show what its server accepts and what the model can do."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from time import monotonic

import httpx

from research.engine.ports import ModelAnswer, ModelFailedError, ModelRequest
from research.fetch.network import tls_context
from research.llm.capabilities import Capabilities
from research.llm.client import ChatModel
from research.llm.failures import SILENT
from research.llm.settings import ModelSettings
from research.llm.window import Window, find_window

PROBE_SECONDS = 50.0
SILENT_SECONDS = 8.0
"""Wait for the list of models, which needs no model to be loaded: any answer to it will do."""
ANSWER_TOKENS = 200
NUMBER = {
    "type": "object",
    "properties": {"sentence": {"type": "integer"}},
    "required": ["sentence"],
    "additionalProperties": False,
}
SHAPE = ModelRequest(
    "shape",
    "You are a helpful assistant.",
    "Name a colour of the rainbow and say a friendly word about it.",
    {
        "type": "object",
        "properties": {"colour": {"enum": ["red", "green", "blue"]}},
        "required": ["colour"],
        "additionalProperties": False,
    },
    ANSWER_TOKENS,
)
SENSE = ModelRequest(
    "sense",
    'You read numbered sentences and answer with one JSON object such as {"sentence": 1}.',
    "# QUESTION\nWhich sentence says in which year the mill was built?\n\n# PAGES\n"
    "[1] The mill stands by the river and is open on Sundays.\n"
    "[2] Flour was ground there for three villages.\n"
    "[3] It was built in 1742 by two brothers.\n"
    "[4] Today it houses a small museum.\n",
    NUMBER,
    ANSWER_TOKENS,
)
RIGHT = 3
SAME = "it answers different questions with the same text"
WORDS_ONLY = "it answers in words where JSON is asked for"
"""Why the answers of a model can't be used at all, however they are checked and mended."""


@dataclass(frozen=True)
class Probe:
    """Result of a probe. `failure` is set if nothing else is known; `seconds` is the time of a
    short answer, `keeps_schema` whether a schema was obeyed, `able` whether the test question was
    answered correctly.
    """

    failure: str | None = None
    seconds: float = 0.0
    keeps_schema: bool = False
    counts: bool = False
    able: bool = False
    takes: Capabilities = field(default_factory=Capabilities)
    window: Window | None = None


async def probe_model(settings: ModelSettings) -> Probe:
    """Detect the server's capabilities again and store them for later runs; return the findings.

    A server that accepts connections and answers nothing is found out before the model is called.
    """
    if await _is_silent(settings):
        return Probe(failure=SILENT)
    quick = replace(
        settings,
        timeout_seconds=min(settings.timeout_seconds, PROBE_SECONDS),
        first_token_seconds=min(settings.first_token_seconds, PROBE_SECONDS),
    )
    model = ChatModel(quick)
    model.book.forget(settings.address, settings.research_model)
    started = monotonic()
    try:
        shaped = await model.complete(SHAPE)
        seconds = monotonic() - started
        answers = [shaped, await model.complete(SENSE)]
        takes = model.book.get(settings.address, settings.research_model)
        keeps_schema = takes.form == "json_schema" and _has_colour(shaped)
        if takes.form != "prompt" and not keeps_schema and not _has_object(shaped):
            takes = replace(takes, form="prompt")
            model.book.put(settings.address, settings.research_model, takes)
        if not any(map(_has_object, answers)):
            answers.append(await model.complete(SENSE))  # now with the schema in words
    except ModelFailedError as failed:
        return Probe(failure=failed.reason)
    finally:
        await model.aclose()
    if unusable := _why_unusable(answers):
        return Probe(failure=unusable)
    return Probe(
        seconds=round(seconds, 1),
        keeps_schema=keeps_schema,
        counts=not shaped.tokens_estimated,
        able=_sentence(answers[-1]) == RIGHT,
        takes=takes,
        window=await _context_window(settings),
    )


async def _is_silent(settings: ModelSettings) -> bool:
    """Return whether a server takes a request for its models and doesn't answer it."""
    headers = {"Authorization": f"Bearer {settings.api_key}"} if settings.api_key else {}
    async with httpx.AsyncClient(
        headers=headers, timeout=SILENT_SECONDS, verify=tls_context()
    ) as client:
        try:
            async with asyncio.timeout(SILENT_SECONDS):
                await client.get(f"{settings.address.rstrip('/')}/models")
        except (TimeoutError, httpx.ReadTimeout):
            return True
        except httpx.HTTPError:
            return False
    return False


async def _context_window(settings: ModelSettings) -> Window | None:
    if settings.context_tokens is not None:
        return Window(settings.context_tokens)
    return await find_window(settings.address, settings.api_key, settings.research_model)


def _has_colour(answer: ModelAnswer) -> bool:
    try:
        return json.loads(answer.text)["colour"] in ("red", "green", "blue")
    except (ValueError, KeyError, TypeError):
        return False


def _why_unusable(answers: Sequence[ModelAnswer]) -> str:
    """Return why no task could use such answers to different questions; '' if one could."""
    if len({answer.text.strip() for answer in answers}) == 1:
        return SAME
    return "" if any(map(_has_object, answers)) else WORDS_ONLY


def _has_object(answer: ModelAnswer) -> bool:
    return "{" in answer.text


def _sentence(answer: ModelAnswer) -> int | None:
    found = re.search(r'"sentence"\s*:\s*"?(\d+)', answer.text)
    return int(found[1]) if found else None
