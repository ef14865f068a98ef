"""Addresses of a run's pages: its own, or those of the link by which its report is shared."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from typing import TYPE_CHECKING

from django.conf import settings
from django.http import HttpRequest
from django.urls import reverse

if TYPE_CHECKING:
    from research.models import Run, ShareLink

SHARED = {"run": "shared", "citation": "shared_citation", "export": "shared_export"}
"""Routes of the pages that readers of a shared report may open, by those of the run's own."""

KEPT_SECONDS = 60
"""For how long is remembered whether a collection is attached to a question."""

_token: ContextVar[str] = ContextVar("token_of_shared_report", default="")


@contextmanager
def as_shared(link: ShareLink) -> Iterator[None]:
    """Render pages for readers of a shared link within this context."""
    reset = _token.set(link.token)
    try:
        yield
    finally:
        _token.reset(reset)


def is_shared() -> bool:
    """Return whether the page is made for readers of a shared report."""
    return bool(_token.get())


def is_attached(index_name: str) -> bool:
    """Return whether a collection, by its name in the index, holds files attached to a question."""
    return _is_attached(index_name, int(time.monotonic() / KEPT_SECONDS))


@lru_cache(maxsize=1_000)
def _is_attached(index_name: str, period: int) -> bool:
    from research.models import Collection

    return Collection.objects.filter(index_name=index_name).exclude(thread=None).exists()


def address_of(run: Run, page: str, *arguments: object) -> str:
    """Return the address of a page of a run; '' of one that isn't shared."""
    if token := _token.get():
        return reverse(SHARED[page], args=[token, *arguments]) if page in SHARED else ""
    return reverse(page, args=[run.public_id, *arguments])


def link_to_share(request: HttpRequest, link: ShareLink) -> str:
    """Return the whole address of a shared report: below PUBLIC_URL if that is set, otherwise as
    the person who shares it addresses this server.
    """
    path = reverse("shared", args=[link.token])
    if settings.PUBLIC_URL == settings.LOCAL_URL:
        return request.build_absolute_uri(path)
    return f"{settings.PUBLIC_URL.rstrip('/')}{path}"


def anchor_of(number: int, place: int) -> str:
    """Return the anchor of a marker in a report: of its number, or of a later occurrence."""
    return f"cite-{number}-{place}" if place else f"cite-{number}"
