"""SearXNG: a metasearch server that the operator runs, asked through its JSON interface.

The interface is documented at docs.searxng.org, "Search API". `json` must be among the
formats of the server's settings; otherwise it answers 403.
"""

from __future__ import annotations

from datetime import date
from typing import Any

import httpx
from pydantic import BaseModel, Field

from research.engine.tools import SearchAnswer, SearchHit, SearchKind, SearchRequest
from research.retrieval.providers.asking import Asker, Manners
from research.retrieval.providers.base import (
    Provider,
    ProviderSettings,
    ask_by_site,
    hit,
    smallest_span,
)
from research.retrieval.providers.entries import Day, Result, Words, left_out
from research.retrieval.providers.refusals import Named

NAMED = Named(
    "SearXNG",
    "SEARXNG_URL",
    refusals={403: "its JSON format may be switched off (settings.yml: search.formats)."},
)
CATEGORIES: dict[SearchKind, str] = {"web": "general", "academic": "science", "video": "videos"}
SPANS = {"day": 1, "month": 31, "year": 366}


class Entry(Result):
    content: Words = ""
    published: Day = Field(default=None, alias="publishedDate")


class Answer(BaseModel):
    """The documented answer, as far as it is used."""

    results: list[Any]
    unresponsive_engines: Any = None


class SearxngSearch:
    """The `Search` tool over one SearXNG server, which may be on loopback."""

    def __init__(self, url: str, client: httpx.AsyncClient, manners: Manners | None = None):
        self._asker = Asker(NAMED, f"{url.rstrip('/')}/search", client, manners or Manners())

    async def search(self, request: SearchRequest) -> SearchAnswer:
        """The server's results in its order; raises `SearchFailure` with a sentence."""
        answers, failed = await ask_by_site(
            NAMED.label, request, lambda query: self._one(query, request)
        )
        hits = tuple(hit for hits, _ in answers for hit in hits)
        given = sum(len(answer.results) for _, answer in answers)
        silent = {name for _, answer in answers for name in _silent(answer.unresponsive_engines)}
        unread = left_out(NAMED.label, given, len(hits))
        return SearchAnswer(hits, (*failed, *unread, *_notes(sorted(silent))))

    async def _one(self, query: str, request: SearchRequest) -> tuple[list[SearchHit], Answer]:
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
            hit("searxng", rank, entry.url, entry.title, entry.content, entry.published)
            for rank, entry in enumerate(entries, start=1)
        ]
        return hits, answer


def _silent(unresponsive: Any) -> list[str]:
    """Which engines gave nothing; their error messages stay behind."""
    listed = unresponsive if isinstance(unresponsive, list) else []
    return [str(entry[0])[:40] for entry in listed if isinstance(entry, list) and entry]


def _notes(silent: list[str]) -> tuple[str, ...]:
    if not silent:
        return ()
    return (f"Engines of the search server that did not answer: {', '.join(silent)}.",)


def _make(settings: ProviderSettings, client: httpx.AsyncClient) -> SearxngSearch:
    manners = Manners(at_once=settings.at_once, per_second=settings.per_second.get("searxng", 0.0))
    return SearxngSearch(settings.searxng_url, client, manners)


PROVIDER = Provider(
    label=NAMED.label,
    needs="SEARXNG_URL",
    is_configured=lambda settings: bool(settings.searxng_url),
    make=_make,
    kinds=frozenset(CATEGORIES),
)
