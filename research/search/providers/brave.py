"""Brave Search: a commercial web search; its API documentation, "Web Search".

Sites are selected by inline Goggles, the date range by `freshness`. A query has at most 400
characters and 50 words.
"""

from __future__ import annotations

from datetime import date
from typing import Any, Literal

import httpx
from pydantic import BaseModel, Field

from research.engine.ports import SearchAnswer, SearchRequest
from research.search.providers.base import Provider, ProviderSettings, Setting
from research.search.providers.client import ProviderClient, RetryPolicy
from research.search.providers.entries import Day, Markup, Result
from research.search.providers.refusals import Named

KEY = Setting("BRAVE_API_KEY", "A key for Brave Search.", "key", label="Key for Brave Search")
URL = Setting(
    "BRAVE_URL",
    "Alternative address of Brave's API, such as a proxy.",
    "url",
    default="https://api.search.brave.com",
)
NAMED = Named(
    "Brave",
    URL.name,
    KEY.name,
    key_codes=frozenset({"SUBSCRIPTION_TOKEN_INVALID"}),  # comes with status 422
)
MOST_RESULTS = 20
MOST_WORDS = 50
MOST_CHARACTERS = 400
# The rate limit of the smallest plan.
PER_SECOND = 1.0


class Entry(Result):
    title: Markup = ""
    snippet: Markup = Field(default="", alias="description")
    published: Day = Field(default=None, alias="page_age")


class Web(BaseModel):
    results: list[Any] = Field(default_factory=list)


class Answer(BaseModel):
    """Brave's response: `web` is missing if nothing was found; an error has another `type`."""

    type: Literal["search"]
    web: Web | None = None


class BraveSearch:
    """The `Search` tool over Brave."""

    def __init__(self, url: str, key: str, client: httpx.AsyncClient, manners: RetryPolicy):
        self._asker = ProviderClient(NAMED, f"{url.rstrip('/')}/res/v1/web/search", client, manners)
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
        return self._asker.hits("brave", Entry, answer.web.results if answer.web else [])


def _freshness(request: SearchRequest) -> str:
    """Return a range of days; an open end is today, an open start the web's first year."""
    if not (request.since or request.until):
        return ""
    until = request.until or date.today().isoformat()
    return f"{request.since or '1991-01-01'}to{until}"


def _goggles(request: SearchRequest) -> str:
    """Return Goggles rules, one per line; included sites discard all others."""
    if request.only_sites:
        return "\n".join(["$discard", *(f"$site={site}" for site in request.only_sites)])
    return "\n".join(f"$discard,site={site}" for site in request.never_sites)


def _make_search(settings: ProviderSettings, client: httpx.AsyncClient) -> BraveSearch:
    manners = RetryPolicy.of(settings, "brave", PER_SECOND)
    return BraveSearch(settings[URL], settings[KEY], client, manners)


PROVIDER = Provider(
    label=NAMED.label,
    needs=KEY,
    options=(URL,),
    make=_make_search,
)
