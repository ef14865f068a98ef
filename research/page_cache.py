"""Pages that earlier runs fetched, for later ones: by scope and age.

A public page serves everybody. One on a host that is open only because the operator
listed it serves runs of the person whose run fetched it, and documents serve nobody here:
they have an index of their own.
"""

from __future__ import annotations

from datetime import timedelta

from django.db import transaction
from django.utils import timezone
from pydantic import TypeAdapter

from research.connections import asked
from research.engine.tools import Page
from research.models import CachedPage, PageText
from research.models.base import key_digest
from research.models.journal import PUBLIC
from research.retrieval.reading import EXTRACTOR_VERSION
from research.scopes import is_private, private_scope, scope_of

PAGE: TypeAdapter[Page] = TypeAdapter(Page)


class DjangoPageCache:
    """What the runs of one person may read; `max_age_hours` 0 is no cache."""

    def __init__(self, owner_id: int, max_age_hours: float) -> None:
        self._owner_id = owner_id
        self._max_age = timedelta(hours=max_age_hours)

    async def get(self, url: str) -> Page | None:
        return await asked(self._get, url, self._max_age) if self._max_age else None

    async def get_of_any_age(self, url: str) -> Page | None:
        return await asked(self._get, url) if self._max_age else None

    async def put(self, page: Page) -> None:
        if self._max_age:
            await asked(self._put, page)

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
