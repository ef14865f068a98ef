"""System checks of settings and SQLite; commands and the preflight ask for their tag."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Warning
from django.db import connection

from research.engine.config import knob_names
from research.search.providers import declared_settings

TAG = "settings"
SQLITE_NEEDED = (3, 35)
"""UPDATE … RETURNING; Django itself is content with less."""
# "PORT=8000", "export PORT = 8000"
_ASSIGNMENT = re.compile(r"^\s{0,20}(?:export\s{1,20})?([A-Za-z_]\w{0,99})\s{0,20}=", re.MULTILINE)


def check_settings(**options: Any) -> list[CheckMessage]:
    """Warn of names in `.env` that are no settings.

    Raise `ImproperlyConfigured` if a setting of a search provider is invalid.
    """
    dict(settings.PROVIDERS.values)
    if settings.ENV_FILE is None:
        return []
    written = _ASSIGNMENT.findall(Path(settings.ENV_FILE).read_text(encoding="utf-8"))
    return [
        Warning(text, hint="Check the name in docs/settings.md.", id="plumbline.W001")
        for text in describe_unknown(written)
    ]


def check_sqlite(**options: Any) -> list[CheckMessage]:
    """Report a version of SQLite that is too old, where it is the database."""
    if connection.vendor != "sqlite" or sqlite3.sqlite_version_info >= SQLITE_NEEDED:
        return []
    needed = ".".join(map(str, SQLITE_NEEDED))
    text = f"SQLite is {sqlite3.sqlite_version}, but {needed} or newer is needed."
    hint = "Use a newer Python, or PostgreSQL by DATABASE_URL."
    return [Error(text, hint=hint, id="plumbline.E001")]


def describe_unknown(names: Iterable[str]) -> list[str]:
    """Return a sentence for each name that is no setting, with the setting it may have meant."""
    known = known_names()
    told = []
    for name in dict.fromkeys(names):
        if name not in known:
            close = get_close_matches(name.upper(), known, 1)
            meant = f" Did you mean {close[0]}?" if close else ""
            told.append(f"{settings.ENV_FILE} sets {name}, which is not a setting.{meant}")
    return told


def known_names() -> set[str]:
    """Return the names under which settings are read: installation, providers and knobs."""
    declared = [*settings.DECLARED_SETTINGS.values(), *declared_settings()]
    aliases = {alias for setting in declared for alias in setting.aliases}
    return aliases | {setting.name for setting in declared} | set(knob_names())
