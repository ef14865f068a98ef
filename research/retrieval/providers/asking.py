"""Asking a search provider over HTTP: in turn, with patience, and with sentences for failures.

Keys travel in headers or bodies, never in an address, so that no log line holds one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

import httpx
from pydantic import BaseModel, Field, ValidationError

from research.engine.tools import SearchFailure
from research.retrieval.network import USER_AGENT
from research.retrieval.pacing import Pace, retry_after_seconds

_RETRIED = frozenset({429, 500, 502, 503, 504})
_KEY_REFUSED = frozenset({401, 403})
_SPENT = frozenset({402, 432, 433})
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
class Named:
    """The settings that failures speak of; `refusals` says what a status means here."""

    url_setting: str
    key_setting: str = ""
    refusals: Mapping[int, str] = field(default_factory=dict)


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
    ) -> httpx.Response:
        """A 200 answer, after waits where those help; raises `SearchFailure`."""
        return await self._persist("GET", url or self._url, headers, params=parameters)

    async def post(self, body: Mapping[str, Any], *, headers: Mapping[str, str]) -> httpx.Response:
        """As `get`, with a JSON body."""
        return await self._persist("POST", self._url, headers, json=body)

    def read(self, model: type[Answer], response: httpx.Response) -> Answer:
        """The documented answer; raises `SearchFailure` for anything else."""
        try:
            return model.model_validate_json(response.content)
        except ValidationError:
            raise self.unreadable() from None

    def unreadable(self) -> SearchFailure:
        return SearchFailure(
            f"Its answer could not be read: {self.named.url_setting} may not be its address.",
            permanent=True,
        )

    async def _persist(
        self, method: str, url: str, headers: Mapping[str, str], **content: Any
    ) -> httpx.Response:
        """Tries again, after a wait, what may pass: limits, server errors, silence."""
        for attempt in range(1, self.manners.tries + 1):
            last = attempt == self.manners.tries
            wait = self.manners.backoff_seconds * 2 ** (attempt - 1)
            try:
                response = await self._ask(method, url, headers, **content)
            except SearchFailure as failure:
                if last or failure.permanent:
                    raise
            else:
                if response.status_code == 200:
                    return response
                asked = retry_after_seconds(response)
                wait = wait if asked is None else asked
                hopeless = response.status_code not in _RETRIED
                if last or hopeless or wait > self.manners.longest_wait_seconds:
                    raise self._refused(response.status_code)
            await asyncio.sleep(wait)
        raise AssertionError("the last try returns or raises")

    async def _ask(
        self, method: str, url: str, headers: Mapping[str, str], **content: Any
    ) -> httpx.Response:
        try:
            async with self._pace.turn(), asyncio.timeout(self.manners.timeout_seconds):
                return await self._client.request(
                    method, url, headers={**_HEADERS, **headers}, **content
                )
        except (TimeoutError, httpx.TimeoutException):
            raise SearchFailure("It did not answer in time.") from None
        except (httpx.InvalidURL, httpx.UnsupportedProtocol):
            raise SearchFailure(
                f"{self.named.url_setting} is not the address of a server.", permanent=True
            ) from None
        except httpx.HTTPError:
            raise SearchFailure("It did not answer.") from None

    def _refused(self, status: int) -> SearchFailure:
        key = self.named.key_setting
        if status == 429:
            return SearchFailure("It answered 429: it limits how often it is asked.")
        if status in _RETRIED:
            return SearchFailure(f"It answered {status}: it has a fault of its own.")
        if status in self.named.refusals:
            reason = self.named.refusals[status]
        elif key and status in _KEY_REFUSED:
            reason = f"It refused the key ({status}): check {key}."
        elif key and status in _SPENT:
            reason = f"It answered {status}: the plan or the credit behind {key} is used up."
        elif status == 400:
            reason = "It did not understand the search (400)."
        else:
            reason = f"It answered {status}: {self.named.url_setting} may not be its address."
        return SearchFailure(reason, permanent=True)


class Result(BaseModel):
    """What most providers say of a result; one without an address is of no use here."""

    url: str = Field(min_length=1)
    title: str | None = None


Entry = TypeVar("Entry", bound=BaseModel)


def usable(model: type[Entry], entries: list[dict[str, Any]]) -> list[Entry]:
    """The entries that hold what the documentation says, in their order."""
    valid = []
    for entry in entries:
        try:
            valid.append(model.model_validate(entry))
        except ValidationError:
            continue
    return valid
