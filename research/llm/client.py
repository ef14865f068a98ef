"""One attempt of one model call over the `openai` package; retries are the journal's."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import httpx2
import openai
from openai import AsyncOpenAI

from research.engine.budget import CHARACTERS_PER_TOKEN
from research.engine.tools import Hear, ModelAnswer, ModelFailure, ModelRequest, ModelRole
from research.llm import failures
from research.llm.breaker import CircuitBreaker
from research.llm.capabilities import Capabilities, CapabilityBook
from research.llm.prices import Price, price
from research.llm.reply import Reply, streamed, whole
from research.llm.settings import ModelSettings
from research.llm.window import find_window

NO_EFFORT = "The model takes no reasoning effort; it was asked without."
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

    async def aclose(self) -> None:
        await self._client.close()

    # --- one attempt -------------------------------------------------------------------

    async def _attempt(self, request: ModelRequest, hear: Hear | None) -> ModelAnswer:
        async with self._free:
            self._breaker.admit()
            try:
                async with asyncio.timeout(self.settings.timeout_seconds):
                    reply, known = await self._adapting(request, hear)
            except ModelFailure:
                self._breaker.succeeded()  # it answers, if only to say no
                raise
            except openai.APIStatusError as error:
                self._judge(error.status_code < 500)
                raise failures.refused(error) from None
            except (TimeoutError, openai.APITimeoutError, httpx2.TimeoutException):
                self._breaker.failed()
                spent = self._answer(request, Reply(), Capabilities())
                raise ModelFailure(failures.OUT_OF_TIME, spent=spent) from None
            except (openai.APIConnectionError, httpx2.HTTPError) as error:
                self._breaker.failed(absent=failures.nobody_there(error, self.settings.address))
                gone = self._breaker.is_down
                raise ModelFailure(failures.UNREACHABLE, permanent=gone) from None
            except (openai.OpenAIError, ValueError):
                self._breaker.succeeded()
                raise ModelFailure(failures.UNREADABLE) from None
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

    async def _adapting(
        self, request: ModelRequest, hear: Hear | None
    ) -> tuple[Reply, Capabilities]:
        """Send it; what the server refuses by name is given up, and kept so where that helps."""
        model = self.settings.model_of(request.role)
        known = self.book.get(self.settings.address, model)
        tried = {known}
        while True:
            fields = self._fields(request, known, hear is not None)
            try:
                reply = await self._send(fields, hear)
            except (openai.BadRequestError, openai.UnprocessableEntityError) as error:
                other = known.after_refusal(failures.said(error), fields)
                if other is None or other in tried:
                    raise
            except _OtherStreaming as found:
                other = replace(known, streaming=found.streaming)
                if other in tried:
                    raise ModelFailure(failures.UNREADABLE) from None
            else:
                self._remember(model, known, reply)
                return reply, known
            tried.add(other)
            known = other

    def _remember(self, model: str, known: Capabilities, reply: Reply) -> None:
        """A server that twice answers a schema without any object takes no notice of schemas."""
        if known.form != "prompt" and "{" not in reply.text and not reply.fault():
            self._ignored[model] = self._ignored.get(model, 0) + 1
            if self._ignored[model] >= IGNORED_SCHEMAS:
                known = replace(known, form="prompt")
        self.book.put(
            self.settings.address, model, replace(known, reasons=known.reasons or reply.reasoned)
        )

    def _fields(
        self, request: ModelRequest, known: Capabilities, wants_stream: bool
    ) -> dict[str, Any]:
        settings = self.settings
        fields: dict[str, Any] = {
            "model": settings.model_of(request.role),
            "messages": [
                {"role": "system", "content": request.system},
                {"role": "user", "content": _prompt(request, known)},
            ],
            known.token_limit: request.max_output_tokens,
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

    async def _send(self, fields: Mapping[str, Any], hear: Hear | None) -> Reply:
        if "stream" not in fields:
            completion = await self._client.chat.completions.create(**fields)
            if isinstance(completion, str):
                raise _OtherStreaming("always" if completion.startswith("data:") else "never")
            return whole(completion)
        async with asyncio.timeout(self.settings.first_token_seconds) as begins:
            stream = await self._client.chat.completions.create(**fields)

            async with stream:
                reply, any_came = await streamed(_noticed(stream, begins), hear or _nobody)
        if not any_came:
            raise _OtherStreaming("never")
        return reply

    def _answer(self, request: ModelRequest, reply: Reply, known: Capabilities) -> ModelAnswer:
        """The reply with what it cost; what the server did not count is guessed and marked."""
        asked = (len(request.system) + len(request.prompt)) // CHARACTERS_PER_TOKEN
        prompt_tokens = asked if reply.prompt_tokens is None else reply.prompt_tokens
        paid = self.price(request.role)
        no_effort = self.settings.reasoning_effort and not known.reasoning_effort
        return ModelAnswer(
            text=reply.text,
            model=self.settings.model_of(request.role),
            prompt_tokens=prompt_tokens,
            completion_tokens=reply.written,
            tokens_estimated=reply.prompt_tokens is None,
            cost_usd=paid.of(prompt_tokens, reply.written, reply.cached_tokens) if paid else None,
            cut_off=reply.cut_off,
            notes=(NO_EFFORT,) if no_effort else (),
        )


class _OtherStreaming(Exception):
    """The server answered with a stream where none was asked for, or without one."""

    def __init__(self, streaming: Any) -> None:
        super().__init__(streaming)
        self.streaming = streaming


async def _noticed(stream: Any, begins: asyncio.Timeout) -> Any:
    """The stream's chunks; the first one, thought or text, ends the waiting for a beginning."""
    async for chunk in stream:
        if begins.when() is not None and not begins.expired():
            begins.reschedule(None)
        yield chunk


def _nobody(text: str) -> None:
    """Nobody follows this stream."""


def _form(request: ModelRequest, known: Capabilities) -> dict[str, Any]:
    if known.form == "prompt":
        return {}
    if known.form == "json_object":
        return {"response_format": {"type": "json_object"}}
    schema = {"name": request.task, "schema": dict(request.schema), "strict": True}
    return {"response_format": {"type": "json_schema", "json_schema": schema}}


def _prompt(request: ModelRequest, known: Capabilities) -> str:
    if known.form == "json_schema":
        return request.prompt
    schema = json.dumps(dict(request.schema), ensure_ascii=False)
    return f"{request.prompt}\n# ANSWER\nOne JSON object of this schema: {schema}\n"
