"""Whose a stored text is, so that nobody's documents or intranet reach another's run."""

from __future__ import annotations

from urllib.parse import urlsplit

from django.conf import settings

from research.engine.tools import Page
from research.models.journal import PUBLIC
from research.retrieval.addresses import AddressRules


def scope_of(page: Page, owner_id: int | None) -> str:
    """Whose a stored text is: documents by their collection, an intranet's by the person."""
    if urlsplit(page.url).scheme == "file":
        return f"collection:{page.domain}"
    if is_private(page.url) or is_private(page.final_url):
        return private_scope(owner_id)
    return PUBLIC


def private_scope(owner_id: int | None) -> str:
    return f"private:{owner_id}"


def is_private(url: str) -> bool:
    return AddressRules(frozenset(settings.FETCH_ALLOW_PRIVATE_HOSTS)).lists(url)
