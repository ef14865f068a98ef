"""A unit in progress: its searches, its pages, and pages that arrived late."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from typing import Any, TypeVar
from urllib.parse import urlsplit

from research.engine.budget.meter import BudgetSpentError
from research.engine.journal.model_calls import UNEXPECTED, contain_errors
from research.engine.limits import FEW_PAGES, READ_TOGETHER
from research.engine.offline.passages.coverage import in_words, plain_title
from research.engine.ports import (
    FetchFailedError,
    Page,
    SearchAnswer,
    SearchFailedError,
    SearchHit,
    SearchKind,
    SearchRequest,
    ToolFailedError,
)
from research.engine.records import SourceStatus, Unit
from research.engine.report.messages import count_noun
from research.engine.rounds.arrivals import Arrivals
from research.engine.rounds.findings import Asked, Reading
from research.engine.rounds.topics import Topic
from research.engine.run import Run
from research.engine.text.offload import run_in_thread
from research.engine.text.tokens import unique_texts
from research.engine.untrusted.screening import screened_answer, screened_page, take_pages_apart
from research.engine.untrusted.search_words import private_words, search_words

T = TypeVar("T")

LATE = "not there in time; counts in a later round if it comes"
NOT_NEEDED = "it gives orders to machines, and other pages answer the sub-question"


@dataclass
class Work:
    """A unit in progress: its topic, its search results, and the pages fetched and read.

    `searched` maps the queries sent to their number of hits; `spares` are pages to fetch in place
    of those of `urls` that can't be fetched. `also` are the units whose pages it reads with its
    own. `beside` has by address the topics of other units whose searches named a page first, too,
    `known` the sentences that earlier rounds were shown of it.
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
    also: list[Work] = field(default_factory=list)
    beside: dict[str, tuple[str, ...]] = field(default_factory=dict)
    known: dict[str, frozenset[int]] = field(default_factory=dict)

    @property
    def place(self) -> str:
        return f"round/{self.unit.round}/unit/{self.unit.number}"

    @property
    def asked(self) -> Asked:
        """Return the purpose of reading, as a reader of the unit's pages gets it."""
        every = [self, *self.also]
        topics = unique_texts(each.topic.text for each in every)
        queries = unique_texts(query for each in every for query in each.unit.queries)
        beside = {url: texts for each in every for url, texts in each.beside.items()}
        known = {url: numbers for each in every for url, numbers in each.known.items()}
        return Asked(tuple(topics), tuple(queries), self.topic.reason, beside, known)


Reader = Callable[[Run, Work], Awaitable[Reading]]


# --- searching ------------------------------------------------------------------------------


async def search_unit(run: Run, item: Work, slots: asyncio.Semaphore) -> None:
    """Send the topic's queries in order until one returns a page that hasn't been tried yet."""
    async with slots:
        for number, query in enumerate(item.topic.queries[: _most_searches(run)], 1):
            run.report_action(f"Searching: {query}")
            try:
                await _ask_query(run, item, number, query)
            except SearchFailedError as failure:
                fail_unit(run, item, failure.reason)
                break
            except BudgetSpentError:
                if not item.hits:
                    item.unit = replace(item.unit, status="dropped", failure="the budget is spent")
                break
            is_found = any(_is_new(run, hit) for hit in item.hits) or _has_found_lead(item)
            if is_found and not item.topic.all_queries:
                break
    item.unit = replace(item.unit, queries=tuple(item.searched) or item.unit.queries)


async def _ask_query(run: Run, item: Work, number: int, query: str) -> None:
    """Search for each kind of page that the run wants, concurrently.

    Interleave the results of the kinds, best first. Raise the first kind's `SearchFailedError` or
    `BudgetSpentError` if every kind failed.
    """
    first, *others = run.config.search_kind
    places = {first: run.scouted.pop(query, f"{item.place}/search/{number}")}
    places |= {kind: f"{item.place}/search/{number}/{kind}" for kind in others}
    given = await _side_by_side(
        _of_kind(run, place, replace(request_for(run, query, kind), each=item.topic.things))
        for kind, place in places.items()
    )
    answers = [each for each in given if isinstance(each, SearchAnswer)]
    for failure in given:
        if isinstance(failure, Exception) and not answers:
            raise failure
    known = {hit.url: hit for hit in item.hits}
    for hit in _in_turns(answers):
        known.setdefault(hit.url, hit)
    item.hits = tuple(known.values())
    item.searched[query] = sum(len(answer.hits) for answer in answers)


async def _of_kind(
    run: Run, place: str, request: SearchRequest
) -> SearchAnswer | SearchFailedError | BudgetSpentError:
    several = len(run.config.search_kind) > 1
    where = f"search, {request.kind}" if several else "search"
    try:
        answer = await run.journal.search(place, request)
    except (SearchFailedError, BudgetSpentError) as failure:
        if several and isinstance(failure, SearchFailedError):
            run.trouble(where, failure.reason)
        return failure
    for note in answer.notes:
        run.trouble(where, note)
    return screened_answer(answer, run.question.text, run.has_model)


def _in_turns(answers: Iterable[SearchAnswer]) -> Iterator[SearchHit]:
    """Interleave the sequences: yield the first item of each, then the second of each."""
    for row in zip_longest(*(answer.hits for answer in answers)):
        yield from filter(None, row)


async def _side_by_side(steps: Iterable[Coroutine[None, None, T]]) -> list[T]:
    """Run the calls concurrently and return their results in order; raise the first error."""
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(step) for step in steps]
    except BaseExceptionGroup as errors:
        raise errors.exceptions[0] from None
    return [task.result() for task in tasks]


def request_for(run: Run, query: str, kind: SearchKind | None = None) -> SearchRequest:
    """Return the search request for a query; `kind` defaults to the run's first kind of page."""
    config = run.config
    query = search_words(query)
    return SearchRequest(
        query,
        run.limits.results * config.max_search_results_for_agent,
        config.search_language or run.ledger.plan.language,
        kind or config.search_kind[0],
        config.search_since,
        config.search_until,
        config.only_sites,
        config.never_sites,
        private_words(run, query),
    )


def _most_searches(run: Run) -> int:
    """Return how many queries the unit may send, keeping at least one tool call for a page.

    A query counts as one call, for however many kinds of pages it is sent.
    """
    return max(1, min(run.config.researcher_search_budget, run.limits.tool_calls - 1))


def _is_new(run: Run, hit: SearchHit) -> bool:
    return hit.url not in run.tried


def _has_found_lead(item: Work) -> bool:
    """Return whether a hit is called by the name that is followed: the name alone would find it
    again.
    """
    lead = item.topic.lead
    if lead is None:
        return False
    name = in_words(lead.text)
    return any(in_words(plain_title(hit.title)) == name for hit in item.hits)


def fail_unit(run: Run, item: Work, reason: str) -> None:
    item.unit = replace(item.unit, status="failed", failure=reason)
    run.trouble(f"round {item.unit.round}, {item.topic.text}", reason)


def read_together(work: Sequence[Work]) -> None:
    """Give the pages of units that have few to one of them, so that a call reads several."""
    host: Work | None = None
    for item in work:
        if item.unit.status or not 0 < len(item.urls) <= FEW_PAGES:
            continue
        if host is None or len(host.urls) + len(item.urls) > READ_TOGETHER:
            host = item
            continue
        host.urls += item.urls
        host.spares += item.spares
        host.also.append(item)
        item.urls, item.spares = [], []


# --- fetching and reading -------------------------------------------------------------------


async def fetch_and_read(
    run: Run, item: Work, slots: asyncio.Semaphore, read_unit: Reader, arrivals: Arrivals
) -> None:
    if item.unit.status:
        return
    async with slots:
        started = await run.journal.elapsed(f"{item.place}/start")
        late, lost = await _fetch_unit(run, item, arrivals)
        if lost and not late and not item.pages:
            fail_unit(run, item, f"none of {count_noun(len(item.urls), 'page')} could be read")
            return
        run.report_action(f"Reading for: {item.topic.text}")
        try:
            with contain_errors(item.place, ToolFailedError(UNEXPECTED)):
                await run_in_thread(take_pages_apart, item.pages, run.question.text, run.has_model)
            item.reading = await read_unit(run, item)
        except ToolFailedError as error:
            run.journal.meter.usage.unexpected_errors += 1
            fail_unit(run, item, error.reason)
            return
        _put_aside(run, item)
        ended = await run.journal.elapsed(f"{item.place}/end")
        item.unit = replace(item.unit, status="done", seconds=round(ended - started, 3))
        if late:
            failure = f"{count_noun(late, 'page')} not there in time"
            item.unit = replace(item.unit, status="late", failure=failure)


def _put_aside(run: Run, item: Work) -> None:
    """Mark the pages that were fetched but not needed as unread."""
    for url in item.reading.unread:
        mark_source(run, url, "not_read", NOT_NEEDED)
    item.pages = [page for page in item.pages if page.url not in item.reading.unread]


def wanted_pages(run: Run, item: Work) -> list[str]:
    """Return the pages that the unit should fetch, without duplicates."""
    return [url for url in dict.fromkeys(item.urls) if url not in run.ledger.pages]


async def _fetch_unit(run: Run, item: Work, arrivals: Arrivals) -> tuple[int, int]:
    """Fetch the unit's pages, and a spare page once for each that fails.

    Return how many had not arrived by the deadline, and how many failed.
    """
    item.urls = list(dict.fromkeys(item.urls))
    item.pages = [run.ledger.pages[url] for url in item.urls if url in run.ledger.pages]
    late, lost = await _get_pages(
        run, item, wanted_pages(run, item), f"{item.place}/late", arrivals
    )
    if spares := item.spares[:lost]:
        item.urls += spares
        run.tried.update(spares)
        arrivals.expect_more(len(spares))
        again = await _get_pages(run, item, spares, f"{item.place}/late/spares", arrivals)
        late, lost = late + again[0], lost + again[1]
    return late, lost


async def _get_pages(
    run: Run, item: Work, urls: Sequence[str], place: str, arrivals: Arrivals
) -> tuple[int, int]:
    """Fetch these pages concurrently; return how many came too late, and how many failed."""
    tasks = {url: asyncio.create_task(run.journal.fetch(url), name=f"page {url}") for url in urls}
    arrivals.watch_pages(tasks.values())
    try:
        return await _take_pages(run, item, tasks, place, arrivals)
    finally:
        for task in tasks.values():
            task.cancel()
        await asyncio.gather(*tasks.values(), return_exceptions=True)


async def _take_pages(
    run: Run, item: Work, tasks: dict[str, asyncio.Task[Page]], place: str, arrivals: Arrivals
) -> tuple[int, int]:
    async def wait() -> list[str]:
        if not tasks:
            return []
        over = (run.journal.interrupted.wait(), arrivals.all_but_one())
        return await _late_urls(tasks, over, run.journal.unit_seconds())

    late, lost = set(await run.journal.decide_once(place, wait)), 0
    for url, task in tasks.items():
        if url in late:
            run.late[url] = item.topic.aspect_id
            mark_source(run, url, "not_read", LATE)
            continue
        run.report_action(f"Reading {host_name(url)}")
        try:
            item.pages.append(
                await run_in_thread(screened_page, await task, run.question.text, run.has_model)
            )
        except FetchFailedError as failure:
            lost += 1
            mark_source(run, url, failure.status, failure.reason)
        except BudgetSpentError:
            mark_source(run, url, "not_read", "the budget for pages is spent")
    return len(late), lost


async def _late_urls(
    tasks: dict[str, asyncio.Task[Page]],
    over: Iterable[Coroutine[Any, Any, object]],
    seconds: float,
) -> list[str]:
    """Return the pages that have not arrived once one of `over` is done or the time is up."""
    waiting: set[asyncio.Task[Any]] = {asyncio.create_task(each) for each in over}
    waiting.add(asyncio.create_task(asyncio.wait(tasks.values()), name="pages"))
    await asyncio.wait(waiting, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    for task in waiting:
        task.cancel()
    late = [url for url, task in tasks.items() if not task.done()]
    for url in late:
        tasks[url].cancel()
    return late


async def take_late(run: Run, work: Sequence[Work]) -> None:
    """Assign pages that arrived after their round's deadline to the units of this round."""
    if not run.late or not work:
        return

    async def arrived() -> list[str]:
        return [url for url in run.late if run.journal.is_fetched(url)]

    number = work[0].unit.round
    for url in await run.journal.decide_once(f"round/{number}/arrived", arrived):
        aspect_id = run.late.pop(url)
        same = (item for item in work if item.topic.aspect_id == aspect_id)
        next(same, work[0]).urls.append(url)


def mark_source(run: Run, url: str, status: SourceStatus, reason: str) -> None:
    run.ledger.put_source(replace(run.ledger.sources[url], status=status, reason=reason))


def host_name(url: str) -> str:
    return (urlsplit(url).hostname or "").removeprefix("www.")
