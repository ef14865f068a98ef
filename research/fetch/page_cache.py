"""Fetches of one run: within its bounds, and from the page cache of all runs if possible.

The cache is restricted by access scope and age. Public pages are shared by all users. Pages of a
host in `FETCH_ALLOW_PRIVATE_HOSTS` are reused only in runs of the same user. Documents are never
cached here: they have their own index.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from urllib.parse import urlsplit

from django.conf import settings
from django.db import transaction
from django.utils import timezone
from pydantic import TypeAdapter

from research.documents.parse_document import EXTRACTOR_VERSION
from research.engine.ports import FetchFailedError, Page
from research.fetch.fetch import SafeFetch
from research.fetch.url_policy import AddressRules
from research.models import CachedPage, PageText
from research.models.base import key_digest
from research.models.journal import PUBLIC
from research.runtime.db_threads import query_async
from research.search.bounds import Bounds

PAGE: TypeAdapter[Page] = TypeAdapter(Page)
KEY = ("url_key", "scope")
SAID = ("url", "page", "said", "extractor_version", "fetched_at")
"""What a newer copy of a page replaces."""


class PageCache:
    """Pages that the runs of one user may reuse; `max_age_hours` 0 disables the cache."""

    def __init__(self, owner_id: int, max_age_hours: float) -> None:
        self._owner_id = owner_id
        self._max_age = timedelta(hours=max_age_hours)

    async def get(self, url: str) -> Page | None:
        return await query_async(self._get, url, self._max_age) if self._max_age else None

    async def get_of_any_age(self, url: str) -> Page | None:
        return await query_async(self._get, url) if self._max_age else None

    async def put(self, page: Page) -> None:
        if self._max_age:
            await query_async(self._put, page)

    def _get(self, url: str, max_age: timedelta | None = None) -> Page | None:
        scopes = (PUBLIC,) if not is_private(url) else ()
        young = {"fetched_at__gt": timezone.now() - max_age} if max_age else {}
        kept = (
            CachedPage.objects.filter(
                url_key=key_digest(url),
                scope__in=(*scopes, private_scope(self._owner_id)),
                extractor_version=str(EXTRACTOR_VERSION),
                **young,
            )
            .select_related("page")
            .order_by("-fetched_at")
            .first()
        )
        if kept is None:
            return None
        return PAGE.validate_python({**kept.said, "text": kept.page.text})

    def _put(self, page: Page) -> None:
        scope = scope_of(page, self._owner_id)
        text = PageText(
            id=PageText.id_for(scope, page.sha256), sha256=page.sha256, scope=scope, text=page.text
        )
        kept = CachedPage(
            scope=scope,
            url=page.url,
            url_key=key_digest(page.url),
            page=text,
            said=PAGE.dump_python(page, mode="json", exclude={"text"}),
            extractor_version=str(EXTRACTOR_VERSION),
            fetched_at=page.fetched_at,
        )
        with transaction.atomic():
            PageText.objects.bulk_create([text], ignore_conflicts=True)
            CachedPage.objects.bulk_create(
                [kept], update_conflicts=True, unique_fields=KEY, update_fields=SAID
            )


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


class RunFetch:
    """The engine's `Fetch` for one run, over a `SafeFetch` that all runs share."""

    def __init__(self, web: SafeFetch, bounds: Bounds, cache: PageCache) -> None:
        self._web = web
        self._bounds = bounds
        self._cache = cache

    async def fetch(self, url: str) -> Page:
        """Return the page at `url`; raise `FetchFailedError`. Excluded sites are never requested.

        A cached page keeps the time at which it was fetched. If the web fails temporarily, a
        cached copy of any age is returned, and its `note` says so.
        """
        self._bounds.check_site(url)
        page = await self._cache.get(url)
        if page is None:
            page = await self._from_the_web(url)
        self._bounds.check_site(page.final_url)
        self._bounds.check_page(page)
        return page

    async def _from_the_web(self, url: str) -> Page:
        try:
            page = await self._web.fetch(url, self._bounds.check_site)
        except FetchFailedError as failure:
            stored = None if failure.permanent else await self._cache.get_of_any_age(url)
            if stored is None:
                raise
            return replace(stored, note=_stored_copy(stored, failure))
        await self._cache.put(page)
        return page


def _stored_copy(page: Page, failure: FetchFailedError) -> str:
    day = f"{page.fetched_at.day} {page.fetched_at:%B %Y}"
    reason = f"{failure.reason[:1].upper()}{failure.reason[1:]}"
    return f"{reason}; the stored copy of {day} was read."
