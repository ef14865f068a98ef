"""One round: topics → searches → pages chosen together → each unit fetches and reads → merge.

Units search, fetch and read in parallel; what they bring is merged in the order of topic,
query and rank, never in the order of arrival.

The assessment mostly asks next for names in pages that were not searched yet. So the newest few are
searched for in parallel with it; later topics with nearly the same query take the results. Pages
are fetched only once a topic needs them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Sequence
from dataclasses import replace
from functools import partial
from math import ceil

from research.engine.analyst import analyst_of
from research.engine.llm_tasks.assess import unsearched_leads
from research.engine.llm_tasks.prompting.prompt_pages import PAGE_CHARACTERS
from research.engine.offline.passages.coverage import QuestionScale
from research.engine.ports import SearchHit
from research.engine.records import Round, Skipped, Source, Status, Unit
from research.engine.rounds.arrivals import Arrivals
from research.engine.rounds.findings import Reading
from research.engine.rounds.merge import Merger, relevant_texts
from research.engine.rounds.page_selection import Candidate, Followed, Offer, choose_pages, shown_as
from research.engine.rounds.topics import Choice, Topic, choose_topics, lead_topics
from research.engine.rounds.units import (
    Reader,
    Work,
    fetch_and_read,
    host_name,
    read_together,
    request_for,
    search_unit,
    take_late,
    wanted_pages,
)
from research.engine.run import Run
from research.engine.text.offload import run_in_thread_if_long
from research.engine.text.sentences import split_sentences
from research.engine.text.similarity import find_twin

FIRST_WAVE = 0.6
"""The share of a round's pages for what it set out for; the rest is for what that named."""

UNREADABLE = frozenset({"failed", "refused", "empty"})
"""What became of sources whose mirrors are still wanted."""

FIRST_HITS = 3
"""Hits of a search among which a page is likely to be on its topic."""

LEAST_UNREAD = 10
"""Sentences that a page must have left for being read again."""

NEARLY = 0.75
"""Of the best page's worth, what a page must promise that is read beside enough others."""

Chooser = Callable[[Run, Sequence[Work]], None]


async def research_round(run: Run) -> None:
    """Search, fetch and read the candidates' topics, and merge the results.

    Reading without a model costs no call: a second wave of units takes the rest of the round's
    pages and follows names that the first one found. No wave searches for more topics than it may
    read pages.
    """
    most, room = run.limits.pages_per_round, _topic_room(run)
    first = ceil(most * FIRST_WAVE)
    room = min(room, first) if run.follows_names else room
    choice = _choose_untried(run, run.candidates, max(1, room))
    work = begin_round(run, use_scouted(run, choice.topics), choice.skipped)
    if not run.follows_names:
        await work_through(run, work, choose_together, read_for_unit)
        return
    merger = Merger(run)
    await run_wave(run, work, partial(choose_best, most=first), read_for_unit)
    await merger.add(work)
    most -= sum(len(item.urls) for item in work)
    room = min(most, _topic_room(run))
    if most > 0 and room > 0 and not run.last:
        leads = await run_in_thread_if_long(run.ledger.pages.values(), lead_topics, run.ledger)
        further = dispatch_units(run, _choose_untried(run, leads, room).topics)
        await run_wave(run, further, partial(choose_best, most=most), read_for_unit)
        await merger.add(further)
    await merger.close()
    run.tell_usage()


def _topic_room(run: Run) -> int:
    """Return the number of topics that the limits leave for a wave."""
    config = run.config
    return min(
        config.max_research_units - len(run.ledger.topics),
        (config.max_searches - run.journal.meter.usage.searches) // len(config.search_kind),
        1 if run.last else run.limits.topics_per_round,
    )


def _choose_untried(run: Run, candidates: Sequence[Topic], room: int) -> Choice:
    return choose_topics(candidates, run.ledger, room, run.topic_threshold)


async def work_through(
    run: Run, work: Sequence[Work], choose_for: Chooser, read_unit: Reader
) -> None:
    """Search for all units, choose their pages, fetch and read, and merge in order."""
    merger = Merger(run)
    await run_wave(run, work, choose_for, read_unit)
    await merger.add(work)
    await merger.close()
    run.tell_usage()


async def run_wave(run: Run, work: Sequence[Work], choose_for: Chooser, read_unit: Reader) -> None:
    slots = asyncio.Semaphore(run.config.max_concurrent_research_units)
    await run_each(search_unit(run, item, slots) for item in work)
    for item in work:
        if not item.searched and item.unit.status == "dropped":
            del run.ledger.queries[item.topic.queries[0]]
        run.ledger.queries |= item.searched
        if item.searched and item.topic.aspect_id:
            run.ledger.effort.searched.add(item.topic.aspect_id)
    await take_late(run, work)
    choose_for(run, work)
    _list_sources(run, work)
    if run.has_model and run.limits.notes > 1:
        read_together(work)
    expected = sum(len(wanted_pages(run, item)) for item in work if not item.unit.status)
    arrivals = Arrivals(expected, run.journal.active_seconds)
    await run_each(fetch_and_read(run, item, slots, read_unit, arrivals) for item in work)


async def run_each(steps: Iterable[Coroutine[None, None, None]]) -> None:
    """Run the units' steps concurrently.

    Raise the first error of a unit; the errors of other units are added to it as notes, so that a
    traceback shows all of them.
    """
    try:
        async with asyncio.TaskGroup() as group:
            for number, step in enumerate(steps, 1):
                group.create_task(step, name=f"unit {number}")
    except BaseExceptionGroup as errors:
        first, *others = errors.exceptions
        for other in others:
            first.add_note(f"Another unit failed, too: {type(other).__name__}: {other}")
        raise first from None


def begin_round(run: Run, topics: Sequence[Topic], skipped: tuple[Skipped, ...] = ()) -> list[Work]:
    """Open the next round with these topics."""
    number = len(run.ledger.rounds) + 1
    run.update_state(status=Status.RESEARCHING, round=number)
    run.ledger.begin_round(Round(number, run.state.stage, (), skipped))
    for skip in skipped:
        run.log("refused the topic %r: %.2f like %r", skip.topic, skip.similarity, skip.twin)
    return dispatch_units(run, topics)


def dispatch_units(run: Run, topics: Sequence[Topic]) -> list[Work]:
    """Return units of the open round for these topics; each query belongs to only one of them."""
    ledger, earlier = run.ledger, run.ledger.round.topics
    texts = tuple(topic.text for topic in topics)
    ledger.update_round(topics=(*earlier, *texts))
    ledger.topics.extend(texts)
    ledger.followed.extend(topic.lead.text for topic in topics if topic.lead)
    work: list[Work] = []
    taken = {topic.queries[0] for topic in topics}
    for place, topic in enumerate(topics, len(earlier) + 1):
        first, *others = topic.queries
        ways = (first, *(query for query in others if query not in taken))
        taken.update(ways)
        ledger.queries[first] = 0
        unit = Unit(ledger.round.number, place, topic.text, topic.aspect_id, (first,))
        work.append(Work(unit, replace(topic, queries=ways)))
        run.journal.emit(unit)
    return work


def choose_together(run: Run, work: Sequence[Work]) -> None:
    """Choose the round's pages over all units together, and as many spare ones."""
    wanted = [
        [Candidate(hit, relevant_texts(run, item)) for hit in item.hits if hit.url not in run.tried]
        for item in work
    ]
    searches = max((len(item.searched) for item in work), default=1)
    room = max(1, run.limits.tool_calls - max(1, searches))
    here = sum(len(item.urls) for item in work)
    most = min(_pages_of_a_round(run, work) - here, fetches_left(run))
    chosen = [
        _worth_reading(_pages_of(run, item), offers, urls)
        for item, offers, urls in zip(
            work,
            wanted,
            choose_pages(wanted, most, room, run.tried, _shown_texts(run)),
            strict=True,
        )
    ]
    _note_chosen(run, (offer.hit for offers in wanted for offer in offers), chosen)
    for item, urls in zip(work, chosen, strict=True):
        item.urls += urls
        run.tried.update(urls)
    if run.has_model:
        for item in work:
            item.beside = _topics_beside(item, work)
            item.urls += _half_read(run, item)
            item.known = {url: run.read_lines[url] for url in item.urls if url in run.read_lines}
    taken = sum(map(len, chosen))
    most = min(taken, fetches_left(run) - taken)
    spares = choose_pages(wanted, most, room, run.tried, _shown_texts(run))
    for item, urls in zip(work, spares, strict=True):
        item.spares = urls


def _topics_beside(item: Work, work: Sequence[Work]) -> dict[str, tuple[str, ...]]:
    """Return by address the topics of other units that found one of the unit's pages among the
    first, too.
    """
    found: dict[str, tuple[str, ...]] = {}
    for url in item.urls:
        others = (
            each.topic.text
            for each in work
            if each is not item and any(hit.url == url for hit in each.hits[:FIRST_HITS])
        )
        if texts := tuple(others):
            found[url] = texts
    return found


def _half_read(run: Run, item: Work) -> list[str]:
    """Return the first page among the first hits that is too long to have been shown whole when it
    was read before.
    """
    known = (run.ledger.pages.get(hit.url) for hit in item.hits[:FIRST_HITS])
    long = (page for page in known if page and len(page.text) > PAGE_CHARACTERS)
    return [
        page.url
        for page in long
        if (read := run.read_lines.get(page.url))
        and len(split_sentences(page.text)) >= len(read) + LEAST_UNREAD
    ][:1]


def _pages_of(run: Run, item: Work) -> int:
    """Return how many pages to read for a topic at least: those that its sub-question needs plus
    one, or up to `MORE_PAGES` more where it compares so many things.
    """
    usual = run.limits.pages_per_topic
    return min(max(usual, len(item.topic.things)), usual + MORE_PAGES)


def _worth_reading(least: int, offers: Sequence[Offer], urls: Sequence[str]) -> list[str]:
    """Return the first pages to read for a topic, and those of the further ones that promise nearly
    as much as the best.
    """
    worth = {offer.hit.url: offer.worth for offer in offers}
    best = max((worth[url] for url in urls), default=0.0)
    further = (url for url in urls[least:] if worth[url] >= NEARLY * best)
    return [*urls[:least], *further]


def _pages_of_a_round(run: Run, work: Sequence[Work]) -> int:
    """Return the number of pages by complexity, or if many topics share a round, the sum of what
    each needs, unless a knob fixes it.
    """
    least = sum(_pages_of(run, item) for item in work)
    most = run.limits.pages_per_round
    return most if run.config.max_pages_per_round else max(most, least)


def choose_best(run: Run, work: Sequence[Work], most: int) -> None:
    """Return the best unread hits of all searches of the run.

    A page goes to the unit that found it, or to another with calls left.
    """
    for item in work:
        run.offers += [(hit, item.topic.lead, relevant_texts(run, item)) for hit in item.hits]
    scale = QuestionScale.of(run.ledger)
    offers = [
        Followed(hit, lead, scale) if lead else Candidate(hit, wanted)
        for hit, lead, wanted in run.offers
        if hit.url not in run.tried
    ]
    here = sum(len(item.urls) for item in work)
    most = min(most - here, sum(_calls_left(run, item) for item in work), fetches_left(run))
    [urls] = choose_pages([offers], most, most, run.tried, _shown_texts(run))
    _note_chosen(run, (offer.hit for offer in offers), [urls])
    run.tried.update(urls)
    for url in urls:
        able = [item for item in work if _calls_left(run, item) > 0]
        named = (item for item in able if any(hit.url == url for hit in item.hits))
        next(named, able[0]).urls.append(url)


def _note_chosen(run: Run, hits: Iterable[SearchHit], chosen: Sequence[Sequence[str]]) -> None:
    urls = {url for each in chosen for url in each}
    run.shown |= {hit.url: shown_as(hit) for hit in hits if hit.url in urls and shown_as(hit)}


def _shown_texts(run: Run) -> set[str]:
    """Return titles and snippets of the pages chosen so far, except unreadable ones."""
    lost = {url for url, source in run.ledger.sources.items() if source.status in UNREADABLE}
    return {shown for url, shown in run.shown.items() if url not in lost}


def _calls_left(run: Run, item: Work) -> int:
    if item.unit.status:
        return 0
    calls = max(1, run.limits.tool_calls - len(item.searched))
    return max(0, calls - len(item.urls))


def fetches_left(run: Run) -> int:
    """Return how many fetches are left; late pages count, whether they are used or not."""
    return run.config.max_fetches - run.journal.meter.usage.fetches - len(run.late)


def _list_sources(run: Run, work: Sequence[Work]) -> None:
    """Add every page that a search returned as a source, in the order of topic and rank."""
    for item in work:
        fresh = [hit for hit in item.hits if hit.url not in run.ledger.sources]
        for hit in fresh:
            source = Source(hit.url, hit.title, host_name(hit.url), item.unit.round)
            run.ledger.put_source(replace(source, published=hit.published))
        most = run.limits.results * run.config.max_search_results_for_agent
        run.ledger.effort.named(item.searched.values(), most, bool(fresh))


async def read_for_unit(run: Run, item: Work) -> Reading:
    """Read for the unit's own sub-question first, then the others."""
    aspects = sorted(
        run.ledger.aspects.values(), key=lambda aspect: aspect.id != item.topic.aspect_id
    )
    return await analyst_of(run).read_pages(f"{item.place}/read", item.asked, item.pages, aspects)


MOST_SEARCHES = 2
MORE_PAGES = 2
SPARE_ROUNDS = 2
"""Rounds that the budget for searches must hold, so that none is lost to a guess."""


def begin_prefetch(run: Run) -> None:
    """Start searches for the newest names in pages that were not searched yet."""
    if not analyst_of(run).works_ahead or not _has_room(run):
        return
    ledger, number = run.ledger, run.ledger.round.number
    wanted = [ledger.leads[name].query for name in reversed(unsearched_leads(ledger))]
    for turn, query in enumerate(_distinct_queries(run, wanted)[:MOST_SEARCHES], 1):
        run.scouted[query] = place = f"round/{number}/scout/{turn}"
        run.journal.begin_search(place, request_for(run, query))


def _has_room(run: Run) -> bool:
    """Return whether another round may follow and enough searches are left."""
    left = run.config.max_searches - run.journal.meter.usage.searches
    another = run.ledger.round.number < max(run.limits.rounds, run.wished)
    round_takes = run.limits.topics_per_round * len(run.config.search_kind)
    return another and left > SPARE_ROUNDS * round_takes


def _distinct_queries(run: Run, queries: Iterable[str]) -> list[str]:
    kept: list[str] = []
    for query in queries:
        if not _find_twin(run, query, [*run.ledger.queries, *run.scouted, *kept]):
            kept.append(query)
    return kept


def _find_twin(run: Run, query: str, others: Iterable[str]) -> str:
    found = find_twin(query, others, run.config.duplicate_topic_similarity_threshold)
    return found.twin if found else ""


def use_scouted(run: Run, topics: Sequence[Topic]) -> tuple[Topic, ...]:
    """Return the topics, those that were searched for in nearly their own words with that
    search.
    """
    left, using = sorted(run.scouted), list[Topic]()
    for topic in topics:
        if made := _find_twin(run, topic.queries[0], left):
            left.remove(made)
            topic = replace(topic, queries=(made, *topic.queries[1:]))
        using.append(topic)
    return tuple(using)
