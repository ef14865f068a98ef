"""One attempt of one model call over the `openai` package; retries are the journal's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import openai
from openai import AsyncOpenAI

from research.engine.budget import CHARACTERS_PER_TOKEN
from research.engine.tools import ModelAnswer, ModelFailure, ModelRequest


@dataclass(frozen=True)
class ModelSettings:
    """Where the model is and which one does what. `base_url` None means OpenAI's own."""

    research_model: str
    evaluator_model: str
    base_url: str | None = None
    api_key: str = "none"
    timeout_seconds: float = 120.0


class ChatModel:
    """`Model` over chat completions, answers constrained by the task's JSON schema.

    A server that refuses `json_schema` is asked without it from then on; the schema then
    stands in the prompt, and what comes back is parsed all the same.
    """

    def __init__(self, settings: ModelSettings) -> None:
        self.name = settings.research_model
        self._settings = settings
        self._constrained = True
        self._client = AsyncOpenAI(
            base_url=settings.base_url,
            api_key=settings.api_key,
            timeout=settings.timeout_seconds,
            max_retries=0,
        )

    async def complete(self, request: ModelRequest) -> ModelAnswer:
        """Raises `ModelFailure` with a sentence for people."""
        constrained = self._constrained
        try:
            return await self._complete(request)
        except openai.BadRequestError:
            if not constrained:
                raise ModelFailure("the model's server refused the request") from None
            return await self._without_schema(request)
        except openai.APITimeoutError:
            raise ModelFailure("the model did not answer in time") from None
        except openai.APIConnectionError:
            raise ModelFailure("the model's server could not be reached") from None
        except openai.APIStatusError as error:
            raise _refused(error) from None
        except openai.OpenAIError:
            raise ModelFailure("the model's server gave an answer that can't be read") from None

    async def _without_schema(self, request: ModelRequest) -> ModelAnswer:
        """Ask again without `response_format`; where that helps, it is left out from now on."""
        self._constrained = False
        try:
            return await self.complete(request)
        except ModelFailure:
            self._constrained = True
            raise

    async def _complete(self, request: ModelRequest) -> ModelAnswer:
        completion = await self._client.chat.completions.create(
            model=self._model(request),
            messages=[
                {"role": "system", "content": request.system},
                {"role": "user", "content": self._prompt(request)},
            ],
            max_tokens=request.max_output_tokens,
            **self._form(request),
        )
        choices = completion.choices or []
        text = (choices[0].message.content if choices else None) or ""
        if not text.strip():
            raise ModelFailure("the model gave an empty answer")
        return self._answer(request, text, completion.usage)

    def _model(self, request: ModelRequest) -> str:
        settings = self._settings
        return settings.evaluator_model if request.role == "evaluator" else settings.research_model

    def _form(self, request: ModelRequest) -> dict[str, Any]:
        if not self._constrained:
            return {}
        schema = {"name": request.task, "schema": dict(request.schema), "strict": True}
        return {"response_format": {"type": "json_schema", "json_schema": schema}}

    def _prompt(self, request: ModelRequest) -> str:
        if self._constrained:
            return request.prompt
        return f"{request.prompt}\n# ANSWER\nOne JSON object of this schema: {request.schema}\n"

    def _answer(self, request: ModelRequest, text: str, usage: Any) -> ModelAnswer:
        counted = usage is not None and usage.total_tokens
        asked = len(request.system) + len(request.prompt)
        return ModelAnswer(
            text=text,
            model=self._model(request),
            prompt_tokens=usage.prompt_tokens if counted else asked // CHARACTERS_PER_TOKEN,
            completion_tokens=usage.completion_tokens
            if counted
            else len(text) // CHARACTERS_PER_TOKEN,
            tokens_estimated=not counted,
            cost_usd=None,
        )

    async def aclose(self) -> None:
        await self._client.close()


def _refused(error: openai.APIStatusError) -> ModelFailure:
    status = error.status_code
    if status in {401, 403}:
        return ModelFailure("the model's server refused the key", permanent=True)
    if status == 404:
        return ModelFailure("the model's server does not know this model", permanent=True)
    wait = _retry_after_seconds(error.response.headers.get("retry-after", ""))
    if status == 429:
        return ModelFailure("the model's server asks to slow down", retry_after_seconds=wait)
    return ModelFailure(f"the model's server answered {status}", retry_after_seconds=wait)


def _retry_after_seconds(header: str) -> float | None:
    """Seconds as a number; a date is not worth the trouble and counts as not given."""
    return float(header) if header.isascii() and header.isdigit() else None
