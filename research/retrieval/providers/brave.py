"""Brave Search: a commercial web search; its API documentation, "Web Search".

Sites are chosen by inline Goggles, the time by `freshness`. A query has at most 400
characters and 50 words.
"""

from __future__ import annotations

from datetime import date
from typing import Any, Literal

import httpx
from pydantic import BaseModel, Field

from research.engine.tools import SearchAnswer, SearchRequest
from research.retrieval.providers.asking import Asker, Manners
from research.retrieval.providers.base import Provider, ProviderSettings, hit
from research.retrieval.providers.entries import Day, Markup, Result, left_out
from research.retrieval.providers.refusals import Named

NAMED = Named(
    "Brave",
    "BRAVE_URL",
    "BRAVE_API_KEY",
    key_codes=frozenset({"SUBSCRIPTION_TOKEN_INVALID"}),  # comes with status 422
)
MOST_RESULTS = 20
MOST_WORDS = 50
MOST_CHARACTERS = 400
# What the smallest plan allows.
PER_SECOND = 1.0


class Entry(Result):
    title: Markup = ""
    description: Markup = ""
    page_age: Day = None


class Web(BaseModel):
    results: list[Any] = Field(default_factory=list)


class Answer(BaseModel):
    """`web` is left out where nothing was found; an error has another type."""

    type: Literal["search"]
    web: Web | None = None


class BraveSearch:
    """The `Search` tool over Brave."""

    def __init__(self, url: str, key: str, client: httpx.AsyncClient, manners: Manners):
        self._asker = Asker(NAMED, f"{url.rstrip('/')}/res/v1/web/search", client, manners)
        self._headers = {"X-Subscription-Token": key, "Accept": "application/json"}

    async def search(self, request: SearchRequest) -> SearchAnswer:
        parameters = {
            "q": " ".join(request.query.split()[:MOST_WORDS])[:MOST_CHARACTERS],
            "count": min(request.limit, MOST_RESULTS),
            "result_filter": "web",
            "text_decorations": "false",
            "operators": "false",
            "search_lang": request.language,
            "freshness": _freshness(request),
            "goggles": _goggles(request),
        }
        given = {name: value for name, value in parameters.items() if value}
        answer = self._asker.read(Answer, await self._asker.get(given, headers=self._headers))
        results = answer.web.results if answer.web else []
        entries = self._asker.usable(Entry, results)
        hits = (
            hit("brave", rank, entry.url, entry.title, entry.description, entry.page_age)
            for rank, entry in enumerate(entries, start=1)
        )
        return SearchAnswer(tuple(hits), left_out(NAMED.label, len(results), len(entries)))


def _freshness(request: SearchRequest) -> str:
    """A range of days; an open end is today, an open start the web's first year."""
    if not (request.since or request.until):
        return ""
    until = request.until or date.today().isoformat()
    return f"{request.since or '1991-01-01'}to{until}"


def _goggles(request: SearchRequest) -> str:
    """Rules, one a line: with sites to keep to, all others are discarded."""
    if request.only_sites:
        return "\n".join(["$discard", *(f"$site={site}" for site in request.only_sites)])
    return "\n".join(f"$discard,site={site}" for site in request.never_sites)


def _make(settings: ProviderSettings, client: httpx.AsyncClient) -> BraveSearch:
    manners = Manners(
        at_once=settings.at_once, per_second=settings.per_second.get("brave", PER_SECOND)
    )
    return BraveSearch(settings.brave_url, settings.brave_api_key, client, manners)


PROVIDER = Provider(
    label=NAMED.label,
    needs="BRAVE_API_KEY",
    is_configured=lambda settings: bool(settings.brave_api_key),
    make=_make,
)
