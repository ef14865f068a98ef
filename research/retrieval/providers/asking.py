"""Asking a search provider over HTTP: in turn, with patience, and with sentences for failures.

Keys travel in headers or bodies, never in an address, so that no log line holds one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import httpx
from pydantic import BaseModel, ValidationError

from research.engine.tools import FetchFailure, SearchFailure
from research.retrieval.body import read_start
from research.retrieval.network import USER_AGENT
from research.retrieval.pacing import Pace, retry_after_seconds
from research.retrieval.providers.entries import Entry, readable
from research.retrieval.providers.refusals import RETRIED, Named, parsed, refused, unreadable

MOST_BYTES = 5_000_000
"""Of an answer, unpacked; a hundred results with their passages are less than one."""
MOST_REFUSAL_BYTES = 10_000

_HEADERS = {"User-Agent": USER_AGENT, "Accept-Encoding": "gzip, deflate"}

Answer = TypeVar("Answer", bound=BaseModel)


@dataclass(frozen=True)
class Manners:
    """How long one search may take, and how often a provider is asked.

    `timeout_seconds` is for each try; between tries the wait doubles from
    `backoff_seconds`, unless the server asks for another one. `per_second` 0 is no limit.
    """

    tries: int = 3
    timeout_seconds: float = 10.0
    backoff_seconds: float = 0.5
    longest_wait_seconds: float = 10.0
    at_once: int = 4
    per_second: float = 0.0


@dataclass(frozen=True)
class Reply:
    """What came back; of a refusal only the start of its body."""

    status: int
    body: bytes
    retry_after_seconds: float | None


class Asker:
    """One provider's HTTP interface. All its requests share one pace."""

    def __init__(self, named: Named, url: str, client: httpx.AsyncClient, manners: Manners) -> None:
        self.named = named
        self.manners = manners
        self._url = url
        self._client = client
        interval = 1 / manners.per_second if manners.per_second else 0.0
        self._pace = Pace(manners.at_once, interval)

    async def get(
        self, parameters: Mapping[str, Any], *, url: str = "", headers: Mapping[str, str] = {}
    ) -> bytes:
        """The body of a 200 answer, after waits where those help; raises `SearchFailure`."""
        return await self._persist("GET", url or self._url, headers, params=parameters)

    async def post(self, body: Mapping[str, Any], *, headers: Mapping[str, str]) -> bytes:
        """As `get`, with a JSON body."""
        return await self._persist("POST", self._url, headers, json=body)

    def read(self, model: type[Answer], body: bytes) -> Answer:
        """The documented answer; raises `SearchFailure` for anything else."""
        answer = parsed(body)
        try:
            return model.model_validate(answer)
        except ValidationError:
            raise unreadable(self.named, answer) from None

    def usable(self, model: type[Entry], entries: Sequence[Any]) -> list[Entry]:
        """The entries that can be read; raises `SearchFailure` where none of several can."""
        found = readable(model, entries)
        if entries and not found:
            raise unreadable(self.named)
        return found

    async def _persist(
        self, method: str, url: str, headers: Mapping[str, str], **content: Any
    ) -> bytes:
        """Tries again, after a wait, what may pass: limits, server errors, silence."""
        for attempt in range(1, self.manners.tries + 1):
            last = attempt == self.manners.tries
            wait = self.manners.backoff_seconds * 2 ** (attempt - 1)
            try:
                reply = await self._ask(method, url, headers, **content)
            except SearchFailure as failure:
                if last or failure.permanent:
                    raise
            else:
                if reply.status == 200:
                    return reply.body
                asked = reply.retry_after_seconds
                wait = wait if asked is None else asked
                hopeless = reply.status not in RETRIED
                if last or hopeless or wait > self.manners.longest_wait_seconds:
                    raise refused(self.named, reply.status, reply.body)
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
            raise SearchFailure("It did not answer in time.") from None
        except (httpx.InvalidURL, httpx.UnsupportedProtocol, UnicodeError):
            raise SearchFailure(
                f"{self.named.url_setting} is not the address of a server.", permanent=True
            ) from None
        except httpx.HTTPError:
            raise SearchFailure("It did not answer.") from None


async def _body(response: httpx.Response) -> bytes:
    """All of an answer, as far as `MOST_BYTES`; the start of a refusal, which may be garbled."""
    if response.status_code != 200:
        try:
            return await read_start(response, MOST_REFUSAL_BYTES)
        except FetchFailure:
            return b""
    try:
        body = await read_start(response, MOST_BYTES + 1)
    except FetchFailure:
        raise SearchFailure("Its answer could not be unpacked.") from None
    if len(body) > MOST_BYTES:
        size = f"{MOST_BYTES / 1_000_000:g} MB"
        raise SearchFailure(
            f"Its answer has more than {size}, which no list of results has.", permanent=True
        )
    return body
