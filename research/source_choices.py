"""What may be searched here, and what is where nobody chooses: the `sources` of a run.

A run's `sources` are `{"search": [names, preferred first], "documents": [folders]}`, with
`"collections": [{"id", "name"}]` where a person chose some of theirs.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.conf import settings

from research import installation
from research.engine.tools import ToolFailure
from research.installation import Installation

if TYPE_CHECKING:
    from research.retrieval.online import NetworkProbe
    from research.retrieval.providers.base import ProviderSettings

SAMPLES, DOCUMENTS, NONE = "samples", "documents", "none"
NO_FOLDER = "No folder of documents was named: set DOCUMENTS or add --documents PATH."


def chosen_sources(now: Installation) -> dict[str, Any]:
    """What a new run searches where its asker chose nothing.

    Where nothing is configured either: the web without a key if there is a network, which
    may take a second to find out the first time; else the sample library. `none` switches
    off searches, not the folders of documents that are set up.
    """
    names = _named(now) if now["SEARCH_PROVIDER"] else []
    if names and not (names == [NONE] and settings.DOCUMENTS):
        return _searching(names)
    if settings.DOCUMENTS:
        return _searching([DOCUMENTS])
    return _searching(_web_names(now) or [SAMPLES])


def source_choices(now: Installation, *, collections: bool = False) -> dict[str, dict[str, Any]]:
    """What a person may choose to search: a name → the `sources` of a run.

    The web is among them only where it may be searched and, without a key, is to be reached;
    documents where folders are set up or the person has `collections`.
    """
    web = _web_names(now)
    found = {"web": web} if web else {}
    if settings.DOCUMENTS or collections:
        found["documents"] = [DOCUMENTS]
        found |= {"both": [DOCUMENTS, *web]} if web else {}
    found[SAMPLES] = [SAMPLES]
    return {name: _searching(names) for name, names in found.items()}


def check_searches(names: Sequence[str], folders: Sequence[Path]) -> None:
    """Raises `ToolFailure` for a search that is unknown, not configured or without a folder."""
    from research.retrieval.providers import checked

    now = installation.current()
    for name in names:
        if name == DOCUMENTS and not folders:
            raise ToolFailure(NO_FOLDER, permanent=True)
        if name not in {SAMPLES, DOCUMENTS, NONE}:
            checked(name, provider_settings(now))


def provider_settings(now: Installation) -> ProviderSettings:
    from research.retrieval.providers.base import ProviderSettings

    return ProviderSettings(**{**settings.PROVIDERS, "searxng_url": now["SEARXNG_URL"]})


def _named(now: Installation) -> list[str]:
    return [name.strip() for name in now["SEARCH_PROVIDER"].split(",")]


def _web_names(now: Installation) -> list[str]:
    """The named searches of the web, else those that somebody set up, else those without a key."""
    from research.retrieval.providers import KEYLESS_WEB, configured

    if now["SEARCH_PROVIDER"]:
        return [name for name in _named(now) if name not in {SAMPLES, DOCUMENTS, NONE}]
    names = configured(provider_settings(now))
    return names or (KEYLESS_WEB if _network(settings.NETWORK_PROBE)() else [])


def _searching(names: list[str]) -> dict[str, Any]:
    return {"search": names, "documents": settings.DOCUMENTS if DOCUMENTS in names else []}


@cache
def _network(place: str) -> NetworkProbe:
    from research.retrieval.online import NetworkProbe

    return NetworkProbe(place)
