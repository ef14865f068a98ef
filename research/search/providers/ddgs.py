"""ddgs: a library that queries public search engines without a key; github.com/deedy5/ddgs.

It scrapes result pages, so it is slower and blocked more often than an API. It is imported on
the first search.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from datetime import date
from typing import Any

import httpx
from pydantic import Field

from research.engine.ports import SearchAnswer, SearchFailedError, SearchHit, SearchRequest
from research.fetch.rate_limit import RateLimiter
from research.limits.limiter import Shared
from research.search.providers.base import (
    Provider,
    ProviderSettings,
    Setting,
    ask_by_site,
    make_hit,
    smallest_span,
)
from research.search.providers.entries import Address, Day, Result, Words, left_out, parse_entries

LABEL = "the web without a key (ddgs)"
ENGINES = Setting(
    "DDGS_ENGINES",
    "Search engines that ddgs queries, in this order, separated by commas.",
    "list",
    default="duckduckgo,mojeek,brave,startpage,yahoo",
)
PER_SECOND = 1.0
AT_ONCE = 2
TIMEOUT_SECONDS = 8
VIDEO_ENGINES = "duckduckgo"
SPANS = {"d": 1, "w": 7, "m": 31}
TEXT_SPANS = {**SPANS, "y": 366}
# Documented regions whose names can't be derived from the language.
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
    """The `Search` tool over the named engines, queried in order until there are enough results."""

    def __init__(
        self,
        engines: str,
        per_second: float,
        at_once: int = AT_ONCE,
        shared: Shared | None = None,
    ) -> None:
        self._engines = engines
        interval = 1 / per_second if per_second else 0.0
        self._pace = RateLimiter(min(at_once, AT_ONCE), interval, shared)

    async def search(self, request: SearchRequest) -> SearchAnswer:
        answers, failed = await ask_by_site(
            LABEL, request, lambda query: self._search_once(query, request)
        )
        hits = tuple(hit for hits, _ in answers for hit in hits)
        given = sum(given for _, given in answers)
        return SearchAnswer(hits, (*failed, *left_out(LABEL, given, len(hits))))

    async def _search_once(self, query: str, request: SearchRequest) -> tuple[list[SearchHit], int]:
        """Return the hits, and the number of results before invalid ones were dropped."""
        is_video = request.kind == "video"
        spans = SPANS if is_video else TEXT_SPANS
        options = {
            "region": region_for(request.language),
            "timelimit": smallest_span(request.since, date.today(), spans),
            "max_results": request.limit,
        }
        name, engines, model = (
            ("videos", VIDEO_ENGINES, VideoEntry)
            if is_video
            else ("text", self._engines, TextEntry)
        )
        async with self._pace.turn():
            found = await asyncio.to_thread(_run_search, name, query, engines, options)
        entries = parse_entries(model, found)
        if found and not entries:
            raise SearchFailedError("The search engines' result pages could not be read.")
        hits = [
            make_hit("ddgs", rank, each.url, each.title, each.snippet, each.published)
            for rank, each in enumerate(entries, start=1)
        ]
        return hits, len(found)


def region_for(language: str) -> str:
    """Return the library's region for a language; US English if it has none."""
    primary = language.lower().partition("-")[0]
    if primary in REGIONS:
        return REGIONS[primary]
    return f"{primary}-{primary}" if primary in SAME_NAME else REGIONS["en"]


def _run_search(
    kind: str, query: str, engines: str, options: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """Run one search (blocking). The library raises "No results found."; return [] instead."""
    from ddgs import DDGS
    from ddgs.exceptions import DDGSException, RatelimitException, TimeoutException

    try:
        found: list[dict[str, Any]] = getattr(DDGS(timeout=TIMEOUT_SECONDS), kind)(
            query, backend=engines, **options
        )
    except RatelimitException:
        raise SearchFailedError("The rate limit of the search engines is reached.") from None
    except TimeoutException:
        raise SearchFailedError("The search engines did not answer in time.") from None
    except DDGSException as error:
        if str(error) == "No results found.":
            return []
        raise SearchFailedError("The search engines could not be reached or refused.") from None
    return found


def _make_search(settings: ProviderSettings, client: httpx.AsyncClient) -> DdgsSearch:
    rate = settings.per_second.get("ddgs", PER_SECOND)
    return DdgsSearch(settings[ENGINES], rate, settings.at_once, settings.shared("ddgs"))


PROVIDER = Provider(
    label=LABEL,
    options=(ENGINES,),
    make=_make_search,
    kinds=frozenset({"web", "video"}),
)
