"""Brave Search: a commercial web search; its API documentation, "Web Search".

Sites are chosen by inline Goggles, the time by `freshness`. A query has at most 400
characters and 50 words.
"""

from __future__ import annotations

import html
import re
from datetime import date
from typing import Any

import httpx
from pydantic import BaseModel, Field

from research.engine.tools import SearchAnswer, SearchRequest
from research.retrieval.providers.asking import Asker, Manners, Named, Result, usable
from research.retrieval.providers.base import Provider, ProviderSettings, hit

NAMED = Named("BRAVE_URL", "BRAVE_API_KEY", {422: "It did not understand the search (422)."})
MOST_RESULTS = 20
MOST_WORDS = 50
MOST_CHARACTERS = 400
# What the smallest plan allows.
PER_SECOND = 1.0

_MARKUP = re.compile(r"</?strong>")


class Entry(Result):
    description: str | None = None
    page_age: str | None = None


class Web(BaseModel):
    results: list[dict[str, Any]] = Field(default_factory=list)


class Answer(BaseModel):
    """`web` is left out where nothing was found."""

    type: str
    web: Web = Web()


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
        response = await self._asker.get(given, headers=self._headers)
        entries = usable(Entry, self._asker.read(Answer, response).web.results)
        return SearchAnswer(
            tuple(
                hit(
                    "brave",
                    rank,
                    entry.url,
                    _plain(entry.title),
                    _plain(entry.description),
                    entry.page_age,
                )
                for rank, entry in enumerate(entries, start=1)
            )
        )


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


def _plain(text: str | None) -> str:
    return html.unescape(_MARKUP.sub("", text or ""))


def _make(settings: ProviderSettings, client: httpx.AsyncClient) -> BraveSearch:
    manners = Manners(per_second=settings.per_second.get("brave", PER_SECOND))
    return BraveSearch(settings.brave_url, settings.brave_api_key, client, manners)


PROVIDER = Provider(
    label="Brave",
    needs="BRAVE_API_KEY",
    is_configured=lambda settings: bool(settings.brave_api_key),
    make=_make,
)
