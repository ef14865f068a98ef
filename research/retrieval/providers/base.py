"""What every search provider is given, and how it makes itself known."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import TypeVar

import httpx

from research.engine.tools import Search, SearchFailure, SearchHit, SearchKind, SearchRequest

MOST_TITLE = 300
MOST_SITES = 4
WEB: frozenset[SearchKind] = frozenset({"web"})

Found = TypeVar("Found")


@dataclass(frozen=True)
class ProviderSettings:
    """What the operator configured; an empty string where nothing is.

    Each address may be set to another server, also on loopback. `per_second` holds rates
    by the provider's name, in place of the provider's own; `at_once` are searches under way at a
    provider that asks for no fewer.
    """

    searxng_url: str = ""
    tavily_api_key: str = field(default="", repr=False)
    tavily_url: str = "https://api.tavily.com"
    exa_api_key: str = field(default="", repr=False)
    exa_url: str = "https://api.exa.ai"
    brave_api_key: str = field(default="", repr=False)
    brave_url: str = "https://api.search.brave.com"
    wikipedia_url: str = "https://{language}.wikipedia.org"
    arxiv_url: str = "https://export.arxiv.org"
    ddgs_engines: str = "duckduckgo,mojeek,brave,startpage,yahoo"
    per_second: Mapping[str, float] = field(default_factory=dict)
    at_once: int = 4


@dataclass(frozen=True)
class Provider:
    """A provider as people know it, when it can be used, and how it is made.

    One that is `keyless` needs nothing, and is used where it is named or nothing else is
    configured.
    """

    label: str
    make: Callable[[ProviderSettings, httpx.AsyncClient], Search]
    needs: str = ""
    is_configured: Callable[[ProviderSettings], bool] = lambda settings: True
    kinds: frozenset[SearchKind] = WEB

    @property
    def keyless(self) -> bool:
        return not self.needs


def hit(
    provider: str, rank: int, url: str, title: str, snippet: str, day: str | None = None
) -> SearchHit:
    """One result as every provider gives it; one without a title is called by its address."""
    return SearchHit(url, title[:MOST_TITLE] or url, snippet, provider, rank, day)


def smallest_span(since: str | None, today: date, spans: Mapping[str, int]) -> str | None:
    """The name of the smallest span, in days back from today, that holds `since`."""
    if since is None:
        return None
    days = (today - date.fromisoformat(since)).days
    return next((name for name, span in spans.items() if days <= span), None)


async def ask_by_site(
    label: str, request: SearchRequest, ask: Callable[[str], Awaitable[Found]]
) -> tuple[list[Found], tuple[str, ...]]:
    """What a provider that takes one `site:` a query finds, and what to say of the rest.

    Asks once for each of the sites that are asked for, at most `MOST_SITES`, side by side.
    Raises the first `SearchFailure` where all fail.
    """
    queries = with_sites(request.query, request.only_sites, request.never_sites)
    told = await asyncio.gather(*(_found_or_failed(ask, query) for query in queries))
    found = [each for each in told if not isinstance(each, SearchFailure)]
    failures = [each for each in told if isinstance(each, SearchFailure)]
    if not found:
        raise failures[0]
    notes = []
    if failures:
        count = f"{len(failures)} of {len(queries)} searches, one for each site, failed"
        notes.append(f"{label}: {count}: {failures[0].reason}")
    if len(request.only_sites) > MOST_SITES:
        beyond = ", ".join(request.only_sites[MOST_SITES:])
        notes.append(f"{label}: only {MOST_SITES} sites are searched at a time; not {beyond}.")
    return found, tuple(notes)


async def _found_or_failed(
    ask: Callable[[str], Awaitable[Found]], query: str
) -> Found | SearchFailure:
    try:
        return await ask(query)
    except SearchFailure as failure:
        return failure


def with_sites(query: str, only: tuple[str, ...], never: tuple[str, ...]) -> list[str]:
    """The query with `site:` operators: one for each site that is asked for.

    Search engines that know the operator take one site a query, and any number to leave out.
    """
    without = "".join(f" -site:{site}" for site in never)
    return [f"{query} site:{site}{without}" for site in only[:MOST_SITES]] or [query + without]
