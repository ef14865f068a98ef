"""Gate through which a process's calls to the outside pass; closed while the process drains."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace

from research.engine.ports import Fetch, Page, Search, SearchAnswer, SearchRequest, Tools
from research.worker.leases import Lease


class CallGate:
    """Counts calls under way. Once closed, a further call waits until its run is cancelled.

    A model call passes with its pending journal entry and leaves with its settled one; so what
    was not begun leaves no pending entry.
    """

    def __init__(self) -> None:
        self._closed = False
        self._under_way: set[tuple[Lease | None, object]] = set()
        self._changed = asyncio.Event()

    async def enter(self, lease: Lease | None, key: object) -> None:
        if self._closed:
            await asyncio.Event().wait()
        self._under_way.add((lease, key))

    def leave(self, lease: Lease | None, key: object) -> None:
        self._under_way.discard((lease, key))
        self._changed.set()

    def forget(self, lease: Lease) -> None:
        """Drop the calls of a run that this process no longer executes."""
        self._under_way = {each for each in self._under_way if each[0] != lease}
        self._changed.set()

    @asynccontextmanager
    async def call(self) -> AsyncIterator[None]:
        key = object()
        await self.enter(None, key)
        try:
            yield
        finally:
            self.leave(None, key)

    def shut(self) -> None:
        """Let no further call begin."""
        self._closed = True

    async def drain(self, seconds: float) -> None:
        """Shut the gate and wait at most `seconds` for calls under way."""
        self.shut()
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while self._under_way:
                    self._changed.clear()
                    await self._changed.wait()


@dataclass(frozen=True)
class _GatedSearch:
    search_tool: Search
    gate: CallGate

    async def search(self, request: SearchRequest) -> SearchAnswer:
        async with self.gate.call():
            return await self.search_tool.search(request)


@dataclass(frozen=True)
class _GatedFetch:
    fetch_tool: Fetch
    gate: CallGate

    async def fetch(self, url: str) -> Page:
        async with self.gate.call():
            return await self.fetch_tool.fetch(url)


def gated_tools(tools: Tools, gate: CallGate) -> Tools:
    """Return tools whose searches and fetches pass the gate; model calls do so in the journal."""
    return replace(
        tools, search=_GatedSearch(tools.search, gate), fetch=_GatedFetch(tools.fetch, gate)
    )
