"""SearXNG: a metasearch server run by the operator, queried through its JSON API.

The API is documented at docs.searxng.org, "Search API". The server's settings must include
`json` among the formats; otherwise it answers 403.
"""

from __future__ import annotations

from datetime import date
from typing import Any

import httpx
from pydantic import BaseModel, Field

from research.engine.ports import SearchAnswer, SearchHit, SearchKind, SearchRequest
from research.search.providers.base import (
    Provider,
    ProviderSettings,
    Setting,
    ask_by_site,
    make_hit,
    smallest_span,
)
from research.search.providers.client import ProviderClient, RetryPolicy
from research.search.providers.entries import Day, Result, Words, left_out
from research.search.providers.refusals import Named

URL = Setting(
    "SEARXNG_URL",
    "Address of a SearXNG server with the JSON format enabled.",
    "url",
    label="Address of SearXNG",
)
NAMED = Named(
    "SearXNG",
    URL.name,
    refusals={403: "its JSON format may be switched off (settings.yml: search.formats)."},
)
CATEGORIES: dict[SearchKind, str] = {"web": "general", "academic": "science", "video": "videos"}
SPANS = {"day": 1, "month": 31, "year": 366}


class Entry(Result):
    content: Words = ""
    published: Day = Field(default=None, alias="publishedDate")


class Answer(BaseModel):
    """The fields of a response that are used."""

    results: list[Any]
    unresponsive_engines: Any = None


class SearxngSearch:
    """The `Search` tool over one SearXNG server, which may be on loopback."""

    def __init__(self, url: str, client: httpx.AsyncClient, manners: RetryPolicy | None = None):
        self._asker = ProviderClient(
            NAMED, f"{url.rstrip('/')}/search", client, manners or RetryPolicy()
        )

    async def search(self, request: SearchRequest) -> SearchAnswer:
        """Return the server's results in its order; raise `SearchFailedError`."""
        answers, failed = await ask_by_site(
            NAMED.label, request, lambda query: self._search_once(query, request)
        )
        hits = tuple(hit for hits, _ in answers for hit in hits)
        given = sum(len(answer.results) for _, answer in answers)
        silent = {name for _, answer in answers for name in _silent(answer.unresponsive_engines)}
        unread = left_out(NAMED.label, given, len(hits))
        return SearchAnswer(hits, (*failed, *unread, *_notes(sorted(silent))))

    async def _search_once(
        self, query: str, request: SearchRequest
    ) -> tuple[list[SearchHit], Answer]:
        parameters = {
            "q": query,
            "format": "json",
            "language": request.language or "all",
            "categories": CATEGORIES[request.kind],
        }
        span = smallest_span(request.since, date.today(), SPANS)
        if span:
            parameters["time_range"] = span
        answer = self._asker.read(Answer, await self._asker.get(parameters))
        entries = self._asker.usable(Entry, answer.results)
        hits = [
            make_hit("searxng", rank, entry.url, entry.title, entry.content, entry.published)
            for rank, entry in enumerate(entries, start=1)
        ]
        return hits, answer


def _silent(unresponsive: Any) -> list[str]:
    """Return the names of the engines that failed, without their error messages."""
    listed = unresponsive if isinstance(unresponsive, list) else []
    return [str(entry[0])[:40] for entry in listed if isinstance(entry, list) and entry]


def _notes(silent: list[str]) -> tuple[str, ...]:
    if not silent:
        return ()
    return (f"Engines of the search server that did not answer: {', '.join(silent)}.",)


def _make_search(settings: ProviderSettings, client: httpx.AsyncClient) -> SearxngSearch:
    manners = RetryPolicy(
        at_once=settings.at_once,
        per_second=settings.per_second.get("searxng", 0.0),
        shared=settings.shared("searxng"),
    )
    return SearxngSearch(settings[URL], client, manners)


PROVIDER = Provider(
    label=NAMED.label,
    needs=URL,
    make=_make_search,
    kinds=frozenset(CATEGORIES),
)
