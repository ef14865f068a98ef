"""Stack Exchange: questions of one site; its API 2.3, "/search/advanced", "Throttles", "Error".

The filter `withbody` adds the text of questions. A response may ask for a pause (`backoff`). No key
is sent: the API takes one only in the address.
"""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import Annotated, Any

import httpx
from pydantic import BaseModel, BeforeValidator, Field

from research.engine.ports import SearchAnswer, SearchFailedError, SearchRequest
from research.search.providers.base import Provider, ProviderSettings, Setting
from research.search.providers.client import ProviderClient, RetryPolicy
from research.search.providers.entries import Address, Markup, Result
from research.search.providers.refusals import Named

SITE = Setting(
    "STACK_EXCHANGE_SITE",
    "Site of Stack Exchange to search, such as dba; stackoverflow if not set.",
    "text",
    default="stackoverflow",
)
URL = Setting(
    "STACK_EXCHANGE_URL",
    "Alternative address of Stack Exchange's API.",
    "url",
    default="https://api.stackexchange.com",
)
NAMED = Named(
    "Stack Exchange",
    URL.name,
    refusals={400: "it did not understand the search, or its quota is used up."},
)
MOST_RESULTS = 100
PER_SECOND = 1.0
LONGEST_PAUSE_SECONDS = 10.0


def day_of_epoch(seconds: Any) -> str | None:
    """Return the day of a Unix time; None for anything else."""
    if not isinstance(seconds, int) or not 0 < seconds < 32_503_680_000:
        return None
    return datetime.fromtimestamp(seconds, UTC).date().isoformat()


class Entry(Result):
    url: Address = Field(alias="link")
    title: Markup = ""
    snippet: Markup = Field(default="", alias="body")
    published: Annotated[str | None, BeforeValidator(day_of_epoch)] = Field(
        default=None, alias="creation_date"
    )


class Answer(BaseModel):
    items: list[Any]
    backoff: int = 0


class StackExchangeSearch:
    """The `Search` tool over the questions of one site."""

    def __init__(self, url: str, site: str, client: httpx.AsyncClient, manners: RetryPolicy):
        address = f"{url.rstrip('/')}/2.3/search/advanced"
        self._asker = ProviderClient(NAMED, address, client, manners)
        self._site = site
        self._not_before = 0.0

    async def search(self, request: SearchRequest) -> SearchAnswer:
        await self._pause()
        parameters: dict[str, Any] = {
            "q": request.query,
            "site": self._site,
            "sort": "relevance",
            "order": "desc",
            "filter": "withbody",
            "pagesize": min(request.limit, MOST_RESULTS),
        }
        bounds = {"fromdate": request.since, "todate": request.until}
        parameters |= {name: _epoch(day) for name, day in bounds.items() if day}
        answer = self._asker.read(Answer, await self._asker.get(parameters))
        self._not_before = asyncio.get_running_loop().time() + answer.backoff
        return self._asker.hits("stack_exchange", Entry, answer.items)

    async def _pause(self) -> None:
        """Wait as long as the last response asked.

        Raise `SearchFailedError` if that is too long.
        """
        wait = self._not_before - asyncio.get_running_loop().time()
        if wait > LONGEST_PAUSE_SECONDS:
            raise SearchFailedError(f"It asked for a pause of {wait:.0f} more seconds.")
        if wait > 0:
            await asyncio.sleep(wait)


def _epoch(day: str) -> int:
    return int(datetime.fromisoformat(day).replace(tzinfo=UTC).timestamp())


def _make_search(settings: ProviderSettings, client: httpx.AsyncClient) -> StackExchangeSearch:
    manners = RetryPolicy.of(settings, "stack_exchange", PER_SECOND)
    return StackExchangeSearch(settings[URL], settings[SITE], client, manners)


PROVIDER = Provider(label=NAMED.label, options=(SITE, URL), make=_make_search)
