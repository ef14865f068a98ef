"""The web as one run may read it: within its bounds, and from the cache where that will do."""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol

from research.engine.tools import FetchFailure, Page
from research.retrieval.bounds import Bounds
from research.retrieval.fetch import SafeFetch


class PageCache(Protocol):
    """Pages of earlier runs; it gives only what the present one may read."""

    async def get(self, url: str) -> Page | None: ...

    async def get_of_any_age(self, url: str) -> Page | None: ...

    async def put(self, page: Page) -> None: ...


class RunFetch:
    """The engine's `Fetch` for one run, over a fetch that all runs share."""

    def __init__(self, web: SafeFetch, bounds: Bounds, cache: PageCache) -> None:
        self._web = web
        self._bounds = bounds
        self._cache = cache

    async def fetch(self, url: str) -> Page:
        """The page at `url`; raises `FetchFailure`. A site that was left out is never asked.

        One from the cache keeps the time at which it was fetched. Where the web fails for a
        passing reason, a copy of any age does, and its `note` says so.
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
        except FetchFailure as failure:
            stored = None if failure.permanent else await self._cache.get_of_any_age(url)
            if stored is None:
                raise
            return replace(stored, note=_stored_copy(stored, failure))
        await self._cache.put(page)
        return page


def _stored_copy(page: Page, failure: FetchFailure) -> str:
    day = f"{page.fetched_at.day} {page.fetched_at:%B %Y}"
    reason = f"{failure.reason[:1].upper()}{failure.reason[1:]}"
    return f"{reason}; the stored copy of {day} was read."
