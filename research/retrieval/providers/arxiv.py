"""arXiv: preprints, through its API (info.arxiv.org, "arXiv API User's Manual").

One request in three seconds and one at a time, as its terms of use ask. The answer is an
Atom feed; an error is a feed with one entry whose id leads to `/api/errors`.
"""

from __future__ import annotations

import re
from typing import Any

import httpx
from lxml import etree

from research.engine.text import terms
from research.engine.tools import SearchAnswer, SearchFailure, SearchRequest
from research.retrieval.providers.asking import Asker, Manners
from research.retrieval.providers.base import Provider, ProviderSettings, hit
from research.retrieval.providers.entries import Day, Result, left_out
from research.retrieval.providers.refusals import Named, unreadable

NAMED = Named("arXiv", "ARXIV_URL")
PER_SECOND = 1 / 3
MOST_WORDS = 8

_ATOM = "{http://www.w3.org/2005/Atom}"
_WORD = re.compile(r"\w+")


class Entry(Result):
    summary: str
    published: Day


class ArxivSearch:
    """The `Search` tool over arXiv's titles and abstracts."""

    def __init__(self, url: str, client: httpx.AsyncClient, manners: Manners):
        self._asker = Asker(NAMED, f"{url.rstrip('/')}/api/query", client, manners)

    async def search(self, request: SearchRequest) -> SearchAnswer:
        words = _words(request.query)
        if not words:
            return SearchAnswer(())
        parameters = {
            "search_query": " AND ".join([*(f"all:{word}" for word in words), *_window(request)]),
            "start": 0,
            "max_results": request.limit,
            "sortBy": "relevance",
            "sortOrder": "descending",
        }
        found = _listed(await self._asker.get(parameters))
        entries = self._asker.usable(Entry, found)
        hits = (
            hit("arxiv", rank, entry.url, entry.title, entry.summary, entry.published)
            for rank, entry in enumerate(entries, start=1)
        )
        return SearchAnswer(tuple(hits), left_out(NAMED.label, len(found), len(entries)))


def _listed(content: bytes) -> list[dict[str, Any]]:
    """What the feed says of each entry; raises `SearchFailure` for what is no feed, or an error."""
    parser = etree.XMLParser(resolve_entities=False, no_network=True)
    try:
        feed = etree.fromstring(content, parser)
    except etree.XMLSyntaxError:
        raise unreadable(NAMED) from None
    if feed.tag != f"{_ATOM}feed":
        raise unreadable(NAMED)
    entries = [_said(element) for element in feed.iter(f"{_ATOM}entry")]
    if entries and "/api/errors" in entries[0]["url"]:
        raise SearchFailure("It did not understand the search.", permanent=True)
    return entries


def _words(query: str) -> list[str]:
    """The query's words that say something: none of them can be syntax of arXiv's."""
    telling = [word for word in _WORD.findall(query) if terms(word)]
    return list(dict.fromkeys(word.lower() for word in telling))[:MOST_WORDS]


def _window(request: SearchRequest) -> list[str]:
    if not (request.since or request.until):
        return []
    since = (request.since or "1991-01-01").replace("-", "")
    until = (request.until or "2999-12-31").replace("-", "")
    return [f"submittedDate:[{since}0000 TO {until}2359]"]


def _said(element: etree._Element) -> dict[str, Any]:
    """The id is the address of the abstract's page, with an old scheme."""

    def text(name: str) -> str:
        return " ".join((element.findtext(f"{_ATOM}{name}") or "").split())

    return {
        "url": re.sub(r"^http://arxiv\.org", "https://arxiv.org", text("id")),
        **{name: text(name) for name in ("title", "summary", "published")},
    }


def _make(settings: ProviderSettings, client: httpx.AsyncClient) -> ArxivSearch:
    rate = settings.per_second.get("arxiv", PER_SECOND)
    manners = Manners(at_once=1, per_second=rate, timeout_seconds=20.0)
    return ArxivSearch(settings.arxiv_url, client, manners)


PROVIDER = Provider(label=NAMED.label, make=_make, kinds=frozenset({"academic"}))
