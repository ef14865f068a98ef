"""What every search provider is given: settings, and one HTTP client for all."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import httpx

from research.engine.tools import Search


@dataclass(frozen=True)
class ProviderSettings:
    """What the operator configured; an empty string where nothing is."""

    searxng_url: str = ""


@dataclass(frozen=True)
class Provider:
    """A provider as people know it, when it can be used, and how it is made."""

    label: str
    needs: str
    is_configured: Callable[[ProviderSettings], bool]
    make: Callable[[ProviderSettings, httpx.AsyncClient], Search]
