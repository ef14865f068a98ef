"""The outward side of a journal: search and fetch beside the model, recorded at their places."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import asdict, replace
from typing import Any, Literal

from pydantic import TypeAdapter

from research.engine.budget import BudgetSpent, Hold, Meter
from research.engine.journal.containment import UNEXPECTED, IsOutage, contain, no_outage
from research.engine.journal.entries import EmptyInbox, Entry, Inbox, Store, digest
from research.engine.journal.models import ModelCalls, failed
from research.engine.records import Problem, Record
from research.engine.tools import (
    FetchFailure,
    Page,
    SearchAnswer,
    SearchFailure,
    SearchRequest,
    Tools,
)

TOO_SLOW = SearchFailure("The search did not answer in time.")

PAGE: TypeAdapter[Page] = TypeAdapter(Page)
SEARCH: TypeAdapter[SearchAnswer] = TypeAdapter(SearchAnswer)

Settled = tuple[Literal["done", "failed"], dict[str, Any]]
"""How a call ended, and the answer or the failure to record."""


class Journal(ModelCalls):
    """The engine's only way to the outside.

    `tools` None makes it a replay: what was not recorded raises `JournalEnds`.
    `receive` gets every record the engine emits; it must not block. `analyst` is
    "extractive" or the model's name, as frozen in the run. `is_outage` tells errors that end the
    attempt at the run, and not one call of it.
    """

    def __init__(
        self,
        store: Store,
        tools: Tools | None,
        meter: Meter,
        receive: Callable[[Record], None] = lambda record: None,
        inbox: Inbox | None = None,
        analyst: str = "extractive",
        backoff_seconds: float = 0.5,
        is_outage: IsOutage = no_outage,
    ) -> None:
        inbox = inbox or EmptyInbox()
        super().__init__(store, tools, meter, receive, inbox, analyst, backoff_seconds, is_outage)
        self._fetching: dict[str, asyncio.Future[Page]] = {}
        self._counted: set[str] = set()
        self._searching: dict[str, asyncio.Task[Entry]] = {}

    async def search(self, place: str, request: SearchRequest) -> SearchAnswer:
        """Raises `SearchFailure` or `BudgetSpent`."""
        begun = self._searching.pop(place, None)
        entry = await (begun or self._search_entry(place, request))
        self._check_budget(entry)
        self.meter.usage.searches += begun is None
        if entry.status == "failed":
            self.meter.usage.unexpected_errors += entry.answer["reason"] == UNEXPECTED
            self.meter.usage.failed(_tool(request))
            raise SearchFailure(entry.answer["reason"], permanent=entry.answer["permanent"])
        return SEARCH.validate_python(entry.answer)

    def begin_search(self, place: str, request: SearchRequest) -> None:
        """Search before it is certain that the results are wanted; counted at once."""
        self.meter.usage.searches += 1
        self._searching[place] = asyncio.create_task(
            self._search_entry(place, request), name=f"begun {place}"
        )

    async def _search_entry(self, place: str, request: SearchRequest) -> Entry:
        async with self._in_flight.alone(place):
            recorded = self._recorded(place, 1, asdict(request))
            return recorded or await self._live_search(place, request)

    async def _live_search(self, place: str, request: SearchRequest) -> Entry:
        tools, asked = self._live(place), asdict(request)

        async def call() -> Settled:
            try:
                async with asyncio.timeout(self.unit_seconds()):
                    with contain(place, SearchFailure(UNEXPECTED), self.is_outage):
                        found = await tools.search.search(request)
                        answer = SEARCH.dump_python(found, mode="json")
            except TimeoutError:
                return "failed", failed(TOO_SLOW)
            except SearchFailure as failure:
                return "failed", failed(failure)
            return "done", answer

        entry = Entry(place, 1, "search", "pending", digest(asked), asked)
        return await self._settle(entry, self.meter.reserve_search, call)

    async def fetch(self, url: str) -> Page:
        """One page of the run; asked for twice, it is fetched once.

        Raises `FetchFailure` or `BudgetSpent`.
        """
        if url not in self._fetching:
            task = asyncio.create_task(self._fetch(url), name=f"fetch {url}")
            task.add_done_callback(lambda done: done.cancelled() or done.exception())
            self._fetching[url] = task
        try:
            page = await asyncio.shield(self._fetching[url])
        except FetchFailure as failure:
            self._used(url, failure)
            raise
        self._used(url)
        return page

    def _used(self, url: str, failure: FetchFailure | None = None) -> None:
        """Count a fetch when its answer is taken: a place in the run, unlike its arrival."""
        if url in self._counted:
            return
        self._counted.add(url)
        self.meter.usage.fetches += 1
        if failure is not None:
            self.meter.usage.failed("fetch")
        if failure is not None and failure.reason == UNEXPECTED:
            self.meter.usage.unexpected_errors += 1
            self.emit(Problem(f"page {url:.200}", UNEXPECTED))

    async def _fetch(self, url: str) -> Page:
        place = f"fetch/{url}"
        entry = self._recorded(place, 1, {"url": url})
        if entry is None:
            entry = await self._live_fetch(place, url)
        self._check_budget(entry)
        if entry.status == "failed":
            raise FetchFailure(
                entry.answer["reason"],
                status=entry.answer["status"],
                permanent=entry.answer["permanent"],
            )
        text = await self.store.page_text(entry.answer["sha256"])
        return PAGE.validate_python({**entry.answer, "text": text})

    async def _live_fetch(self, place: str, url: str) -> Entry:
        tools, asked = self._live(place), {"url": url}

        async def call() -> Settled:
            unexpected = FetchFailure(UNEXPECTED, status="failed")
            try:
                with contain(place, unexpected, self.is_outage):
                    page = await tools.fetch.fetch(url)
                    answer = PAGE.dump_python(page, mode="json", exclude={"text"})
            except FetchFailure as failure:
                return "failed", {**failed(failure), "status": failure.status}
            await self.store.put_page(page)
            return "done", answer

        entry = Entry(place, 1, "fetch", "pending", digest(asked), asked)
        entry = await self._settle(entry, self.meter.reserve_fetch, call)
        self.meter.fetched += entry.status != "refused"
        return entry

    async def _settle(
        self, entry: Entry, reserve: Callable[[], Hold], call: Callable[[], Awaitable[Settled]]
    ) -> Entry:
        """The entry as recorded: refused where no budget holds the call, else as the call ends."""
        clock = self._live(entry.place).clock
        try:
            self._check_time()
            hold = reserve()
        except BudgetSpent as spent:
            return await self._put(
                replace(entry, status="refused", answer={"reason": spent.reason})
            )
        try:
            started = clock.monotonic()
            status, answer = await call()
            seconds = round(clock.monotonic() - started, 3)
            return await self._put(replace(entry, status=status, answer=answer, seconds=seconds))
        finally:
            self.meter.release(hold)

    def is_fetched(self, url: str) -> bool:
        """Whether a page's answer is recorded, whoever waits for it."""
        return (f"fetch/{url}", 1) in self._entries

    def all_failed(self) -> bool:
        """Whether something was asked of the outside and not one answer came."""
        outside = [e for e in self._entries.values() if e.kind in {"search", "fetch"}]
        calls = [e for e in outside if e.status != "refused"]
        return bool(calls) and all(e.status != "done" for e in calls)

    async def close(self) -> None:
        """Hand on what is held back; cancel and await calls that nobody waits for."""
        self._go_live()
        tasks = [task for task in self._fetching.values() if isinstance(task, asyncio.Task)]
        tasks += [*self._begun.values(), *self._searching.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _tool(request: SearchRequest) -> str:
    """The name that a search's failures are counted by: each kind of page has its own."""
    return "search" if request.kind == "web" else f"search_{request.kind}"
