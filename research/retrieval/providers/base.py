"""What every search provider is given, and how it makes itself known."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime

import httpx

from research.engine.tools import Search, SearchHit, SearchKind

WEB: frozenset[SearchKind] = frozenset({"web"})


@dataclass(frozen=True)
class ProviderSettings:
    """What the operator configured; an empty string where nothing is.

    Each address may be set to another server, also on loopback. `per_second` holds rates
    by the provider's name, in place of the provider's own.
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
    provider: str, rank: int, url: str, title: str | None, snippet: str | None, date: str | None
) -> SearchHit:
    """One result as every provider gives it; its date is cut to the day."""
    return SearchHit(url, title or url, snippet or "", provider, rank, iso_day(date))


def iso_day(written: str | None) -> str | None:
    """The day of an ISO 8601 date or time; None for what is none."""
    try:
        return datetime.fromisoformat(written).date().isoformat() if written else None
    except ValueError:
        return None


def smallest_span(since: str | None, today: date, spans: Mapping[str, int]) -> str | None:
    """The name of the smallest span, in days back from today, that holds `since`."""
    if since is None:
        return None
    days = (today - date.fromisoformat(since)).days
    return next((name for name, span in spans.items() if days <= span), None)


def with_sites(query: str, only: tuple[str, ...], never: tuple[str, ...]) -> list[str]:
    """The query with `site:` operators: one for each site that is asked for, at most four.

    Search engines that know the operator take one site a query, and any number to leave out.
    """
    without = "".join(f" -site:{site}" for site in never)
    return [f"{query} site:{site}{without}" for site in only[:4]] or [query + without]
