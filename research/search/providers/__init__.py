"""The web search providers: one module each, its settings included, and one line in `MODULES`.

A provider's module is imported when it is first looked up, so starting a process imports none.
Documents and the sample library have the same interface but need an index, so they are opened
by `research.runtime.tool_factory`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING

from research.engine.ports import SearchFailedError
from research.search.providers.base import Provider, ProviderSettings, Setting

if TYPE_CHECKING:
    import httpx

    from research.search.fallback import FallbackSearch, NamedSearch

__all__ = [
    "KEYLESS_WEB",
    "MODULES",
    "PROVIDERS",
    "ProviderSettings",
    "Setting",
    "configured_providers",
    "declared_settings",
    "needed_settings",
    "open_provider",
    "open_search",
    "require_provider",
]

MODULES = {
    "searxng": ".searxng",
    "tavily": ".tavily",
    "exa": ".exa",
    "brave": ".brave",
    "json_search": ".json_search",
    "mcp_search": ".mcp_search",
    "ddgs": ".ddgs",
    "wikipedia": ".wikipedia",
    "arxiv": ".academic.arxiv",
    "openalex": ".academic.openalex",
    "semantic_scholar": ".academic.semantic_scholar",
    "pubmed": ".academic.pubmed",
    "github": ".developers.github",
    "stack_exchange": ".developers.stack_exchange",
}
"""Name → module with `PROVIDER`, preferred first."""


class _Registry(Mapping[str, Provider]):
    """The providers by name; a lookup imports the provider's module."""

    def __getitem__(self, name: str) -> Provider:
        provider: Provider = import_module(MODULES[name], __name__).PROVIDER
        return provider

    def __iter__(self) -> Iterator[str]:
        return iter(MODULES)

    def __len__(self) -> int:
        return len(MODULES)


PROVIDERS: Mapping[str, Provider] = _Registry()
KEYLESS_WEB = ["ddgs", "wikipedia"]
"""Web searches used if nothing is configured, preferred first."""


def declared_settings() -> list[Setting]:
    """Return the settings that the providers declare, required ones first."""
    options = (option for provider in PROVIDERS.values() for option in provider.options)
    return [*needed_settings(), *options]


def needed_settings() -> list[Setting]:
    """Return the required settings of the providers, as shown on the Setup page."""
    return [provider.needs for provider in PROVIDERS.values() if provider.needs]


def configured_providers(settings: ProviderSettings) -> list[str]:
    """Return the names of the configured providers, in order of preference."""
    return [
        name
        for name, provider in PROVIDERS.items()
        if not provider.keyless and provider.is_configured(settings)
    ]


def require_provider(name: str, settings: ProviderSettings) -> Provider:
    """Return a provider by name; raise `SearchFailedError` if it is unknown or not configured."""
    provider = PROVIDERS.get(name)
    if provider is None:
        known = ", ".join(PROVIDERS)
        raise SearchFailedError(
            f"There is no search provider named {name}; known are: {known}.", permanent=True
        )
    if not provider.is_configured(settings):
        name = provider.needs.name if provider.needs else ""
        raise SearchFailedError(f"{provider.label} needs {name} to be set.", permanent=True)
    return provider


def open_search(
    names: Sequence[str], settings: ProviderSettings, client: httpx.AsyncClient
) -> FallbackSearch:
    """Return the named providers as a fallback chain; raise like `require_provider`."""
    from research.search.fallback import FallbackSearch

    return FallbackSearch([open_provider(name, settings, client) for name in names])


def open_provider(name: str, settings: ProviderSettings, client: httpx.AsyncClient) -> NamedSearch:
    """Return a provider ready to search; the caller closes `client`. Raise like `require_provider`.

    Its rate limit belongs to the returned object: runs share the limit if they share the object.
    """
    from research.search.fallback import NamedSearch

    provider = require_provider(name, settings)
    return NamedSearch(provider.label, provider.make(settings, client), provider.kinds)
