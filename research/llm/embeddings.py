"""Embeddings of texts from a server with OpenAI's `/embeddings`, as vectors of unit length.

Vectors of one model say nothing beside those of another.
"""

from __future__ import annotations

import json
import math
from array import array
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

import openai
from openai import AsyncOpenAI, DefaultAsyncHttpxClient

from research.fetch.network import model_tls_context
from research.fulltext.meaning import TOO_LATE, EmbeddingFailedError, Vector
from research.limits.breaker import BreakerOpenError
from research.limits.limiter import Limiter, MemoryStore, Store, Turn
from research.llm.prices import OPENAI
from research.llm.settings import EmbeddingSettings
from research.operations.metrics import MODEL_CALLS, MODEL_SECONDS, measure_call

MOST_CHARACTERS = 1200
"""Of a text; small models take some 500 tokens and refuse longer inputs."""
TIMEOUT_SECONDS = 20.0
DOWN = "the embedding server is down"
UNREACHABLE = "the embedding server could not be reached"
WRONG_KEY = "the embedding server refused the key"
UNREADABLE = "the embedding server gave an answer that can't be read"
NO_EMBEDDINGS = "the embedding server knows no such model, or offers no embeddings at this address"
_PREFIXES = {
    "nomic-embed": ("search_query: ", "search_document: "),
    "e5-": ("query: ", "passage: "),
    "mxbai-embed": ("Represent this sentence for searching relevant passages: ", ""),
}
"""What models were trained to see before a query and before a passage, by a part of their name."""


class EmbeddingModel:
    """An embedding model at one server, whose limits are those of all instances of a `store`."""

    def __init__(self, settings: EmbeddingSettings, store: Store | None = None) -> None:
        self.settings = settings
        self.name = settings.model
        self._limiter = Limiter(settings.account, settings.rule, store or MemoryStore())
        self._client = AsyncOpenAI(
            base_url=settings.base_url,
            api_key=settings.api_key or "none",
            timeout=TIMEOUT_SECONDS,
            max_retries=0,
            http_client=DefaultAsyncHttpxClient(verify=model_tls_context()),
        )
        given = (each for name, each in _PREFIXES.items() if name in settings.model)
        self._of_query, self._of_passage = next(given, ("", ""))

    async def embed_queries(self, texts: Sequence[str]) -> list[Vector]:
        """Return a vector for each query; raise `EmbeddingFailedError`."""
        return await self._embed([self._of_query + text for text in texts])

    async def embed_passages(self, texts: Sequence[str]) -> list[Vector]:
        """Return a vector for each passage; raise `EmbeddingFailedError`."""
        return await self._embed([self._of_passage + text for text in texts])

    async def aclose(self) -> None:
        await self._client.close()

    async def _embed(self, texts: Sequence[str]) -> list[Vector]:
        server = urlsplit(self.settings.base_url or OPENAI).netloc
        cut = [text[:MOST_CHARACTERS] for text in texts]
        with measure_call(MODEL_CALLS, MODEL_SECONDS, EmbeddingFailedError, server, self.name):
            return await self._ask(cut)

    async def _ask(self, texts: list[str]) -> list[Vector]:
        expected = sum(map(len, texts)) // 4
        try:
            async with self._limiter.turn(expected) as turn:
                answer = await self._send(turn, texts)
            return _vectors(answer, len(texts))
        except BreakerOpenError:
            raise EmbeddingFailedError(DOWN) from None
        except openai.APITimeoutError:
            raise EmbeddingFailedError(TOO_LATE) from None
        except openai.APIConnectionError:
            raise EmbeddingFailedError(UNREACHABLE) from None
        except openai.APIStatusError as error:
            raise EmbeddingFailedError(_refusal(error.status_code)) from None
        except (openai.OpenAIError, LookupError, TypeError, ValueError):
            raise EmbeddingFailedError(UNREADABLE) from None

    async def _send(self, turn: Turn, texts: list[str]) -> Any:
        """Return the answer as JSON, and tell the breaker whether the server is up."""
        try:
            answer = await self._client.embeddings.with_raw_response.create(
                model=self.name, input=texts, encoding_format="float"
            )
        except (openai.APIConnectionError, openai.InternalServerError):
            await self._limiter.failed(turn)
            raise
        except openai.APIStatusError:
            turn.succeeded = True
            raise
        turn.succeeded = True
        return json.loads(answer.text)


def _refusal(status: int) -> str:
    if status in (401, 403):
        return WRONG_KEY
    return NO_EMBEDDINGS if status == 404 else f"the embedding server refused (HTTP {status})"


def _vectors(answer: Any, wanted: int) -> list[Vector]:
    """Return the vectors of an answer in the order of the texts; raise what reading it raises."""
    rows = sorted(answer["data"], key=lambda row: row["index"])
    vectors = [unit_vector(row["embedding"]) for row in rows]
    if len(vectors) != wanted or len(set(map(len, vectors))) != 1:
        raise ValueError("vectors are missing or differ in length")
    return vectors


def unit_vector(numbers: Sequence[float]) -> Vector:
    """Return the vector of length 1 in the same direction; raise `ValueError` if there is none."""
    length = math.hypot(*numbers)
    if not 0 < length < math.inf:
        raise ValueError("the vector has no direction")
    return array("f", (number / length for number in numbers))
