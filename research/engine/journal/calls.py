"""Outward calls of a journal: search, fetch and model, recorded at their places."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import asdict, replace
from typing import Any, Literal

from pydantic import TypeAdapter

from research.engine.budget.meter import BudgetSpentError, Meter, Reservation
from research.engine.journal.model_calls import (
    UNEXPECTED,
    IsOutage,
    ModelCalls,
    contain_errors,
    failure_answer,
    no_outage,
)
from research.engine.journal.recording import EmptyInbox, Entry, Inbox, Store, digest_of
from research.engine.ports import (
    FetchFailedError,
    Page,
    SearchAnswer,
    SearchFailedError,
    SearchRequest,
    Tools,
)
from research.engine.records import Problem, Record

TOO_SLOW = SearchFailedError("The search did not answer in time.")

PAGE: TypeAdapter[Page] = TypeAdapter(Page)
SEARCH: TypeAdapter[SearchAnswer] = TypeAdapter(SearchAnswer)

Settled = tuple[Literal["done", "failed"], dict[str, Any]]
"""How a call ended, and the answer or the failure to record."""


class Journal(ModelCalls):
    """The engine's only way to the outside.

    `tools` None makes it a replay: an unrecorded call raises `JournalEndsError`. `receive` gets
    every record that the engine emits, and must not block. `analyst` is "extractive" or the model's
    name, as frozen in the run. `is_outage` recognises errors that end the attempt at the run rather
    than one call.
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
        """Raises `SearchFailedError` or `BudgetSpentError`."""
        begun = self._searching.pop(place, None)
        entry = await (begun or self._search_entry(place, request))
        self._check_budget(entry)
        self.meter.usage.searches += begun is None
        if entry.status == "failed":
            self.meter.usage.unexpected_errors += entry.answer["reason"] == UNEXPECTED
            self.meter.usage.failed(_tool_name(request))
            raise SearchFailedError(entry.answer["reason"], permanent=entry.answer["permanent"])
        return SEARCH.validate_python(entry.answer)

    def begin_search(self, place: str, request: SearchRequest) -> None:
        """Search before it is certain that the results are wanted; counted at once."""
        self.meter.usage.searches += 1
        self._searching[place] = asyncio.create_task(
            self._search_entry(place, request), name=f"begun {place}"
        )

    async def _search_entry(self, place: str, request: SearchRequest) -> Entry:
        async with self._in_flight.alone(place):
            asked = asdict(request)
            if not request.each:
                del asked["each"]  # journals of before have none
            recorded = self._find_recorded(place, 1, asked)
            return recorded or await self._live_search(place, request, asked)

    async def _live_search(
        self, place: str, request: SearchRequest, asked: dict[str, Any]
    ) -> Entry:
        tools = self._live_tools(place)

        async def call() -> Settled:
            try:
                async with asyncio.timeout(self.unit_seconds()):
                    with contain_errors(place, SearchFailedError(UNEXPECTED), self.is_outage):
                        found = await tools.search.search(request)
                        answer = SEARCH.dump_python(found, mode="json")
            except TimeoutError:
                return "failed", failure_answer(TOO_SLOW)
            except SearchFailedError as failure:
                return "failed", failure_answer(failure)
            return "done", answer

        entry = Entry(place, 1, "search", "pending", digest_of(asked), asked)
        return await self._settle(entry, self.meter.reserve_search, call)

    async def fetch(self, url: str) -> Page:
        """One page of the run; asked for twice, it is fetched once.

        Raises `FetchFailedError` or `BudgetSpentError`.
        """
        if url not in self._fetching:
            task = asyncio.create_task(self._fetch(url), name=f"fetch {url}")
            task.add_done_callback(lambda done: done.cancelled() or done.exception())
            self._fetching[url] = task
        try:
            page = await asyncio.shield(self._fetching[url])
        except FetchFailedError as failure:
            self._count_fetch(url, failure)
            raise
        self._count_fetch(url)
        return page

    def _count_fetch(self, url: str, failure: FetchFailedError | None = None) -> None:
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
        entry = self._find_recorded(place, 1, {"url": url})
        if entry is None:
            entry = await self._live_fetch(place, url)
        self._check_budget(entry)
        if entry.status == "failed":
            raise FetchFailedError(
                entry.answer["reason"],
                status=entry.answer["status"],
                permanent=entry.answer["permanent"],
            )
        text = await self.store.page_text(entry.answer["sha256"])
        return PAGE.validate_python({**entry.answer, "text": text})

    async def _live_fetch(self, place: str, url: str) -> Entry:
        tools, asked = self._live_tools(place), {"url": url}

        async def call() -> Settled:
            unexpected = FetchFailedError(UNEXPECTED, status="failed")
            try:
                with contain_errors(place, unexpected, self.is_outage):
                    page = await tools.fetch.fetch(url)
                    answer = PAGE.dump_python(page, mode="json", exclude={"text"})
            except FetchFailedError as failure:
                return "failed", {**failure_answer(failure), "status": failure.status}
            await self.store.put_page(page)
            return "done", answer

        entry = Entry(place, 1, "fetch", "pending", digest_of(asked), asked)
        entry = await self._settle(entry, self.meter.reserve_fetch, call)
        self.meter.fetched += entry.status != "refused"
        return entry

    async def _settle(
        self,
        entry: Entry,
        reserve: Callable[[], Reservation],
        call: Callable[[], Awaitable[Settled]],
    ) -> Entry:
        """Return the entry as recorded: refused if no budget allows the call, else the call's
        outcome.
        """
        clock = self._live_tools(entry.place).clock
        try:
            self._check_time()
            hold = reserve()
        except BudgetSpentError as spent:
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
        """Return whether a page's response is recorded."""
        return (f"fetch/{url}", 1) in self._entries

    def all_failed(self) -> bool:
        """Return whether there were outward calls and none of them succeeded."""
        outside = [e for e in self._entries.values() if e.kind in {"search", "fetch"}]
        calls = [e for e in outside if e.status != "refused"]
        return bool(calls) and all(e.status != "done" for e in calls)

    async def close(self) -> None:
        """Emit records that are held back; cancel and await unneeded calls."""
        self._go_live()
        tasks = [task for task in self._fetching.values() if isinstance(task, asyncio.Task)]
        tasks += [*self._begun.values(), *self._searching.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _tool_name(request: SearchRequest) -> str:
    """Return the name that a search's failures are counted by: each kind of page has its own."""
    return "search" if request.kind == "web" else f"search_{request.kind}"
