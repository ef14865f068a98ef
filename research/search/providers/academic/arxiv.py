"""arXiv: preprints, through its API (info.arxiv.org, "arXiv API User's Manual").

Rate limit of its terms of use: one request in three seconds, one at a time. The response is an
Atom feed; an error is a feed with one entry whose id leads to `/api/errors`.
"""

from __future__ import annotations

import re
from typing import Any

import httpx
from lxml import etree
from pydantic import Field

from research.engine.ports import SearchAnswer, SearchFailedError, SearchRequest
from research.engine.text.tokens import split_terms
from research.search.providers.base import Provider, ProviderSettings, Setting
from research.search.providers.client import ProviderClient, RetryPolicy
from research.search.providers.entries import Day, Result
from research.search.providers.refusals import Named, unreadable_answer

URL = Setting(
    "ARXIV_URL",
    "Alternative address of arXiv's API.",
    "url",
    default="https://export.arxiv.org",
)
NAMED = Named("arXiv", URL.name)
PER_SECOND = 1 / 3
MOST_WORDS = 8

_ATOM = "{http://www.w3.org/2005/Atom}"
_WORD = re.compile(r"\w+")


class Entry(Result):
    snippet: str = Field(alias="summary")
    published: Day


class ArxivSearch:
    """The `Search` tool over arXiv's titles and abstracts."""

    def __init__(self, url: str, client: httpx.AsyncClient, manners: RetryPolicy):
        self._asker = ProviderClient(NAMED, f"{url.rstrip('/')}/api/query", client, manners)

    async def search(self, request: SearchRequest) -> SearchAnswer:
        words = _query_words(request.query)
        if not words:
            return SearchAnswer(())
        parameters = {
            "search_query": " AND ".join(
                [*(f"all:{word}" for word in words), *_date_filter(request)]
            ),
            "start": 0,
            "max_results": request.limit,
            "sortBy": "relevance",
            "sortOrder": "descending",
        }
        found = _parse_feed(await self._asker.get(parameters))
        return self._asker.hits("arxiv", Entry, found)


def _parse_feed(content: bytes) -> list[dict[str, Any]]:
    """Return the fields of each entry; raise `SearchFailedError` for an error or another format."""
    parser = etree.XMLParser(resolve_entities=False, no_network=True)
    try:
        feed = etree.fromstring(content, parser)
    except etree.XMLSyntaxError:
        raise unreadable_answer(NAMED) from None
    if feed.tag != f"{_ATOM}feed":
        raise unreadable_answer(NAMED)
    entries = [_entry_fields(element) for element in feed.iter(f"{_ATOM}entry")]
    if entries and "/api/errors" in entries[0]["url"]:
        raise SearchFailedError("It did not understand the search.", permanent=True)
    return entries


def _query_words(query: str) -> list[str]:
    """Return the query's content words without punctuation, so that none is arXiv query syntax."""
    telling = [word for word in _WORD.findall(query) if split_terms(word)]
    return list(dict.fromkeys(word.lower() for word in telling))[:MOST_WORDS]


def _date_filter(request: SearchRequest) -> list[str]:
    if not (request.since or request.until):
        return []
    since = (request.since or "1991-01-01").replace("-", "")
    until = (request.until or "2999-12-31").replace("-", "")
    return [f"submittedDate:[{since}0000 TO {until}2359]"]


def _entry_fields(element: etree._Element) -> dict[str, Any]:
    """Return the fields of an entry; its id is the abstract's address with an http scheme."""

    def text(name: str) -> str:
        return " ".join((element.findtext(f"{_ATOM}{name}") or "").split())

    return {
        "url": re.sub(r"^http://arxiv\.org", "https://arxiv.org", text("id")),
        **{name: text(name) for name in ("title", "summary", "published")},
    }


def _make_search(settings: ProviderSettings, client: httpx.AsyncClient) -> ArxivSearch:
    rate = settings.per_second.get("arxiv", PER_SECOND)
    manners = RetryPolicy(
        at_once=1, per_second=rate, timeout_seconds=20.0, shared=settings.shared("arxiv")
    )
    return ArxivSearch(settings[URL], client, manners)


PROVIDER = Provider(
    label=NAMED.label, options=(URL,), make=_make_search, kinds=frozenset({"academic"})
)
