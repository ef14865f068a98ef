"""The search providers of the web: one module each, and one line here.

Local documents and the sample library are searched through the same interface; they are
opened by `research.assembly`, which has their index.
"""

from __future__ import annotations

from collections.abc import Sequence

import httpx

from research.engine.tools import SearchFailure
from research.retrieval.fallback import FallbackSearch, NamedSearch
from research.retrieval.providers import arxiv, brave, ddgs, exa, searxng, tavily, wikipedia
from research.retrieval.providers.base import Provider, ProviderSettings

__all__ = [
    "KEYLESS_WEB",
    "PROVIDERS",
    "ProviderSettings",
    "checked",
    "configured",
    "open_provider",
    "open_search",
]

PROVIDERS: dict[str, Provider] = {
    "searxng": searxng.PROVIDER,
    "tavily": tavily.PROVIDER,
    "exa": exa.PROVIDER,
    "brave": brave.PROVIDER,
    "ddgs": ddgs.PROVIDER,
    "wikipedia": wikipedia.PROVIDER,
    "arxiv": arxiv.PROVIDER,
}
KEYLESS_WEB = ["ddgs", "wikipedia"]
"""What is searched on the web where nothing is configured, preferred first."""


def configured(settings: ProviderSettings) -> list[str]:
    """The names of the providers that somebody set up, in order of preference."""
    return [
        name
        for name, provider in PROVIDERS.items()
        if not provider.keyless and provider.is_configured(settings)
    ]


def checked(name: str, settings: ProviderSettings) -> Provider:
    """A provider by its name; raises `SearchFailure` where it is unknown or not configured."""
    provider = PROVIDERS.get(name)
    if provider is None:
        known = ", ".join(PROVIDERS)
        raise SearchFailure(
            f"There is no search provider named {name}; known are: {known}.", permanent=True
        )
    if not provider.is_configured(settings):
        raise SearchFailure(f"{provider.label} needs {provider.needs} to be set.", permanent=True)
    return provider


def open_search(
    names: Sequence[str], settings: ProviderSettings, client: httpx.AsyncClient
) -> FallbackSearch:
    """The named providers, each standing in for the one before. Raises as `checked` does."""
    return FallbackSearch([open_provider(name, settings, client) for name in names])


def open_provider(name: str, settings: ProviderSettings, client: httpx.AsyncClient) -> NamedSearch:
    """A provider ready to search; the caller closes `client`. Raises as `checked` does.

    Its pace is its own: one that is opened once is asked at its rate by all runs together.
    """
    provider = checked(name, settings)
    return NamedSearch(provider.label, provider.make(settings, client), provider.kinds)
