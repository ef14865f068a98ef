"""SearXNG: a metasearch server that the operator runs, asked through its JSON interface.

The interface is documented at docs.searxng.org, "Search API". `json` must be among the
formats of the server's settings; otherwise it answers 403.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

import httpx
from pydantic import BaseModel, Field, ValidationError

from research.engine.tools import SearchAnswer, SearchFailure, SearchHit, SearchRequest
from research.retrieval.providers.base import Provider

_RETRIED = frozenset({429, 500, 502, 503, 504})


@dataclass(frozen=True)
class Patience:
    """How long one search may take: each try, and the waits between."""

    tries: int = 3
    timeout_seconds: float = 10.0
    backoff_seconds: float = 0.5
    longest_wait_seconds: float = 10.0


class Result(BaseModel):
    """One result; a result without an address is of no use here."""

    url: str = Field(min_length=1)
    title: str | None = None
    content: str | None = None
    published: str | None = Field(default=None, alias="publishedDate")


class Answer(BaseModel):
    """The documented answer, as far as it is used."""

    results: list[dict[str, Any]]
    unresponsive_engines: list[Any] = Field(default_factory=list)


class SearxngSearch:
    """The `Search` tool over one SearXNG server, which may be on loopback."""

    def __init__(self, url: str, client: httpx.AsyncClient, patience: Patience | None = None):
        self._url = f"{url.rstrip('/')}/search"
        self._client = client
        self._patience = patience or Patience()

    async def search(self, request: SearchRequest) -> SearchAnswer:
        """The server's results in its order; raises `SearchFailure` with a sentence."""
        response = await self._persist(request)
        try:
            answer = Answer.model_validate_json(response.content)
        except ValidationError:
            raise _not_searxng() from None
        hits = _hits(answer.results)
        if answer.results and not hits:
            raise _not_searxng()
        return SearchAnswer(hits[: request.limit], _notes(answer.unresponsive_engines))

    async def _persist(self, request: SearchRequest) -> httpx.Response:
        """Tries again, after a wait, what may pass: limits, server errors, silence."""
        for attempt in range(1, self._patience.tries + 1):
            last = attempt == self._patience.tries
            wait = self._patience.backoff_seconds * 2 ** (attempt - 1)
            try:
                response = await self._ask(request)
            except SearchFailure as failure:
                if last or failure.permanent:
                    raise
            else:
                if response.status_code == 200:
                    return response
                asked = _retry_after_seconds(response)
                wait = wait if asked is None else asked
                hopeless = response.status_code not in _RETRIED
                if last or hopeless or wait > self._patience.longest_wait_seconds:
                    raise _refused(response.status_code)
            await asyncio.sleep(wait)
        raise AssertionError("the last try returns or raises")

    async def _ask(self, request: SearchRequest) -> httpx.Response:
        parameters = {"q": request.query, "format": "json", "language": request.language or "all"}
        try:
            async with asyncio.timeout(self._patience.timeout_seconds):
                return await self._client.get(self._url, params=parameters)
        except (TimeoutError, httpx.TimeoutException):
            raise SearchFailure("The search server did not answer in time.") from None
        except (httpx.InvalidURL, httpx.UnsupportedProtocol):
            raise SearchFailure(
                "SEARXNG_URL is not the address of a server.", permanent=True
            ) from None
        except httpx.HTTPError:
            raise SearchFailure("The search server did not answer.") from None


def _hits(results: Sequence[dict[str, Any]]) -> tuple[SearchHit, ...]:
    valid: list[Result] = []
    for entry in results:
        try:
            valid.append(Result.model_validate(entry))
        except ValidationError:
            continue
    return tuple(_hit(result, rank) for rank, result in enumerate(valid, start=1))


def _hit(result: Result, rank: int) -> SearchHit:
    return SearchHit(
        url=result.url,
        title=result.title or result.url,
        snippet=result.content or "",
        provider="searxng",
        rank=rank,
        published=_iso_date(result.published),
    )


def _iso_date(published: str | None) -> str | None:
    try:
        return datetime.fromisoformat(published).date().isoformat() if published else None
    except ValueError:
        return None


def _notes(unresponsive: Sequence[Any]) -> tuple[str, ...]:
    """Which engines were silent; their error messages stay behind."""
    names = [str(entry[0])[:40] for entry in unresponsive if isinstance(entry, list) and entry]
    if not names:
        return ()
    return (f"Engines of the search server that did not answer: {', '.join(sorted(names))}.",)


def _retry_after_seconds(response: httpx.Response) -> float | None:
    """The wait that the server asks for: seconds or a date (RFC 9110, 10.2.3)."""
    value = response.headers.get("Retry-After", "").strip()
    if value.isdecimal():
        return float(value)
    try:
        when = parsedate_to_datetime(value)
    except ValueError:
        return None
    if when.tzinfo is None:
        when = when.replace(tzinfo=UTC)
    return max(0.0, (when - datetime.now(UTC)).total_seconds())


def _refused(status: int) -> SearchFailure:
    if status == 403:
        return SearchFailure(
            "The search server answered 403: its JSON format may be switched off"
            " (settings.yml: search.formats).",
            permanent=True,
        )
    if status == 429:
        return SearchFailure("The search server answered 429: it limits how often it is asked.")
    if status in _RETRIED:
        return SearchFailure(f"The search server answered {status}: it has a fault of its own.")
    return SearchFailure(
        f"The search server answered {status}: SEARXNG_URL may not be its address.", permanent=True
    )


def _not_searxng() -> SearchFailure:
    return SearchFailure("The server at SEARXNG_URL is not a SearXNG server.", permanent=True)


PROVIDER = Provider(
    label="SearXNG",
    needs="SEARXNG_URL",
    is_configured=lambda settings: bool(settings.searxng_url),
    make=lambda settings, client: SearxngSearch(settings.searxng_url, client),
)
