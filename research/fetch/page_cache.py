"""Cache of fetched pages across runs, restricted by access scope and age.

Public pages are shared by all users. Pages of a host in `FETCH_ALLOW_PRIVATE_HOSTS` are reused
only in runs of the same user. Documents are never cached here: they have their own index.
"""

from __future__ import annotations

from datetime import timedelta
from urllib.parse import urlsplit

from django.conf import settings
from django.db import transaction
from django.utils import timezone
from pydantic import TypeAdapter

from research.documents.parse_document import EXTRACTOR_VERSION
from research.engine.ports import Page
from research.fetch.url_policy import AddressRules
from research.models import CachedPage, PageText
from research.models.base import key_digest
from research.models.journal import PUBLIC
from research.runtime.db_threads import query_async

PAGE: TypeAdapter[Page] = TypeAdapter(Page)


class DjangoPageCache:
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
        with transaction.atomic():
            PageText.objects.bulk_create([text], ignore_conflicts=True)
            CachedPage.objects.update_or_create(
                scope=scope,
                url_key=key_digest(page.url),
                defaults={
                    "url": page.url,
                    "page_id": text.id,
                    "said": PAGE.dump_python(page, mode="json", exclude={"text"}),
                    "extractor_version": str(EXTRACTOR_VERSION),
                    "fetched_at": page.fetched_at,
                },
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
