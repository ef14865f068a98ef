"""One attempt of one model call over the `openai` package; retries are left to the journal."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

import httpx2
import openai
from openai import AsyncOpenAI, DefaultAsyncHttpxClient

from research.engine.budget.meter import estimate_tokens
from research.engine.ports import Hear, ModelAnswer, ModelFailedError, ModelRequest, ModelRole
from research.fetch.network import model_tls_context
from research.limits.breaker import BreakerOpenError
from research.limits.limiter import Limiter, MemoryStore, Store, Turn
from research.llm import failures
from research.llm.capabilities import Capabilities, CapabilityBook, after_refusal, fields_of
from research.llm.failures import RefusedError
from research.llm.prices import Price, find_price
from research.llm.reply import Reply, parse_events
from research.llm.settings import ModelSettings
from research.llm.window import find_window
from research.operations.metrics import MODEL_CALLS, MODEL_SECONDS, count_tokens, measure_call

NO_EFFORT = "The model doesn't support REASONING_EFFORT; it was left out."
NO_TEMPERATURE = "The model doesn't support MODEL_TEMPERATURE; it was left out."
CUT_IN_SILENCE = (
    "The model's server counted far fewer tokens than it was sent: it probably truncated the "
    "prompt. Set MODEL_CONTEXT_TOKENS to its window."
)
LONGEST_TOKEN, LONG_PROMPT = 10, 6000
IGNORED_SCHEMAS = 2


class ChatModel:
    """`Model` over chat completions at one server; answers are constrained by the task's schema.

    A request option that the server rejects is dropped and the request repeated; if that works, the
    option is omitted from then on. A repetition costs nothing and belongs to the same attempt.
    Limits and circuit breaker of the server are those of all instances of a `store` together.
    """

    def __init__(
        self,
        settings: ModelSettings,
        store: Store | None = None,
    ) -> None:
        self.name = settings.research_model
        self.settings = settings
        self.book = CapabilityBook(settings.known_in)
        self._free = asyncio.Semaphore(settings.concurrency)
        self._limiter = Limiter(settings.account, settings.rule, store or MemoryStore())
        self._ignored: dict[str, int] = {}
        self._in_vain: set[str] = set()
        self._client = AsyncOpenAI(
            base_url=settings.base_url,
            api_key=settings.api_key or "none",
            timeout=settings.timeout_seconds,
            max_retries=0,
            http_client=DefaultAsyncHttpxClient(verify=model_tls_context()),
        )

    async def complete(self, request: ModelRequest) -> ModelAnswer:
        """Return the model's answer; raise `ModelFailedError` with a sentence for users."""
        return await self._measured(request, None)

    async def stream(self, request: ModelRequest, hear: Hear) -> ModelAnswer:
        """Like `complete`; calls `hear` with the text so far as it grows."""
        return await self._measured(request, hear)

    async def context_tokens(self) -> int | None:
        """Return the smallest context window of the models in use, in tokens; None if unknown."""
        settings = self.settings
        if settings.context_tokens is not None:
            return settings.context_tokens
        models = {settings.research_model, settings.model_of("evaluator")}
        found = [await find_window(settings.address, settings.api_key, m) for m in sorted(models)]
        return min((window.tokens for window in found if window), default=None)

    def price(self, role: ModelRole = "research") -> Price | None:
        """Return the price per token of a role's model; None if it is unknown."""
        settings = self.settings
        return find_price(settings.model_of(role), settings.base_url, settings.prices)

    def model_of(self, role: ModelRole) -> str:
        return self.settings.model_of(role)

    async def aclose(self) -> None:
        await self._client.close()

    async def _measured(self, request: ModelRequest, hear: Hear | None) -> ModelAnswer:
        """Make the attempt, counted in the metrics of the process."""
        server, model = urlsplit(self.settings.address).netloc, self.settings.model_of(request.role)
        with measure_call(MODEL_CALLS, MODEL_SECONDS, ModelFailedError, server, model):
            answer = await self._attempt(request, hear)
        count_tokens(model, answer.prompt_tokens, answer.completion_tokens)
        return answer

    # --- one attempt -------------------------------------------------------------------

    async def _attempt(self, request: ModelRequest, hear: Hear | None) -> ModelAnswer:
        reply = Reply()
        expected = estimate_tokens(request) + request.max_output_tokens
        try:
            async with self._free, self._limiter.turn(expected) as turn:
                answer = await self._take_turn(turn, request, reply, hear)
        except BreakerOpenError as open_breaker:
            raise failures.not_called(open_breaker) from None
        if (fault := reply.fault()) is not None:
            raise ModelFailedError(fault, spent=replace(answer, text=""))
        return answer

    async def _take_turn(
        self, turn: Turn, request: ModelRequest, reply: Reply, hear: Hear | None
    ) -> ModelAnswer:
        """Make the attempt, and tell the breaker whether the server is up.

        An answer that is an error means that it is up; a cancelled call says nothing.
        """
        try:
            async with asyncio.timeout(self.settings.timeout_seconds):
                known = await self._send_adapting(request, reply, hear)
        except ModelFailedError:
            turn.succeeded = True
            raise
        except RefusedError as error:
            turn.succeeded = error.status < 500
            if not turn.succeeded:
                await self._limiter.failed(turn)
            spent = self._given_up(request, reply) if reply.has_begun else None
            raise failures.refusal_failure(error, spent) from None
        except (TimeoutError, openai.APITimeoutError, httpx2.TimeoutException) as error:
            await self._limiter.failed(turn)
            spent = self._given_up(request, reply) if failures.was_sent(error) else None
            raise ModelFailedError(failures.OUT_OF_TIME, spent=spent) from None
        except (openai.APIConnectionError, httpx2.HTTPError) as error:
            raise await self._unconnected(error, turn, request, reply) from None
        except (openai.OpenAIError, ValueError, RecursionError):
            turn.succeeded = True
            spent = self._given_up(request, reply)
            raise ModelFailedError(failures.UNREADABLE, spent=spent) from None
        turn.succeeded = True
        answer = self._answer(request, reply, known)
        turn.took = answer.prompt_tokens + answer.completion_tokens
        return answer

    async def _unconnected(
        self, error: Exception, turn: Turn, request: ModelRequest, reply: Reply
    ) -> ModelFailedError:
        absent = failures.nobody_there(error, self.settings.address)
        is_down = await self._limiter.failed(turn, absent=absent)
        if failures.was_sent(error):
            return ModelFailedError(failures.CONNECTION_LOST, spent=self._given_up(request, reply))
        return ModelFailedError(failures.UNREACHABLE, permanent=is_down)

    async def _send_adapting(
        self, request: ModelRequest, reply: Reply, hear: Hear | None
    ) -> Capabilities:
        """Send the request, dropping options that the server rejects; return the capabilities used.

        They are remembered if the request then succeeds or if the error named the option. An error
        that no adaptation resolved is not retried a second time.
        """
        model = self.settings.model_of(request.role)
        start = known = self.book.get(self.settings.address, model)
        tried, first = {known}, ""
        while True:
            fields = fields_of(self.settings, request, known, hear is not None)
            try:
                is_stream = await self._send(fields, reply, hear or _nobody)
            except RefusedError as error:
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
        """Switch to schemas in the prompt if the server twice ignored a schema."""
        if known.form != "prompt" and "{" not in reply.answer and not reply.fault():
            self._ignored[model] = self._ignored.get(model, 0) + 1
            if self._ignored[model] >= IGNORED_SCHEMAS:
                known = replace(known, form="prompt")
        return replace(known, reasons=known.reasons or reply.reasoned)

    async def _send(self, fields: Mapping[str, Any], reply: Reply, hear: Hear) -> bool:
        """Fill the reply; return whether it was streamed.

        Raise `RefusedError` or an `openai` error.
        """
        begins_in = self.settings.first_token_seconds if "stream" in fields else None
        chat, is_stream = self._client.chat.completions.with_streaming_response, False
        try:
            async with asyncio.timeout(begins_in) as begins, chat.create(**fields) as response:
                if "html" in response.headers.get("content-type", ""):
                    raise ModelFailedError(failures.NO_CHAT, permanent=True)
                async for is_stream, event in parse_events(response.iter_bytes()):
                    if begins.when() is not None and not begins.expired():
                        begins.reschedule(None)
                    if isinstance(event, dict) and event.get("error"):
                        raise RefusedError.told(event["error"])
                    before = len(reply.text)
                    reply.take(event)
                    if is_stream and len(reply.text) > before:
                        hear(reply.text)
        except openai.APIStatusError as error:
            raise RefusedError.of(error) from None
        if not is_stream:
            reply.finish = reply.finish or "stop"
        return is_stream

    def _answer(self, request: ModelRequest, reply: Reply, known: Capabilities) -> ModelAnswer:
        """Return the answer with its usage; missing token counts are estimated and marked."""
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
        """Return the estimated usage of an aborted call: the prompt and the answer so far.

        If no answer arrived, its maximum length is assumed, since the server may still write it.
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
    """Return whether the server counted so few prompt tokens that it must have truncated it."""
    length = len(request.system) + len(request.prompt)
    counted = reply.prompt_tokens or length
    return length > LONG_PROMPT and length > LONGEST_TOKEN * counted


def _nobody(text: str) -> None:
    """Ignore streamed text."""
