"""The search providers of the web: one module each, and one line here."""

from __future__ import annotations

from collections.abc import Sequence

import httpx

from research.engine.tools import SearchFailure
from research.retrieval.pipeline import FallbackSearch, NamedSearch
from research.retrieval.providers import searxng
from research.retrieval.providers.base import Provider, ProviderSettings

PROVIDERS: dict[str, Provider] = {
    "searxng": searxng.PROVIDER,
}


def configured(settings: ProviderSettings) -> list[str]:
    """The names of the providers that can be used, in order of preference."""
    return [name for name, provider in PROVIDERS.items() if provider.is_configured(settings)]


def open_search(
    names: Sequence[str], settings: ProviderSettings, client: httpx.AsyncClient
) -> FallbackSearch:
    """The named providers, each a fallback of the one before; the caller closes `client`.

    Raises `SearchFailure`, for the user, at a name that is unknown or not configured.
    """
    return FallbackSearch([open_provider(name, settings, client) for name in names])


def open_provider(name: str, settings: ProviderSettings, client: httpx.AsyncClient) -> NamedSearch:
    """One provider by its name; raises `SearchFailure` where it is unknown or not configured."""
    provider = PROVIDERS.get(name)
    if provider is None:
        known = ", ".join(PROVIDERS)
        raise SearchFailure(
            f"There is no search provider named {name}; known are: {known}.", permanent=True
        )
    if not provider.is_configured(settings):
        raise SearchFailure(f"{provider.label} needs {provider.needs} to be set.", permanent=True)
    return NamedSearch(provider.label, provider.make(settings, client))
