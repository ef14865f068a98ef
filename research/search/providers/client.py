"""HTTP client for search providers: rate limit, retries with exponential backoff, readable errors.

API keys are sent in headers or bodies, never in a URL, so that no log line contains one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import httpx
from pydantic import BaseModel, ValidationError

from research.engine.ports import FetchFailedError, SearchAnswer, SearchFailedError
from research.fetch.network import USER_AGENT
from research.fetch.rate_limit import RateLimiter, retry_after_seconds
from research.fetch.response import read_start
from research.limits.limiter import Shared
from research.search.providers.base import ProviderSettings, make_hit
from research.search.providers.entries import Entry, Result, left_out, parse_entries
from research.search.providers.refusals import (
    RETRIED,
    Named,
    parse_json_body,
    search_refusal,
    unreadable_answer,
)

MOST_BYTES = 5_000_000
"""Size limit of a decompressed response; a hundred results with passages are under 1 MB."""
MOST_REFUSAL_BYTES = 10_000

_HEADERS = {"User-Agent": USER_AGENT, "Accept-Encoding": "gzip, deflate"}

Answer = TypeVar("Answer", bound=BaseModel)
Found = TypeVar("Found", bound=Result)


@dataclass(frozen=True)
class RetryPolicy:
    """Timeouts, retries and rate limit of a provider.

    `timeout_seconds` applies to each try. Between tries the wait doubles from `backoff_seconds`,
    unless the server sends Retry-After. `per_second` 0 means no rate limit. A `shared`
    one applies to all processes.
    """

    tries: int = 3
    timeout_seconds: float = 10.0
    backoff_seconds: float = 0.5
    longest_wait_seconds: float = 10.0
    at_once: int = 4
    per_second: float = 0.0
    shared: Shared | None = None

    @classmethod
    def of(cls, settings: ProviderSettings, name: str, per_second: float) -> RetryPolicy:
        """Return a provider's policy; the operator may have set another rate than its own."""
        rate = settings.per_second.get(name, per_second)
        return cls(at_once=settings.at_once, per_second=rate, shared=settings.shared(name))


@dataclass(frozen=True)
class Reply:
    """A response; of an error only the start of its body."""

    status: int
    body: bytes
    retry_after_seconds: float | None


class ProviderClient:
    """HTTP client of one provider. All its requests share one rate limit."""

    def __init__(
        self, named: Named, url: str, client: httpx.AsyncClient, manners: RetryPolicy
    ) -> None:
        self.named = named
        self.manners = manners
        self._url = url
        self._client = client
        interval = 1 / manners.per_second if manners.per_second else 0.0
        self._pace = RateLimiter(manners.at_once, interval, manners.shared)

    async def get(
        self, parameters: Mapping[str, Any], *, url: str = "", headers: Mapping[str, str] = {}
    ) -> bytes:
        """Return the body of a 200 response, retrying if that can help.

        Raise `SearchFailedError`.
        """
        # an empty mapping would remove the query of an address
        given = parameters or None
        return await self._request_with_retries("GET", url or self._url, headers, params=given)

    async def post(self, body: Mapping[str, Any], *, headers: Mapping[str, str]) -> bytes:
        """Like `get`, with a JSON body."""
        return await self._request_with_retries("POST", self._url, headers, json=body)

    def read(self, model: type[Answer], body: bytes) -> Answer:
        """Validate a response against `model`; raise `SearchFailedError` if it doesn't match."""
        answer = parse_json_body(body)
        try:
            return model.model_validate(answer)
        except ValidationError:
            raise unreadable_answer(self.named, answer) from None

    def usable(self, model: type[Entry], entries: Sequence[Any]) -> list[Entry]:
        """Return the valid entries.

        Raise `SearchFailedError` if there are some but none is valid.
        """
        return usable_entries(self.named, model, entries)

    def hits(self, provider: str, model: type[Found], entries: Sequence[Any]) -> SearchAnswer:
        """Return the valid entries as hits, with a note on the others; raise like `usable`."""
        return read_entries(self.named, provider, model, entries)

    async def _request_with_retries(
        self, method: str, url: str, headers: Mapping[str, str], **content: Any
    ) -> bytes:
        """Retry rate limits, server errors and timeouts with exponential backoff."""
        for attempt in range(1, self.manners.tries + 1):
            last = attempt == self.manners.tries
            wait = self.manners.backoff_seconds * 2 ** (attempt - 1)
            try:
                reply = await self._ask(method, url, headers, **content)
            except SearchFailedError as failure:
                if last or failure.permanent:
                    raise
            else:
                if reply.status == 200:
                    return reply.body
                asked = reply.retry_after_seconds
                wait = wait if asked is None else asked
                hopeless = reply.status not in RETRIED
                if last or hopeless or wait > self.manners.longest_wait_seconds:
                    raise search_refusal(self.named, reply.status, reply.body)
            await asyncio.sleep(wait)
        raise AssertionError("the last try returns or raises")

    async def _ask(
        self, method: str, url: str, headers: Mapping[str, str], **content: Any
    ) -> Reply:
        try:
            async with (
                self._pace.turn(),
                asyncio.timeout(self.manners.timeout_seconds),
                self._client.stream(
                    method, url, headers={**_HEADERS, **headers}, **content
                ) as response,
            ):
                body = await _body(response)
                return Reply(response.status_code, body, retry_after_seconds(response))
        except (TimeoutError, httpx.TimeoutException):
            raise SearchFailedError("It did not answer in time.") from None
        except (httpx.InvalidURL, httpx.UnsupportedProtocol, UnicodeError):
            raise SearchFailedError(
                f"{self.named.url_setting} is not the address of a server.", permanent=True
            ) from None
        except httpx.HTTPError:
            raise SearchFailedError("It did not answer.") from None


def usable_entries(named: Named, model: type[Entry], entries: Sequence[Any]) -> list[Entry]:
    """Return the valid entries; raise `SearchFailedError` if there are some but none is valid."""
    found = parse_entries(model, entries)
    if entries and not found:
        raise unreadable_answer(named)
    return found


def read_entries(
    named: Named, provider: str, model: type[Found], entries: Sequence[Any]
) -> SearchAnswer:
    """Return the valid entries as hits, with a note on the others; raise like `usable_entries`."""
    found = usable_entries(named, model, entries)
    hits = (
        make_hit(provider, rank, each.url, each.title, each.snippet, each.published)
        for rank, each in enumerate(found, start=1)
    )
    return SearchAnswer(tuple(hits), left_out(named.label, len(entries), len(found)))


async def _body(response: httpx.Response) -> bytes:
    """Return a response's body, at most `MOST_BYTES`; of an error the start, or b"" if corrupt."""
    if response.status_code != 200:
        try:
            return await read_start(response, MOST_REFUSAL_BYTES)
        except FetchFailedError:
            return b""
    try:
        body = await read_start(response, MOST_BYTES + 1)
    except FetchFailedError:
        raise SearchFailedError("Its answer could not be decompressed.") from None
    if len(body) > MOST_BYTES:
        size = f"{MOST_BYTES / 1_000_000:g} MB"
        raise SearchFailedError(
            f"Its answer has more than {size}, which no list of results has.", permanent=True
        )
    return body
