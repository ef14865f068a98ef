"""Exa: a commercial web search; exa.ai/docs, "Search" (`POST /search`) and "Error Codes".

It takes dates of publication, lists of sites and a category for papers, and no language.
Snippets are its highlights.
"""

from __future__ import annotations

from typing import Any

import httpx
from pydantic import BaseModel, Field

from research.engine.tools import SearchAnswer, SearchRequest
from research.retrieval.providers.asking import Asker, Manners
from research.retrieval.providers.base import Provider, ProviderSettings, hit
from research.retrieval.providers.entries import Day, Passages, Result, left_out
from research.retrieval.providers.refusals import Named

NAMED = Named(
    "Exa",
    "EXA_URL",
    "EXA_API_KEY",
    {403: "the plan behind EXA_API_KEY does not allow this search."},
)
MOST_RESULTS = 100
PER_SECOND = 10.0


class Entry(Result):
    published: Day = Field(default=None, alias="publishedDate")
    highlights: Passages = ""


class Answer(BaseModel):
    results: list[Any]


class ExaSearch:
    """The `Search` tool over Exa."""

    def __init__(self, url: str, key: str, client: httpx.AsyncClient, manners: Manners):
        self._asker = Asker(NAMED, f"{url.rstrip('/')}/search", client, manners)
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
            # of the two lists one is asked for; the caller sees to the other
            "excludeDomains": [] if request.only_sites else list(request.never_sites),
        }
        given = {name: value for name, value in body.items() if value}
        answer = self._asker.read(Answer, await self._asker.post(given, headers=self._headers))
        entries = self._asker.usable(Entry, answer.results)
        hits = (
            hit("exa", rank, entry.url, entry.title, entry.highlights, entry.published)
            for rank, entry in enumerate(entries, start=1)
        )
        return SearchAnswer(tuple(hits), left_out(NAMED.label, len(answer.results), len(entries)))


def _make(settings: ProviderSettings, client: httpx.AsyncClient) -> ExaSearch:
    manners = Manners(
        at_once=settings.at_once, per_second=settings.per_second.get("exa", PER_SECOND)
    )
    return ExaSearch(settings.exa_url, settings.exa_api_key, client, manners)


PROVIDER = Provider(
    label=NAMED.label,
    needs="EXA_API_KEY",
    is_configured=lambda settings: bool(settings.exa_api_key),
    make=_make,
    kinds=frozenset({"web", "academic"}),
)
