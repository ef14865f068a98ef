"""System check of the settings that are read late; commands that need it ask for its tag."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage

TAG = "settings"


def check_settings(**options: Any) -> list[CheckMessage]:
    """Raise `ImproperlyConfigured` if a setting of a search provider is invalid."""
    dict(settings.PROVIDERS.values)
    return []
