"""Access scope of stored page text, to prevent leaks between users."""

from __future__ import annotations

from urllib.parse import urlsplit

from django.conf import settings

from research.engine.ports import Page
from research.fetch.url_policy import AddressRules
from research.models.journal import PUBLIC


def scope_of(page: Page, owner_id: int | None) -> str:
    """Return the access scope: a document's collection, a private host's user, else public."""
    if urlsplit(page.url).scheme == "file":
        return f"collection:{page.domain}"
    if is_private(page.url) or is_private(page.final_url):
        return private_scope(owner_id)
    return PUBLIC


def private_scope(owner_id: int | None) -> str:
    return f"private:{owner_id}"


def is_private(url: str) -> bool:
    return AddressRules(frozenset(settings.FETCH_ALLOW_PRIVATE_HOSTS)).lists(url)
