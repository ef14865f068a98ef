"""Searches available in this installation, and the default: the `sources` of a run.

A run's `sources` are `{"search": [names, preferred first], "documents": [folders]}`, and
`"collections": [{"id", "name"}]` if the user selected collections.
"""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.conf import settings

from research.engine.ports import ToolFailedError
from research.engine.text.tokens import unique_texts
from research.runtime import installation
from research.runtime.installation import Installation

if TYPE_CHECKING:
    from research.search.providers.base import ProviderSettings

SAMPLES, DOCUMENTS, NONE = "samples", "documents", "none"
NO_FOLDER = "No folder of documents was named: set DOCUMENTS or add --documents PATH."
LONGEST_SECONDS = 1.0
KEPT_SECONDS = 60.0
NEVER = "none"


def chosen_sources(now: Installation) -> dict[str, Any]:
    """Return the sources of a new run whose user selected none.

    If none are configured either: the web without a key if there is a network (the first probe may
    take a second), else the sample library. `none` disables searches, but not the configured
    folders of documents.
    """
    names = _named_providers(now) if now["SEARCH_PROVIDER"] else []
    if names and not (names == [NONE] and settings.DOCUMENTS):
        return _searching(names)
    if settings.DOCUMENTS:
        return _searching([DOCUMENTS])
    return _searching(_web_names(now) or [SAMPLES])


def source_choices(now: Installation, *, collections: bool = False) -> dict[str, dict[str, Any]]:
    """Return the sources that a user may select: a name → the `sources` of a run.

    The web is included only if it is allowed and, without a key, reachable; documents if folders
    are configured or the user has `collections`.
    """
    web = _web_names(now)
    found = {"web": web} if web else {}
    if settings.DOCUMENTS or collections:
        found["documents"] = [DOCUMENTS]
        found |= {"both": [DOCUMENTS, *web]} if web else {}
    found[SAMPLES] = [SAMPLES]
    return {name: _searching(names) for name, names in found.items()}


def mixes_documents_and_web(sources: Mapping[str, Any]) -> bool:
    """Return whether a run searches documents and something outside at once."""
    names = set(sources.get("search", ()))
    return DOCUMENTS in names and bool(names - {DOCUMENTS, SAMPLES, NONE})


def documents_alone(sources: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the names of the folders and collections that a run searches; none if it searches
    anything else, too.
    """
    if list(sources.get("search", ())) != [DOCUMENTS]:
        return ()
    from research.documents.folder import FileAddressing

    folders = [FileAddressing().name(Path(each)) for each in sources.get("documents", ())]
    collections = [each["name"] for each in sources.get("collections", ())]
    return tuple(unique_texts([*folders, *collections]))


def check_searches(names: Sequence[str], folders: Sequence[Path]) -> None:
    """Raise `ToolFailedError` if a search is unknown, not configured or lacks a folder."""
    from research.search.providers import require_provider

    now = installation.current_installation()
    for name in names:
        if name == DOCUMENTS and not folders:
            raise ToolFailedError(NO_FOLDER, permanent=True)
        if name not in {SAMPLES, DOCUMENTS, NONE}:
            require_provider(name, provider_settings(now))


def provider_settings(now: Installation) -> ProviderSettings:
    """Return the environment's settings of the providers, completed by the stored ones.

    A key of the environment is left out if its search's address is a stored one, so that it is
    never sent to an address that another person configured.
    """
    from research.search.providers import PROVIDERS, needed_settings

    stored = {setting.name: now[setting.name] for setting in needed_settings()}
    values = {**settings.PROVIDERS.values, **stored}
    for provider in PROVIDERS.values():
        needs = provider.needs
        if needs and needs.kind == "url" and now.values[needs.name].origin == "stored":
            for option in provider.options:
                if option.kind == "key":
                    values.pop(option.name, None)
    return replace(settings.PROVIDERS, values=values)


def _named_providers(now: Installation) -> list[str]:
    return [name.strip() for name in now["SEARCH_PROVIDER"].split(",")]


def _web_names(now: Installation) -> list[str]:
    """Return the web searches: those named, else those configured, else those without a key."""
    from research.search.providers import KEYLESS_WEB, configured_providers

    if now["SEARCH_PROVIDER"]:
        return [name for name in _named_providers(now) if name not in {SAMPLES, DOCUMENTS, NONE}]
    names = configured_providers(provider_settings(now))
    return names or (KEYLESS_WEB if _network(settings.NETWORK_PROBE)() else [])


def _searching(names: list[str]) -> dict[str, Any]:
    return {"search": names, "documents": settings.DOCUMENTS if DOCUMENTS in names else []}


@cache
def _network(place: str) -> NetworkProbe:
    return NetworkProbe(place)


class NetworkProbe:
    """Callable that returns True if `place` (host:port) recently accepted a connection.

    Tries one connection, in a daemon thread that is waited for at most `LONGEST_SECONDS`, so that a
    machine without a network answers quickly.
    """

    def __init__(self, place: str) -> None:
        self._place = place
        self._answer: bool | None = None
        self._asked = 0.0
        self._lock = threading.Lock()

    def __call__(self) -> bool:
        """Return the last result while a newer one is determined; wait only for the first one."""
        if self._place in {"", NEVER}:
            return False
        with self._lock:
            now = time.monotonic()
            if self._asked and now - self._asked < KEPT_SECONDS:
                return bool(self._answer)
            self._asked = now
            trying = threading.Thread(target=self._try, name="network probe", daemon=True)
            trying.start()
            if self._answer is None:
                trying.join(LONGEST_SECONDS)
            return bool(self._answer)

    def _try(self) -> None:
        host, _, port = self._place.rpartition(":")
        try:
            socket.create_connection((host, int(port)), LONGEST_SECONDS).close()
        except (OSError, ValueError):
            self._answer = False
        else:
            self._answer = True
