"""Tavily: a commercial web search; docs.tavily.com, "Search" (`POST /search`).

Supports dates and lists of sites, but no language. The statuses 432 and 433 mean that the limit
of a plan or budget is reached.
"""

from __future__ import annotations

from typing import Any

import httpx
from pydantic import BaseModel, Field

from research.engine.ports import SearchAnswer, SearchRequest
from research.search.providers.base import Provider, ProviderSettings, Setting
from research.search.providers.client import ProviderClient, RetryPolicy
from research.search.providers.entries import Day, Result, Words
from research.search.providers.refusals import Named

KEY = Setting("TAVILY_API_KEY", "A key for Tavily.", "key", label="Key for Tavily")
URL = Setting(
    "TAVILY_URL",
    "Alternative address of Tavily's API, such as a proxy.",
    "url",
    default="https://api.tavily.com",
)
NAMED = Named(
    "Tavily",
    URL.name,
    KEY.name,
    {
        432: "the limit of the key or of the plan behind TAVILY_API_KEY is reached.",
        433: "the limit for paying as you go is reached (raise it in your Tavily account).",
    },
)
MOST_RESULTS = 20
# The rate limit of a development key is 100 requests a minute.
PER_SECOND = 1.6


class Entry(Result):
    snippet: Words = Field(default="", alias="content")
    published: Day = Field(default=None, alias="published_date")


class Answer(BaseModel):
    results: list[Any]


class TavilySearch:
    """The `Search` tool over Tavily."""

    def __init__(self, url: str, key: str, client: httpx.AsyncClient, manners: RetryPolicy):
        self._asker = ProviderClient(NAMED, f"{url.rstrip('/')}/search", client, manners)
        self._headers = {"Authorization": f"Bearer {key}"}

    async def search(self, request: SearchRequest) -> SearchAnswer:
        body: dict[str, Any] = {
            "query": request.query,
            "search_depth": "basic",
            "max_results": min(request.limit, MOST_RESULTS),
            "start_date": request.since,
            "end_date": request.until,
            "include_domains": list(request.only_sites),
            "exclude_domains": list(request.never_sites),
        }
        given = {name: value for name, value in body.items() if value}
        answer = self._asker.read(Answer, await self._asker.post(given, headers=self._headers))
        return self._asker.hits("tavily", Entry, answer.results)


def _make_search(settings: ProviderSettings, client: httpx.AsyncClient) -> TavilySearch:
    manners = RetryPolicy.of(settings, "tavily", PER_SECOND)
    return TavilySearch(settings[URL], settings[KEY], client, manners)


PROVIDER = Provider(
    label=NAMED.label,
    needs=KEY,
    options=(URL,),
    make=_make_search,
)
