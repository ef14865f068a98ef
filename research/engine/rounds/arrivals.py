"""Pages of a wave in flight: one slow page doesn't delay all others."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable

from research.engine.ports import Page

LAST_PAGE_SECONDS = 1.0
"""The last page is waited for at least so long, and as long again as all others took."""
ENOUGH = 2
"""Pages that must be there before one is read without."""


class Arrivals:
    """Counts of pending and arrived pages of a wave. `seconds` reads the run's clock."""

    def __init__(self, expected: int, seconds: Callable[[], float]) -> None:
        self._left, self._there = expected, 0
        self._seconds, self._began = seconds, seconds()
        self._changed = asyncio.Event()

    def expect_more(self, more: int) -> None:
        """Count further pages, fetched in place of others."""
        self._left += more

    def watch_pages(self, pages: Iterable[asyncio.Task[Page]]) -> None:
        for page in pages:
            page.add_done_callback(self._note_arrival)

    def _note_arrival(self, page: asyncio.Task[Page]) -> None:
        self._left -= 1
        self._there += not page.cancelled() and page.exception() is None
        self._changed.set()

    async def all_but_one(self) -> None:
        """Wait until all pages but one have arrived and that one's time is up, too."""
        while True:
            while not self._is_last():
                self._changed.clear()
                await self._changed.wait()
            await asyncio.sleep(max(LAST_PAGE_SECONDS, self._seconds() - self._began))
            if self._is_last():
                return

    def _is_last(self) -> bool:
        return self._left == 1 and self._there >= ENOUGH
