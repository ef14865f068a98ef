"""Tavily: a commercial web search; docs.tavily.com, "Search" (`POST /search`).

It takes dates and lists of sites, and no language. 432 and 433 say that a plan's or a
budget's limit is reached.
"""

from __future__ import annotations

from typing import Any

import httpx
from pydantic import BaseModel

from research.engine.tools import SearchAnswer, SearchRequest
from research.retrieval.providers.asking import Asker, Manners, Named, Result, usable
from research.retrieval.providers.base import Provider, ProviderSettings, hit

NAMED = Named("TAVILY_URL", "TAVILY_API_KEY")
MOST_RESULTS = 20
# A key for development may ask 100 times a minute.
PER_SECOND = 1.6


class Entry(Result):
    content: str | None = None
    published_date: str | None = None


class Answer(BaseModel):
    results: list[dict[str, Any]]


class TavilySearch:
    """The `Search` tool over Tavily."""

    def __init__(self, url: str, key: str, client: httpx.AsyncClient, manners: Manners):
        self._asker = Asker(NAMED, f"{url.rstrip('/')}/search", client, manners)
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
        response = await self._asker.post(given, headers=self._headers)
        entries = usable(Entry, self._asker.read(Answer, response).results)
        return SearchAnswer(
            tuple(
                hit("tavily", rank, entry.url, entry.title, entry.content, entry.published_date)
                for rank, entry in enumerate(entries, start=1)
            )
        )


def _make(settings: ProviderSettings, client: httpx.AsyncClient) -> TavilySearch:
    manners = Manners(per_second=settings.per_second.get("tavily", PER_SECOND))
    return TavilySearch(settings.tavily_url, settings.tavily_api_key, client, manners)


PROVIDER = Provider(
    label="Tavily",
    needs="TAVILY_API_KEY",
    is_configured=lambda settings: bool(settings.tavily_api_key),
    make=_make,
)
