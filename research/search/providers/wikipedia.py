"""Wikipedia's own search, in the edition of the question's language.

MediaWiki's Action API, "API:Search" and "API:Etiquette": one request at a time, an identifying
user agent, and errors in responses with status 200. The returned time is that of the last edit,
not of publication, so it is ignored.
"""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import quote

import httpx
from pydantic import BaseModel, Field

from research.engine.ports import SearchAnswer, SearchFailedError, SearchRequest
from research.search.providers.base import Provider, ProviderSettings, Setting, make_hit
from research.search.providers.client import ProviderClient, RetryPolicy
from research.search.providers.entries import Markup, left_out
from research.search.providers.refusals import Named, parse_json_body, unreadable_answer

URL = Setting(
    "WIKIPEDIA_URL",
    "Wiki to search instead of https://{language}.wikipedia.org.",
    "url",
    default="https://{language}.wikipedia.org",
)
NAMED = Named("Wikipedia", URL.name)
# language code: "en", "als"
_EDITION = re.compile(r"[a-z]{2,3}")


class Entry(BaseModel):
    title: str = Field(min_length=1)
    snippet: Markup = ""


class Query(BaseModel):
    search: list[Any]


class Fault(BaseModel):
    code: str


class Answer(BaseModel):
    query: Query | None = None
    error: Fault | None = None


class WikipediaSearch:
    """The `Search` tool over an edition; `url` may contain `{language}`."""

    def __init__(self, url: str, client: httpx.AsyncClient, manners: RetryPolicy):
        self._url = url.rstrip("/")
        self._asker = ProviderClient(NAMED, self._url, client, manners)

    async def search(self, request: SearchRequest) -> SearchAnswer:
        site = self._url.format(language=_edition(request.language))
        parameters = {
            "action": "query",
            "list": "search",
            "srsearch": request.query,
            "srlimit": request.limit,
            "srprop": "snippet",
            "format": "json",
            "formatversion": 2,
        }
        body = await self._asker.get(parameters, url=f"{site}/w/api.php")
        answer = self._asker.read(Answer, body)
        if answer.error is not None:
            raise _failure(answer.error.code)
        if answer.query is None:
            raise unreadable_answer(NAMED, parse_json_body(body))
        found = answer.query.search
        entries = self._asker.usable(Entry, found)
        hits = (
            make_hit("wikipedia", rank, _page_url(site, entry.title), entry.title, entry.snippet)
            for rank, entry in enumerate(entries, start=1)
        )
        return SearchAnswer(tuple(hits), left_out(NAMED.label, len(found), len(entries)))


def _edition(language: str) -> str:
    match = _EDITION.match(language.lower())
    return match[0] if match else "en"


def _page_url(site: str, title: str) -> str:
    return f"{site}/wiki/{quote(title.replace(' ', '_'), safe='/:(),')}"


def _failure(code: str) -> SearchFailedError:
    if code in {"ratelimited", "maxlag"}:
        return SearchFailedError(f"It is too busy to answer ({code}).")
    shown = code if code.isidentifier() and len(code) < 40 else "unknown"
    return SearchFailedError(f"It did not understand the search ({shown}).", permanent=True)


def _make_search(settings: ProviderSettings, client: httpx.AsyncClient) -> WikipediaSearch:
    manners = RetryPolicy(
        at_once=1,
        per_second=settings.per_second.get("wikipedia", 0.0),
        shared=settings.shared("wikipedia"),
    )
    return WikipediaSearch(settings[URL], client, manners)


PROVIDER = Provider(label=NAMED.label, options=(URL,), make=_make_search)
