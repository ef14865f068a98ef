"""Base of all search providers: their settings, their registry entry, and shared helpers."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import TYPE_CHECKING, TypeVar

from research.engine.ports import Search, SearchFailedError, SearchHit, SearchKind, SearchRequest
from research.limits.limiter import Shared, Store
from research.setting import Setting as Setting

if TYPE_CHECKING:
    import httpx

MOST_TITLE = 300
MOST_SITES = 4
WEB: frozenset[SearchKind] = frozenset({"web"})

Found = TypeVar("Found")


@dataclass(frozen=True)
class ProviderSettings:
    """Configured values of the search providers' settings.

    `values` maps a setting's name to its value; `per_second` maps provider names to rate limits
    that replace the built-in ones; `at_once` limits concurrent searches at providers without a
    stricter limit of their own. Limits apply to all processes that share the `store`.
    """

    values: Mapping[str, str] = field(default_factory=dict, repr=False)
    per_second: Mapping[str, float] = field(default_factory=dict)
    at_once: int = 4
    store: Store | None = None

    def shared(self, name: str) -> Shared | None:
        """Return the limit of a provider that all processes share, None if this one is alone."""
        return Shared(self.store, f"search {name}") if self.store else None

    def __getitem__(self, setting: Setting) -> str:
        """Return the configured value, else the setting's default."""
        return self.values.get(setting.name) or setting.default


@dataclass(frozen=True)
class Provider:
    """Registry entry of a provider: display name, settings and factory.

    `needs` is the setting without which it can't be used. A `keyless` provider needs none; it is
    used if it is named or if nothing else is configured. `options` are its other settings;
    `instead` is the one that may be set in place of `needs`, in the environment only.
    """

    label: str
    make: Callable[[ProviderSettings, httpx.AsyncClient], Search]
    needs: Setting | None = None
    options: tuple[Setting, ...] = ()
    instead: Setting | None = None
    kinds: frozenset[SearchKind] = WEB

    @property
    def keyless(self) -> bool:
        return self.needs is None

    @property
    def settings(self) -> tuple[Setting, ...]:
        return (self.needs, *self.options) if self.needs else self.options

    def is_configured(self, settings: ProviderSettings) -> bool:
        sufficient = [each for each in (self.needs, self.instead) if each]
        return self.keyless or any(settings[each] for each in sufficient)


def make_hit(
    provider: str, rank: int, url: str, title: str, snippet: str, day: str | None = None
) -> SearchHit:
    """Return a search hit; the address replaces a missing title."""
    return SearchHit(url, title[:MOST_TITLE] or url, snippet, provider, rank, day)


def smallest_span(since: str | None, today: date, spans: Mapping[str, int]) -> str | None:
    """Return the name of the shortest span, in days back from today, that includes `since`."""
    if since is None:
        return None
    days = (today - date.fromisoformat(since)).days
    return next((name for name, span in spans.items() if days <= span), None)


async def ask_by_site(
    label: str, request: SearchRequest, ask: Callable[[str], Awaitable[Found]]
) -> tuple[list[Found], tuple[str, ...]]:
    """Return the results of a provider that accepts one `site:` per query, and notes on failures.

    Send one query per requested site, at most `MOST_SITES`, concurrently (fan-out). Raise the
    first `SearchFailedError` if all of them fail.
    """
    queries = with_sites(request.query, request.only_sites, request.never_sites)
    told = await asyncio.gather(*(_found_or_failed(ask, query) for query in queries))
    found = [each for each in told if not isinstance(each, SearchFailedError)]
    failures = [each for each in told if isinstance(each, SearchFailedError)]
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
) -> Found | SearchFailedError:
    try:
        return await ask(query)
    except SearchFailedError as failure:
        return failure


def with_sites(query: str, only: tuple[str, ...], never: tuple[str, ...]) -> list[str]:
    """Return the query with `site:` operators, one query per requested site.

    Search engines that support the operator accept one site per query and any number of exclusions.
    """
    without = "".join(f" -site:{site}" for site in never)
    return [f"{query} site:{site}{without}" for site in only[:MOST_SITES]] or [query + without]
