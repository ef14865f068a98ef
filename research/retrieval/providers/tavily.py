"""Tavily: a commercial web search; docs.tavily.com, "Search" (`POST /search`).

It takes dates and lists of sites, and no language. 432 and 433 say that a plan's or a
budget's limit is reached.
"""

from __future__ import annotations

from typing import Any

import httpx
from pydantic import BaseModel

from research.engine.tools import SearchAnswer, SearchRequest
from research.retrieval.providers.asking import Asker, Manners
from research.retrieval.providers.base import Provider, ProviderSettings, hit
from research.retrieval.providers.entries import Day, Result, Words, left_out
from research.retrieval.providers.refusals import Named

NAMED = Named(
    "Tavily",
    "TAVILY_URL",
    "TAVILY_API_KEY",
    {
        432: "the limit of the key or of the plan behind TAVILY_API_KEY is reached.",
        433: "the limit for paying as you go is reached (raise it where TAVILY_API_KEY comes"
        " from).",
    },
)
MOST_RESULTS = 20
# A key for development may ask 100 times a minute.
PER_SECOND = 1.6


class Entry(Result):
    content: Words = ""
    published_date: Day = None


class Answer(BaseModel):
    results: list[Any]


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
        answer = self._asker.read(Answer, await self._asker.post(given, headers=self._headers))
        entries = self._asker.usable(Entry, answer.results)
        hits = (
            hit("tavily", rank, entry.url, entry.title, entry.content, entry.published_date)
            for rank, entry in enumerate(entries, start=1)
        )
        return SearchAnswer(tuple(hits), left_out(NAMED.label, len(answer.results), len(entries)))


def _make(settings: ProviderSettings, client: httpx.AsyncClient) -> TavilySearch:
    manners = Manners(
        at_once=settings.at_once, per_second=settings.per_second.get("tavily", PER_SECOND)
    )
    return TavilySearch(settings.tavily_url, settings.tavily_api_key, client, manners)


PROVIDER = Provider(
    label=NAMED.label,
    needs="TAVILY_API_KEY",
    is_configured=lambda settings: bool(settings.tavily_api_key),
    make=_make,
)
