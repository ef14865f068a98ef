"""Semantic Scholar: scholarly papers; its API documentation, "Paper relevance search".

Without a key all callers share one rate limit, so 429 is frequent.
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

KEY = Setting("SEMANTIC_SCHOLAR_API_KEY", "A key for Semantic Scholar; it needs none.", "key")
URL = Setting(
    "SEMANTIC_SCHOLAR_URL",
    "Alternative address of Semantic Scholar's API.",
    "url",
    default="https://api.semanticscholar.org",
)
NAMED = Named("Semantic Scholar", URL.name, KEY.name)
FIELDS = "title,abstract,url,publicationDate"
MOST_RESULTS = 100
PER_SECOND = 1.0


class Entry(Result):
    snippet: Words = Field(default="", alias="abstract")
    published: Day = Field(default=None, alias="publicationDate")


class Answer(BaseModel):
    """The response: `data` may be missing if nothing was found."""

    total: int
    data: list[Any] = Field(default_factory=list)


class SemanticScholarSearch:
    """The `Search` tool over Semantic Scholar; `key` may be empty."""

    def __init__(self, url: str, key: str, client: httpx.AsyncClient, manners: RetryPolicy):
        address = f"{url.rstrip('/')}/graph/v1/paper/search"
        self._asker = ProviderClient(NAMED, address, client, manners)
        self._headers = {"x-api-key": key} if key else {}

    async def search(self, request: SearchRequest) -> SearchAnswer:
        parameters = {
            "query": request.query,
            "fields": FIELDS,
            "limit": min(request.limit, MOST_RESULTS),
        }
        if request.since or request.until:
            parameters["publicationDateOrYear"] = f"{request.since or ''}:{request.until or ''}"
        body = await self._asker.get(parameters, headers=self._headers)
        return self._asker.hits("semantic_scholar", Entry, self._asker.read(Answer, body).data)


def _make_search(settings: ProviderSettings, client: httpx.AsyncClient) -> SemanticScholarSearch:
    manners = RetryPolicy.of(settings, "semantic_scholar", PER_SECOND)
    return SemanticScholarSearch(settings[URL], settings[KEY], client, manners)


PROVIDER = Provider(
    label=NAMED.label, options=(KEY, URL), make=_make_search, kinds=frozenset({"academic"})
)
