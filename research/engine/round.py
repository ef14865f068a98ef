"""One round: topics → searches → pages chosen together → each unit fetches and reads → merge.

Units search, fetch and read in parallel; what they bring is merged in the order of topic,
query and rank, never in the order of arrival.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import urlsplit

from research.engine.budget import BudgetSpent
from research.engine.choosing import Candidate, choose_pages
from research.engine.findings import Reading
from research.engine.records import RefusedQuote, Round, Skipped, Source, Status, Unit
from research.engine.relevance import relevance
from research.engine.run import Run
from research.engine.tasks.read import read
from research.engine.tools import (
    FetchFailure,
    Page,
    SearchFailure,
    SearchHit,
    SearchRequest,
)
from research.engine.topics import Topic, choose


@dataclass
class Work:
    """A unit at work: its topic, what its search named, what was fetched and read."""

    unit: Unit
    topic: Topic
    hits: tuple[SearchHit, ...] = ()
    urls: list[str] = field(default_factory=list)
    pages: list[Page] = field(default_factory=list)
    reading: Reading = field(default_factory=Reading)
    follow_ups: list[str] = field(default_factory=list)

    @property
    def place(self) -> str:
        return f"round/{self.unit.round}/unit/{self.unit.number}"


Reader = Callable[[Run, Work], Awaitable[Reading]]
Chooser = Callable[[Run, Sequence[Work]], None]


async def research_round(run: Run) -> None:
    """Search, fetch and read the candidates' topics, and merge what they say."""
    room = run.config.max_research_units - len(run.ledger.topics)
    limit = min(run.limits.topics_per_round, room)
    threshold = run.config.duplicate_topic_similarity_threshold
    choice = choose(run.candidates, run.ledger, limit, threshold)
    work = begin(run, choice.topics, choice.skipped)
    await work_through(run, work, _choose_together, _read)


async def work_through(
    run: Run, work: Sequence[Work], choose_for: Chooser, read_unit: Reader
) -> None:
    """Search for all units, choose their pages, fetch and read, and merge in order."""
    slots = asyncio.Semaphore(run.config.max_concurrent_research_units)
    await each(_search(run, item, slots) for item in work)
    choose_for(run, work)
    _list_sources(run, work)
    await each(_fetch_and_read(run, item, slots, read_unit) for item in work)
    merge(run, work)
    run.tell_usage()


async def each(steps: Iterable[Coroutine[None, None, None]]) -> None:
    """Run the units' steps side by side; the first error of a unit is the round's."""
    try:
        async with asyncio.TaskGroup() as group:
            for number, step in enumerate(steps, 1):
                group.create_task(step, name=f"unit {number}")
    except BaseExceptionGroup as errors:
        raise errors.exceptions[0] from None


def begin(run: Run, topics: Sequence[Topic], skipped: tuple[Skipped, ...] = ()) -> list[Work]:
    """Open the next round with these topics, each with the one query it goes by."""
    ledger, number = run.ledger, len(run.ledger.rounds) + 1
    run.change(status=Status.RESEARCHING, round=number)
    texts = tuple(topic.text for topic in topics)
    ledger.begin_round(Round(number, run.state.stage, texts, skipped))
    ledger.topics.extend(texts)
    work = [
        Work(Unit(number, place, topic.text, topic.aspect_id, topic.queries), topic)
        for place, topic in enumerate(topics, 1)
    ]
    for item in work:
        ledger.queries[item.topic.queries[0]] = 0
        run.journal.emit(item.unit)
    return work


async def _search(run: Run, item: Work, slots: asyncio.Semaphore) -> None:
    query = item.topic.queries[0]
    async with slots:
        run.doing(f"Searching: {query}")
        request = SearchRequest(
            query, run.config.max_search_results_for_agent, run.ledger.plan.language
        )
        try:
            answer = await run.journal.search(f"{item.place}/search/1", request)
        except SearchFailure as failure:
            _fail(run, item, failure.reason)
            return
        except BudgetSpent:
            item.unit = replace(item.unit, status="dropped", failure="the budget is spent")
            return
    item.hits = answer.hits
    run.ledger.queries[query] = len(answer.hits)
    for note in answer.notes:
        run.trouble("search", note)


def _fail(run: Run, item: Work, reason: str) -> None:
    item.unit = replace(item.unit, status="failed", failure=reason)
    run.trouble(f"round {item.unit.round}, {item.topic.text}", reason)


def _choose_together(run: Run, work: Sequence[Work]) -> None:
    """The round's pages, chosen over all units together."""
    wanted = [
        [Candidate(hit, _aims(run, item)) for hit in item.hits if hit.url not in run.ledger.pages]
        for item in work
    ]
    room = max(1, run.limits.tool_calls - 1)
    chosen = choose_pages(wanted, run.limits.pages_per_round, room, run.tried)
    for item, urls in zip(work, chosen, strict=True):
        item.urls = urls
        run.tried.update(urls)


def _list_sources(run: Run, work: Sequence[Work]) -> None:
    """Every page that a search named, in the order of topic and rank."""
    for item in work:
        for hit in item.hits:
            if hit.url not in run.ledger.sources:
                source = Source(hit.url, hit.title, _host(hit.url), item.unit.round)
                run.ledger.put_source(replace(source, published=hit.published))


def _aims(run: Run, item: Work) -> tuple[str, ...]:
    """The texts that a page may be relevant to: topic, query, and its sub-question."""
    aspect = run.ledger.aspects.get(item.topic.aspect_id or "")
    return (aspect.text if aspect else item.topic.text, item.topic.queries[0])


def _host(url: str) -> str:
    return (urlsplit(url).hostname or "").removeprefix("www.")


async def _fetch_and_read(
    run: Run, item: Work, slots: asyncio.Semaphore, read_unit: Reader
) -> None:
    if item.unit.status:
        return
    async with slots:
        started = await run.journal.elapsed(f"{item.place}/start")
        await _fetch(run, item)
        run.doing(f"Reading for: {item.topic.text}")
        item.reading = await read_unit(run, item)
        ended = await run.journal.elapsed(f"{item.place}/end")
        item.unit = replace(item.unit, status="done", seconds=round(ended - started, 3))


async def _read(run: Run, item: Work) -> Reading:
    """Read for the unit's own sub-question first, then the others."""
    aspects = sorted(
        run.ledger.aspects.values(), key=lambda aspect: aspect.id != item.topic.aspect_id
    )
    return await read(run, f"{item.place}/read", item.topic.text, item.pages, aspects)


async def _fetch(run: Run, item: Work) -> None:
    """Fetch the unit's pages; one that is not there by the deadline counts as late."""
    item.pages = [run.ledger.pages[url] for url in item.urls if url in run.ledger.pages]
    tasks = {
        url: asyncio.create_task(run.journal.fetch(url), name=f"page {url}")
        for url in item.urls
        if url not in run.ledger.pages
    }

    async def wait() -> list[str]:
        return await _late(tasks, run.journal.interrupted, run.journal.unit_seconds())

    late = set(await run.journal.decide(f"{item.place}/late", wait))
    for url in late:
        tasks[url].cancel()
    for url, task in tasks.items():
        if url in late:
            run.tried.discard(url)
            _mark(run, url, "not_read", "not there in time; may come in the next round")
            continue
        run.doing(f"Reading {_host(url)}")
        try:
            page = await task
        except FetchFailure as failure:
            _mark(run, url, failure.status, failure.reason)
        except BudgetSpent:
            _mark(run, url, "not_read", "the budget for pages is spent")
        else:
            item.pages.append(page)


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


def _mark(run: Run, url: str, status: str, reason: str) -> None:
    source = replace(run.ledger.sources[url], status=status, reason=reason)  # type: ignore[arg-type]
    run.ledger.put_source(source)


# --- merge --------------------------------------------------------------------------------


def merge(run: Run, work: Sequence[Work]) -> None:
    """Pages, findings, leads and refusals into the ledger, in canonical order."""
    ledger, before = run.ledger, dict(run.ledger.book.records)
    new_claims: list[str] = []
    keys_before = {a: ledger.keys_of(a) for a in ledger.aspects}
    for item in work:
        for page in item.pages:
            _add_page(run, page, item)
        for finding in item.reading.findings:
            record, new = ledger.book.add(finding, item.unit.round)
            if new:
                new_claims.append(record.claim)
        _refuse(run, item)
        for lead in item.reading.leads:
            known = ledger.leads.get(lead.text)
            if known is None or known.strength < lead.strength:
                ledger.leads[lead.text] = lead
        run.journal.emit(item.unit)
    _count_searches(run, work, keys_before)
    novelty = ledger.corpus.novelty(new_claims)
    ledger.corpus.add(new_claims)
    ledger.refresh_aspects()
    ledger.emit_evidence(before)
    ledger.update_round(
        novelty=round(novelty, 4),
        pages_read=sum(len(item.pages) for item in work),
        new_evidence=len(new_claims),
    )


def _add_page(run: Run, page: Page, item: Work) -> None:
    run.ledger.pages[page.url] = page
    worth = max(relevance(aim, page.title, page.text) for aim in _aims(run, item))
    listed = run.ledger.sources[page.url]
    run.ledger.put_source(
        replace(
            listed,
            title=page.title or listed.title,
            domain=page.domain,
            kind=page.kind,
            published=page.published or listed.published,
            relevance=worth,
            status="read",
            reason=None,
        )
    )


def _refuse(run: Run, item: Work) -> None:
    for ordinal, refusal in enumerate(item.reading.refusals, 1):
        run.journal.meter.usage.refused_quotes += 1
        run.journal.emit(
            RefusedQuote(
                item.unit.round, item.unit.number, ordinal,
                refusal.claim, refusal.url, refusal.reason,
            )
        )  # fmt: skip


def _count_searches(run: Run, work: Sequence[Work], before: dict[str, frozenset[str]]) -> None:
    """How often in a row a sub-question was searched without a new independent source."""
    searched = {item.topic.aspect_id: None for item in work if item.unit.status == "done"}
    for aspect_id in filter(None, searched):
        aspect = run.ledger.aspects[aspect_id]
        news = run.ledger.keys_of(aspect_id) - before.get(aspect_id, frozenset())
        run.ledger.set_aspect(
            aspect_id, searches_without_news=0 if news else aspect.searches_without_news + 1
        )
