"""The web as one run may read it: within the run's bounds, and from the page cache if possible."""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol

from research.engine.ports import FetchFailure, Page
from research.fetch.fetch import SafeFetch
from research.search.bounds import Bounds


class PageCache(Protocol):
    """Pages of earlier runs, restricted to those that the current run may read."""

    async def get(self, url: str) -> Page | None: ...

    async def get_of_any_age(self, url: str) -> Page | None: ...

    async def put(self, page: Page) -> None: ...


class RunFetch:
    """The engine's `Fetch` for one run, over a `SafeFetch` that all runs share."""

    def __init__(self, web: SafeFetch, bounds: Bounds, cache: PageCache) -> None:
        self._web = web
        self._bounds = bounds
        self._cache = cache

    async def fetch(self, url: str) -> Page:
        """Return the page at `url`; raise `FetchFailure`. Excluded sites are never requested.

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
