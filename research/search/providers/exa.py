"""Exa: a commercial web search; exa.ai/docs, "Search" (`POST /search`) and "Error Codes".

Supports publication dates, lists of sites and a category for papers, but no language. Its
highlights serve as snippets.
"""

from __future__ import annotations

from typing import Any

import httpx
from pydantic import BaseModel, Field

from research.engine.ports import SearchAnswer, SearchRequest
from research.search.providers.base import Provider, ProviderSettings, Setting
from research.search.providers.client import ProviderClient, RetryPolicy
from research.search.providers.entries import Day, Passages, Result
from research.search.providers.refusals import Named

KEY = Setting("EXA_API_KEY", "A key for Exa.", "key", label="Key for Exa")
URL = Setting(
    "EXA_URL",
    "Alternative address of Exa's API, such as a proxy.",
    "url",
    default="https://api.exa.ai",
)
NAMED = Named(
    "Exa",
    URL.name,
    KEY.name,
    {403: "the plan behind EXA_API_KEY does not allow this search."},
)
MOST_RESULTS = 100
PER_SECOND = 10.0


class Entry(Result):
    published: Day = Field(default=None, alias="publishedDate")
    snippet: Passages = Field(default="", alias="highlights")


class Answer(BaseModel):
    results: list[Any]


class ExaSearch:
    """The `Search` tool over Exa."""

    def __init__(self, url: str, key: str, client: httpx.AsyncClient, manners: RetryPolicy):
        self._asker = ProviderClient(NAMED, f"{url.rstrip('/')}/search", client, manners)
        self._headers = {"x-api-key": key}

    async def search(self, request: SearchRequest) -> SearchAnswer:
        body: dict[str, Any] = {
            "query": request.query,
            "type": "auto",
            "numResults": min(request.limit, MOST_RESULTS),
            "contents": {"highlights": True},
            "category": "research paper" if request.kind == "academic" else None,
            "startPublishedDate": request.since and f"{request.since}T00:00:00.000Z",
            "endPublishedDate": request.until and f"{request.until}T23:59:59.999Z",
            "includeDomains": list(request.only_sites),
            # Exa accepts only one of the two lists; the caller filters by the other
            "excludeDomains": [] if request.only_sites else list(request.never_sites),
        }
        given = {name: value for name, value in body.items() if value}
        answer = self._asker.read(Answer, await self._asker.post(given, headers=self._headers))
        return self._asker.hits("exa", Entry, answer.results)


def _make_search(settings: ProviderSettings, client: httpx.AsyncClient) -> ExaSearch:
    manners = RetryPolicy.of(settings, "exa", PER_SECOND)
    return ExaSearch(settings[URL], settings[KEY], client, manners)


PROVIDER = Provider(
    label=NAMED.label,
    needs=KEY,
    options=(URL,),
    make=_make_search,
    kinds=frozenset({"web", "academic"}),
)
