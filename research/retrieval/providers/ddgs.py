"""ddgs: a library that asks public search engines without a key; github.com/deedy5/ddgs.

It reads the engines' pages as a browser would see them, so it is slower and refused more
often than an interface that is meant for programs. It is imported with the first search.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from datetime import date
from typing import Any

import httpx
from pydantic import Field

from research.engine.tools import SearchAnswer, SearchFailure, SearchHit, SearchRequest
from research.retrieval.pacing import Pace
from research.retrieval.providers.base import (
    Provider,
    ProviderSettings,
    ask_by_site,
    hit,
    smallest_span,
)
from research.retrieval.providers.entries import Address, Day, Result, Words, left_out, readable

LABEL = "the web without a key (ddgs)"
PER_SECOND = 1.0
AT_ONCE = 2
TIMEOUT_SECONDS = 8
VIDEO_ENGINES = "duckduckgo"
SPANS = {"d": 1, "w": 7, "m": 31}
TEXT_SPANS = {**SPANS, "y": 366}
# Regions of the documentation whose names don't follow from the language.
REGIONS = {
    **{"en": "us-en", "zh": "cn-zh", "ja": "jp-jp", "ko": "kr-kr", "da": "dk-da", "sv": "se-sv"},
    **{"cs": "cz-cs", "el": "gr-el", "et": "ee-et", "uk": "ua-uk", "he": "il-he", "pt": "pt-pt"},
}
SAME_NAME = (
    *("bg", "de", "es", "fi", "fr", "hr", "hu", "id", "it", "lt", "lv", "nl", "no", "pl", "ro"),
    *("ru", "sk", "sl", "th", "tr"),
)


class Entry(Result):
    snippet: Words = ""
    published: Day = None


class TextEntry(Entry):
    url: Address = Field(alias="href")
    snippet: Words = Field(default="", alias="body")


class VideoEntry(Entry):
    url: Address = Field(alias="content")
    snippet: Words = Field(default="", alias="description")


class DdgsSearch:
    """The `Search` tool over the named engines, asked in this order until there are enough."""

    def __init__(self, engines: str, per_second: float, at_once: int = AT_ONCE) -> None:
        self._engines = engines
        self._pace = Pace(min(at_once, AT_ONCE), 1 / per_second if per_second else 0.0)

    async def search(self, request: SearchRequest) -> SearchAnswer:
        answers, failed = await ask_by_site(LABEL, request, lambda query: self._one(query, request))
        hits = tuple(hit for hits, _ in answers for hit in hits)
        given = sum(given for _, given in answers)
        return SearchAnswer(hits, (*failed, *left_out(LABEL, given, len(hits))))

    async def _one(self, query: str, request: SearchRequest) -> tuple[list[SearchHit], int]:
        """What was found, and how many results were given."""
        is_video = request.kind == "video"
        spans = SPANS if is_video else TEXT_SPANS
        options = {
            "region": region(request.language),
            "timelimit": smallest_span(request.since, date.today(), spans),
            "max_results": request.limit,
        }
        name, engines, model = (
            ("videos", VIDEO_ENGINES, VideoEntry)
            if is_video
            else ("text", self._engines, TextEntry)
        )
        async with self._pace.turn():
            found = await asyncio.to_thread(_ask, name, query, engines, options)
        entries = readable(model, found)
        if found and not entries:
            raise SearchFailure("What the search engines showed could not be read.")
        hits = [
            hit("ddgs", rank, each.url, each.title, each.snippet, each.published)
            for rank, each in enumerate(entries, start=1)
        ]
        return hits, len(found)


def region(language: str) -> str:
    """The library's region for a language; the first one where it has none."""
    primary = language.lower().partition("-")[0]
    if primary in REGIONS:
        return REGIONS[primary]
    return f"{primary}-{primary}" if primary in SAME_NAME else REGIONS["en"]


def _ask(kind: str, query: str, engines: str, options: Mapping[str, Any]) -> list[dict[str, Any]]:
    """One search in a thread. The library says by an exception also that nothing was found."""
    from ddgs import DDGS
    from ddgs.exceptions import DDGSException, RatelimitException, TimeoutException

    try:
        found: list[dict[str, Any]] = getattr(DDGS(timeout=TIMEOUT_SECONDS), kind)(
            query, backend=engines, **options
        )
    except RatelimitException:
        raise SearchFailure("The search engines limit how often they are asked.") from None
    except TimeoutException:
        raise SearchFailure("The search engines did not answer in time.") from None
    except DDGSException as error:
        if str(error) == "No results found.":
            return []
        raise SearchFailure("The search engines could not be reached or refused.") from None
    return found


def _make(settings: ProviderSettings, client: httpx.AsyncClient) -> DdgsSearch:
    rate = settings.per_second.get("ddgs", PER_SECOND)
    return DdgsSearch(settings.ddgs_engines, rate, settings.at_once)


PROVIDER = Provider(
    label=LABEL,
    make=_make,
    kinds=frozenset({"web", "video"}),
)
