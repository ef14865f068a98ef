"""A unit at work: its searches, its pages, and what came too late for it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import urlsplit

from research.engine.aside import aside
from research.engine.budget import BudgetSpent
from research.engine.findings import Asked, Reading
from research.engine.journal.containment import UNEXPECTED, contain
from research.engine.records import SourceStatus, Unit
from research.engine.run import Run
from research.engine.sentences import take_apart
from research.engine.tools import (
    FetchFailure,
    Page,
    SearchFailure,
    SearchHit,
    SearchRequest,
    ToolFailure,
)
from research.engine.topics import Topic
from research.engine.wording import count

LATE = "not there in time; counts in a later round if it comes"


@dataclass
class Work:
    """A unit at work: its topic, what its searches named, what was fetched and read.

    `searched` are the queries that were asked, with the number of their hits; `spares` are
    pages to take where one of `urls` is not to be had.
    """

    unit: Unit
    topic: Topic
    searched: dict[str, int] = field(default_factory=dict)
    hits: tuple[SearchHit, ...] = ()
    urls: list[str] = field(default_factory=list)
    spares: list[str] = field(default_factory=list)
    pages: list[Page] = field(default_factory=list)
    reading: Reading = field(default_factory=Reading)
    follow_ups: list[str] = field(default_factory=list)

    @property
    def place(self) -> str:
        return f"round/{self.unit.round}/unit/{self.unit.number}"

    @property
    def asked(self) -> Asked:
        """What a reader of the unit's pages is told."""
        return Asked(self.topic.text, self.unit.queries, self.topic.reason)


Reader = Callable[[Run, Work], Awaitable[Reading]]


# --- searching ------------------------------------------------------------------------------


async def search(run: Run, item: Work, slots: asyncio.Semaphore) -> None:
    """Ask the topic's queries in order, until one names a page that nobody tried yet."""
    async with slots:
        for number, query in enumerate(item.topic.queries[: _most_searches(run)], 1):
            run.doing(f"Searching: {query}")
            try:
                await _ask(run, item, number, query)
            except SearchFailure as failure:
                fail(run, item, failure.reason)
                break
            except BudgetSpent:
                if not item.hits:
                    item.unit = replace(item.unit, status="dropped", failure="the budget is spent")
                break
            if not item.topic.all_queries and any(_is_new(run, hit) for hit in item.hits):
                break
    item.unit = replace(item.unit, queries=tuple(item.searched) or item.unit.queries)


async def _ask(run: Run, item: Work, number: int, query: str) -> None:
    place = run.scouted.pop(query, f"{item.place}/search/{number}")
    answer = await run.journal.search(place, request_for(run, query))
    known = {hit.url for hit in item.hits}
    item.hits += tuple(hit for hit in answer.hits if hit.url not in known)
    item.searched[query] = len(answer.hits)
    for note in answer.notes:
        run.trouble("search", note)


def request_for(run: Run, query: str) -> SearchRequest:
    config = run.config
    return SearchRequest(
        query,
        config.max_search_results_for_agent,
        config.search_language or run.ledger.plan.language,
        config.search_kind,
        config.search_since,
        config.search_until,
        config.only_sites,
        config.never_sites,
    )


def _most_searches(run: Run) -> int:
    """At least one tool call of the unit is left for a page."""
    return max(1, min(run.config.researcher_search_budget, run.limits.tool_calls - 1))


def _is_new(run: Run, hit: SearchHit) -> bool:
    return hit.url not in run.tried


def fail(run: Run, item: Work, reason: str) -> None:
    item.unit = replace(item.unit, status="failed", failure=reason)
    run.trouble(f"round {item.unit.round}, {item.topic.text}", reason)


# --- fetching and reading -------------------------------------------------------------------


async def fetch_and_read(run: Run, item: Work, slots: asyncio.Semaphore, read_unit: Reader) -> None:
    if item.unit.status:
        return
    async with slots:
        started = await run.journal.elapsed(f"{item.place}/start")
        late = await _fetch(run, item)
        run.doing(f"Reading for: {item.topic.text}")
        try:
            with contain(item.place, ToolFailure(UNEXPECTED)):
                await aside(item.pages, take_apart, [page.text for page in item.pages])
            item.reading = await read_unit(run, item)
        except ToolFailure as error:
            run.journal.meter.usage.unexpected_errors += 1
            fail(run, item, error.reason)
            return
        ended = await run.journal.elapsed(f"{item.place}/end")
        item.unit = replace(item.unit, status="done", seconds=round(ended - started, 3))
        if late:
            failure = f"{count(late, 'page')} not there in time"
            item.unit = replace(item.unit, status="late", failure=failure)


async def _fetch(run: Run, item: Work) -> int:
    """Fetch the unit's pages, once another for each that is not to be had; gives how many were
    not there by the deadline.
    """
    item.urls = list(dict.fromkeys(item.urls))
    item.pages = [run.ledger.pages[url] for url in item.urls if url in run.ledger.pages]
    wanted = [url for url in item.urls if url not in run.ledger.pages]
    late, lost = await _get(run, item, wanted, f"{item.place}/late")
    if spares := item.spares[:lost]:
        item.urls += spares
        run.tried.update(spares)
        late += (await _get(run, item, spares, f"{item.place}/late/spares"))[0]
    return late


async def _get(run: Run, item: Work, urls: Sequence[str], place: str) -> tuple[int, int]:
    """Fetch these pages side by side; how many came too late, and how many are not to be had."""
    tasks = {url: asyncio.create_task(run.journal.fetch(url), name=f"page {url}") for url in urls}
    try:
        return await _take(run, item, tasks, place)
    finally:
        for task in tasks.values():
            task.cancel()
        await asyncio.gather(*tasks.values(), return_exceptions=True)


async def _take(
    run: Run, item: Work, tasks: dict[str, asyncio.Task[Page]], place: str
) -> tuple[int, int]:
    async def wait() -> list[str]:
        return await _late(tasks, run.journal.interrupted, run.journal.unit_seconds())

    late, lost = set(await run.journal.decide(place, wait)), 0
    for url, task in tasks.items():
        if url in late:
            run.late[url] = item.topic.aspect_id
            mark(run, url, "not_read", LATE)
            continue
        run.doing(f"Reading {host(url)}")
        try:
            item.pages.append(await task)
        except FetchFailure as failure:
            lost += 1
            mark(run, url, failure.status, failure.reason)
        except BudgetSpent:
            mark(run, url, "not_read", "the budget for pages is spent")
    return len(late), lost


async def _late(
    tasks: dict[str, asyncio.Task[Page]], interrupted: asyncio.Event, seconds: float
) -> list[str]:
    if tasks:
        stop = asyncio.create_task(interrupted.wait(), name="interrupted")
        all_done = asyncio.create_task(asyncio.wait(tasks.values()), name="pages")
        waiting: set[asyncio.Task[Any]] = {stop, all_done}
        await asyncio.wait(waiting, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        for task in waiting:
            task.cancel()
    late = [url for url, task in tasks.items() if not task.done()]
    for url in late:
        tasks[url].cancel()
    return late


async def take_late(run: Run, work: Sequence[Work]) -> None:
    """Hand pages that came after their round's deadline to the units of this one."""
    if not run.late or not work:
        return

    async def arrived() -> list[str]:
        return [url for url in run.late if run.journal.is_fetched(url)]

    number = work[0].unit.round
    for url in await run.journal.decide(f"round/{number}/arrived", arrived):
        aspect_id = run.late.pop(url)
        same = (item for item in work if item.topic.aspect_id == aspect_id)
        next(same, work[0]).urls.append(url)


def mark(run: Run, url: str, status: SourceStatus, reason: str) -> None:
    run.ledger.put_source(replace(run.ledger.sources[url], status=status, reason=reason))


def host(url: str) -> str:
    return (urlsplit(url).hostname or "").removeprefix("www.")
