"""The web as one run may read it: within its bounds, and from the cache where that will do."""

from __future__ import annotations

from typing import Protocol

from research.engine.tools import Page
from research.retrieval.bounds import Bounds
from research.retrieval.fetch import SafeFetch


class PageCache(Protocol):
    """Pages of earlier runs; it gives only what the present one may read."""

    async def get(self, url: str) -> Page | None: ...

    async def put(self, page: Page) -> None: ...


class RunFetch:
    """The engine's `Fetch` for one run, over a fetch that all runs share."""

    def __init__(self, web: SafeFetch, bounds: Bounds, cache: PageCache) -> None:
        self._web = web
        self._bounds = bounds
        self._cache = cache

    async def fetch(self, url: str) -> Page:
        """The page at `url`; raises `FetchFailure`. A site that was left out is never asked.

        One from the cache keeps the time at which it was fetched.
        """
        self._bounds.check_site(url)
        page = await self._cache.get(url)
        if page is None:
            page = await self._web.fetch(url, self._bounds.check_site)
            await self._cache.put(page)
        self._bounds.check_site(page.final_url)
        self._bounds.check_page(page)
        return page
