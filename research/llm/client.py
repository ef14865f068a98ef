"""One attempt of one model call over the `openai` package; retries are the journal's."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import httpx2
import openai
from openai import AsyncOpenAI

from research.engine.budget import estimate_tokens
from research.engine.tools import Hear, ModelAnswer, ModelFailure, ModelRequest, ModelRole
from research.llm import failures
from research.llm.arriving import events
from research.llm.asking import fields_of
from research.llm.breaker import CircuitBreaker
from research.llm.capabilities import Capabilities, CapabilityBook
from research.llm.failures import Refused
from research.llm.prices import Price, price
from research.llm.refusals import after_refusal
from research.llm.reply import Reply
from research.llm.settings import ModelSettings
from research.llm.window import find_window

NO_EFFORT = "The model takes no reasoning effort; it was asked without."
NO_TEMPERATURE = "The model takes no temperature; it was asked without."
CUT_IN_SILENCE = (
    "The model's server counted far fewer tokens than it was sent, as if it had cut the prompt. "
    "MODEL_CONTEXT_TOKENS sets its window."
)
LONGEST_TOKEN, LONG_PROMPT = 10, 6000
IGNORED_SCHEMAS = 2


class ChatModel:
    """`Model` over chat completions at one server, answers constrained by the task's schema.

    A field that the server refuses is left out from then on, where the call then works; what
    is sent again so costs nothing and belongs to the same attempt.
    """

    def __init__(self, settings: ModelSettings, breaker: CircuitBreaker | None = None) -> None:
        self.name = settings.research_model
        self.settings = settings
        self.book = CapabilityBook(settings.known_in)
        self._breaker = breaker or CircuitBreaker()
        self._free = asyncio.Semaphore(settings.concurrency)
        self._ignored: dict[str, int] = {}
        self._in_vain: set[str] = set()
        self._client = AsyncOpenAI(
            base_url=settings.base_url,
            api_key=settings.api_key or "none",
            timeout=settings.timeout_seconds,
            max_retries=0,
        )

    async def complete(self, request: ModelRequest) -> ModelAnswer:
        """Raises `ModelFailure` with a sentence for people."""
        return await self._attempt(request, None)

    async def stream(self, request: ModelRequest, hear: Hear) -> ModelAnswer:
        """As `complete`; `hear` is told the text so far as it grows."""
        return await self._attempt(request, hear)

    async def context_tokens(self) -> int | None:
        """The smallest window among the models of the engine's tasks; None where none is known."""
        settings = self.settings
        if settings.context_tokens is not None:
            return settings.context_tokens
        models = {settings.research_model, settings.model_of("evaluator")}
        found = [await find_window(settings.address, settings.api_key, m) for m in sorted(models)]
        return min((window.tokens for window in found if window), default=None)

    def price(self, role: ModelRole = "research") -> Price | None:
        """Per-token prices of the model of a role; None where they are unknown."""
        settings = self.settings
        return price(settings.model_of(role), settings.base_url, settings.prices)

    def model_of(self, role: ModelRole) -> str:
        return self.settings.model_of(role)

    async def aclose(self) -> None:
        await self._client.close()

    # --- one attempt -------------------------------------------------------------------

    async def _attempt(self, request: ModelRequest, hear: Hear | None) -> ModelAnswer:
        reply = Reply()
        async with self._free:
            self._breaker.admit()
            try:
                async with asyncio.timeout(self.settings.timeout_seconds):
                    known = await self._adapting(request, reply, hear)
            except ModelFailure:
                self._breaker.succeeded()  # it answers, if only to say no
                raise
            except Refused as error:
                self._judge(error.status < 500)
                spent = self._given_up(request, reply) if reply.has_begun else None
                raise failures.refused(error, spent) from None
            except (TimeoutError, openai.APITimeoutError, httpx2.TimeoutException) as error:
                self._breaker.failed()
                spent = self._given_up(request, reply) if failures.was_sent(error) else None
                raise ModelFailure(failures.OUT_OF_TIME, spent=spent) from None
            except (openai.APIConnectionError, httpx2.HTTPError) as error:
                raise self._unconnected(error, request, reply) from None
            except (openai.OpenAIError, ValueError, RecursionError):
                self._breaker.succeeded()
                spent = self._given_up(request, reply)
                raise ModelFailure(failures.UNREADABLE, spent=spent) from None
            finally:
                self._breaker.released()
            self._breaker.succeeded()
        answer = self._answer(request, reply, known)
        if (fault := reply.fault()) is not None:
            raise ModelFailure(fault, spent=replace(answer, text=""))
        return answer

    def _judge(self, healthy: bool) -> None:
        if healthy:
            self._breaker.succeeded()
        else:
            self._breaker.failed()

    def _unconnected(self, error: Exception, request: ModelRequest, reply: Reply) -> ModelFailure:
        self._breaker.failed(absent=failures.nobody_there(error, self.settings.address))
        if failures.was_sent(error):
            return ModelFailure(failures.CONNECTION_LOST, spent=self._given_up(request, reply))
        return ModelFailure(failures.UNREACHABLE, permanent=self._breaker.is_down)

    async def _adapting(
        self, request: ModelRequest, reply: Reply, hear: Hear | None
    ) -> Capabilities:
        """Send it; what the server refuses is given up, and kept so where that helps or where
        the server named it. The same words are not taken for a riddle twice.
        """
        model = self.settings.model_of(request.role)
        start = known = self.book.get(self.settings.address, model)
        tried, first = {known}, ""
        while True:
            fields = fields_of(self.settings, request, known, hear is not None)
            try:
                is_stream = await self._send(fields, reply, hear or _nobody)
            except Refused as error:
                first = first or error.words
                final = error.is_final or reply.has_begun or first in self._in_vain
                found = None if final else after_refusal(known, error, fields)
                if found is None or found[0] in tried:
                    self._in_vain |= {first} if known != start else set()
                    raise
                other, is_named = found
                if is_named:
                    self._learn(model, known, other)
                tried.add(other)
                known = other
            else:
                if is_stream != ("stream" in fields):
                    known = replace(known, streaming="always" if is_stream else "never")
                self._learn(model, start, self._with_habits(model, known, reply))
                return known

    def _learn(self, model: str, before: Capabilities, after: Capabilities) -> None:
        self.book.learn(self.settings.address, model, before, after)

    def _with_habits(self, model: str, known: Capabilities, reply: Reply) -> Capabilities:
        """A server that twice answers a schema without any object takes no notice of schemas."""
        if known.form != "prompt" and "{" not in reply.answer and not reply.fault():
            self._ignored[model] = self._ignored.get(model, 0) + 1
            if self._ignored[model] >= IGNORED_SCHEMAS:
                known = replace(known, form="prompt")
        return replace(known, reasons=known.reasons or reply.reasoned)

    async def _send(self, fields: Mapping[str, Any], reply: Reply, hear: Hear) -> bool:
        """Fill the reply; whether it came as a stream. Raises `Refused` and what `openai` does."""
        begins_in = self.settings.first_token_seconds if "stream" in fields else None
        chat, is_stream = self._client.chat.completions.with_streaming_response, False
        try:
            async with asyncio.timeout(begins_in) as begins, chat.create(**fields) as response:
                if "html" in response.headers.get("content-type", ""):
                    raise ModelFailure(failures.NO_CHAT, permanent=True)
                async for is_stream, event in events(response.iter_bytes()):
                    if begins.when() is not None and not begins.expired():
                        begins.reschedule(None)
                    if isinstance(event, dict) and event.get("error"):
                        raise Refused.told(event["error"])
                    before = len(reply.text)
                    reply.take(event)
                    if is_stream and len(reply.text) > before:
                        hear(reply.text)
        except openai.APIStatusError as error:
            raise Refused.of(error) from None
        if not is_stream:
            reply.finish = reply.finish or "stop"
        return is_stream

    def _answer(self, request: ModelRequest, reply: Reply, known: Capabilities) -> ModelAnswer:
        """The reply with what it cost; what the server did not count is guessed and marked."""
        asked = estimate_tokens(request)
        prompt_tokens = asked if reply.prompt_tokens is None else reply.prompt_tokens
        given_up = (
            (NO_EFFORT, self.settings.reasoning_effort and not known.reasoning_effort),
            (NO_TEMPERATURE, self.settings.temperature is not None and not known.temperature),
            (CUT_IN_SILENCE, _seems_cut(request, reply)),
        )
        return self._counted(
            request,
            ModelAnswer(
                text=reply.answer,
                model=self.settings.model_of(request.role),
                prompt_tokens=prompt_tokens,
                completion_tokens=reply.written,
                tokens_estimated=not reply.is_counted,
                cut_off=reply.cut_off,
                notes=tuple(note for note, is_true in given_up if is_true),
            ),
            reply.counts.cached,
        )

    def _given_up(self, request: ModelRequest, reply: Reply) -> ModelAnswer:
        """What a call may have taken that did not come to its end: its prompt, and what came of
        the answer; all of the answer where none came, for it may be written to the end.
        """
        answer = replace(
            self._answer(request, reply, Capabilities()), text="", tokens_estimated=True
        )
        if not reply.has_begun:
            answer = replace(answer, completion_tokens=request.max_output_tokens)
        return self._counted(request, answer, reply.counts.cached)

    def _counted(self, request: ModelRequest, answer: ModelAnswer, cached: int) -> ModelAnswer:
        paid = self.price(request.role)
        tokens = (answer.prompt_tokens, answer.completion_tokens, cached)
        return replace(answer, cost_usd=paid.of(*tokens) if paid else None)


def _seems_cut(request: ModelRequest, reply: Reply) -> bool:
    """Whether a token would be longer, in characters of the prompt, than text ever has them."""
    length = len(request.system) + len(request.prompt)
    counted = reply.prompt_tokens or length
    return length > LONG_PROMPT and length > LONGEST_TOKEN * counted


def _nobody(text: str) -> None:
    """Nobody follows this stream."""
