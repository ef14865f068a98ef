"""A run whose search names odd addresses, and whose sites redirect to them, over real sockets."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable

import pytest

from research.engine.ports import Page, SearchAnswer, SearchHit, SearchRequest
from research.engine.records import Source
from research.fetch.fetch import FetchSettings, SafeFetch
from research.fetch.page_cache import RunFetch
from research.search.bounds import Bounds
from research.search.fallback import FallbackSearch, NamedSearch
from tests.engine.scripted import LIT, LIT_TOO, SIMPLE, Oracle, Web, World
from tests.support.in_process import InProcessPool
from tests.support.retrieval.web import Site, open_site, redirect, reply

ODD = (
    *("http://xn--a/", "http://xn--a.example.com/", "http://xn--.example.com/"),
    *(f"http://{'a' * 70}.example.com/", "http://a..example.com/", "http://:80/"),
    *("http://example.com:99999/", "http://example.com:port/", "gopher://example.com/"),
    *("", f"http://example.com/{'x' * 10_000}", "http://exa\x01mple.com/\x7f"),
)
UNREADABLE = ("http://[::1/", "http://exam\ud800ple.com/\udfff", "javascript:alert(1)", "http://")
GOOD = (LIT, LIT_TOO)


class Listing:
    """A search that always names the same addresses."""

    def __init__(self, urls: Iterable[str]) -> None:
        self.urls = tuple(urls)

    async def search(self, request: SearchRequest) -> SearchAnswer:
        hits = (SearchHit(u, SIMPLE.question, LIT, "list", n) for n, u in enumerate(self.urls, 1))
        return SearchAnswer(tuple(hits))


class NoCache:
    async def get(self, url: str) -> None:
        return None

    async def get_of_any_age(self, url: str) -> None:
        return None

    async def put(self, page: Page) -> None:
        return None


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    async with open_site() as site:
        for number, text in enumerate(GOOD):
            site.answers[f"/good/{number}"] = reply(f"<h1>Harrow Point</h1><p>{text}</p>")
        for number, location in enumerate(ODD):
            site.answers[f"/odd/{number}"] = redirect(location)
        yield site


async def test_odd_addresses_cost_their_own_pages_only(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    good = [site.url(f"/good/{number}") for number in range(len(GOOD))]
    redirecting = [site.url(f"/odd/{number}") for number in range(len(ODD))]
    listing = Listing([*ODD, *UNREADABLE, *redirecting, *good])
    world = World(Web(()), Oracle(SIMPLE))
    limits = FetchSettings(frozenset({site.place}), interval_seconds=0)
    with InProcessPool() as pool:
        fetch = SafeFetch(limits, pool)
        web = RunFetch(fetch, Bounds(never_sites=("other.example",)), NoCache())
        monkeypatch.setattr(world.web, "search", FallbackSearch([NamedSearch("l", listing)]).search)
        monkeypatch.setattr(world.web, "fetch", web.fetch)
        ran = await world.ask(
            SIMPLE.question,
            max_search_results_for_agent=50,
            max_pages_per_round=50,
            unit_tool_calls=(50, 50, 50),
        )
        await fetch.aclose()
    sources = {source.url: source for source in ran.of(Source)}
    assert ran.state.status == "completed"
    assert {sources[url].status for url in good} <= {"read", "cited"}
    assert {sources[url].status for url in redirecting} <= {"refused", "failed"}
    assert ran.usage.unexpected_errors == 0
