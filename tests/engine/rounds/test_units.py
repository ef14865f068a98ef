"""Units: further ways to search, tool calls, and pages that come after their deadline."""

import asyncio
import gc
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from research.engine.evidence.ledger import Lead
from research.engine.journal import JournalEndsError
from research.engine.journal.model_calls import UNEXPECTED
from research.engine.ports import (
    ModelFailedError,
    Page,
    SearchAnswer,
    SearchFailedError,
    SearchHit,
    SearchRequest,
)
from research.engine.records import Problem, Round, Source, Status, Unit
from research.engine.rounds import units
from research.engine.rounds.topics import Topic
from tests.engine.scripted import (
    CHAIN,
    LIT,
    LIT_TOO,
    SIMPLE,
    Oracle,
    Part,
    Script,
    Web,
    World,
    harbour,
    harbour_pages,
    page,
)

pytestmark = pytest.mark.virtual_time

SLOW = "https://register.example/harrow"
QUICK = {"unit_seconds": 0.3}


class Opening(Web):
    """Holds `SLOW` back until the searches of the second round."""

    def __init__(self, first: int) -> None:
        super().__init__(harbour_pages())
        self.first = first
        self.hang[SLOW] = asyncio.Event()

    async def search(self, request: SearchRequest) -> SearchAnswer:
        answer = await super().search(request)
        if len(self.searched) > self.first:
            self.hang[SLOW].set()
            await asyncio.sleep(0.02)
            return SearchAnswer(tuple(hit for hit in answer.hits if hit.url != SLOW))
        return answer


async def test_a_page_that_comes_late_counts_in_the_next_round() -> None:
    world = World(Opening(len(CHAIN.parts)), Oracle(CHAIN))
    ran = await world.ask(CHAIN.question, **QUICK)
    [late] = [unit for unit in ran.of(Unit) if unit.status == "late"]
    assert (late.round, late.failure) == (1, "1 page not there in time")
    source = next(source for source in ran.of(Source) if source.url == SLOW)
    assert source.status in {"read", "cited"}
    assert world.store.entries["round/2/arrived", 1].answer == [SLOW]
    found = {quote.url: record.round for record in ran.evidence for quote in record.sources}
    assert SLOW in found
    assert world.web.fetched[SLOW] == 1 and ran.usage.repeated_fetches == 0
    replayed = await world.replay(CHAIN.question, **QUICK)
    assert replayed.final() == ran.final()
    assert (replayed.ended, replayed.journal.divergences) == (None, [])


async def test_a_late_page_that_never_comes_holds_no_round_up() -> None:
    world = harbour(CHAIN)
    world.web.hang[SLOW] = asyncio.Event()
    ran = await asyncio.wait_for(world.ask(CHAIN.question, **QUICK), 10)
    assert len(ran.rounds) > 1
    assert all(r.closed for r in ran.of(Round))
    source = next(source for source in ran.of(Source) if source.url == SLOW)
    assert source.status == "not_read"


async def test_a_run_broken_off_after_a_late_page_takes_it_up_from_the_record() -> None:
    whole = World(Opening(len(CHAIN.parts)), Oracle(CHAIN))
    expected = await whole.ask(CHAIN.question, **QUICK)
    entries = await whole.store.load()
    arrived = next(i for i, e in enumerate(entries) if e.place == "round/2/arrived")
    for kept in (arrived, arrived + 1, arrived + 3):
        world = World(Opening(0), Oracle(CHAIN))
        world.store.texts = dict(whole.store.texts)
        for entry in entries[:kept]:
            await world.store.put(entry)
        ran = await world.ask(CHAIN.question, **QUICK)
        assert {e.claim for e in ran.evidence} == {e.claim for e in expected.evidence}


# --- further ways ---------------------------------------------------------------------------


class Forgetful(Web):
    """Finds nothing for the queries that it forgets."""

    def __init__(self, pages: list[Page], *forgets: str) -> None:
        super().__init__(pages)
        self.forgets = set(forgets)

    async def search(self, request: SearchRequest) -> SearchAnswer:
        answer = await super().search(request)
        return SearchAnswer(()) if request.query in self.forgets else answer


VAIN = "apprentice of the coast"


def stubborn() -> World:
    """The first way to search of each gap names nothing; what a page named is the next."""
    world = harbour(CHAIN)
    assert world.model is not None
    world.web = Forgetful(harbour_pages(), VAIN)
    world.model.twists["assess"] = lambda answer: {
        **answer, "gaps": [{**gap, "query": VAIN} for gap in answer["gaps"][:1]]
    }  # fmt: skip
    return world


@pytest.mark.requirement("C7", "C14", "E4")
async def test_a_unit_whose_search_names_nothing_new_asks_its_next_way() -> None:
    world = stubborn()
    ran = await world.ask(CHAIN.question)
    [second] = [unit for unit in ran.of(Unit) if unit.round == 2]
    assert second.queries == (VAIN, "Edda Marlow")
    assert sorted(world.web.searched[3:5]) == ["Edda Marlow", VAIN]
    assert len(world.web.searched) == ran.usage.searches


@pytest.mark.parametrize(
    ("title", "is_found"),
    [
        ("Edda Marlow (engineer)", True),
        ("Edda Marlow's lamps", False),
    ],
)
def test_a_name_is_not_searched_alone_once_a_page_called_by_it_was_found(
    title: str, is_found: bool
) -> None:
    lead = Lead("Edda Marlow", "Edda Marlow trained", "https://coast.example/", 0.5)
    topic = Topic(lead.text, (lead.query, lead.text), "A1", lead=lead)
    hit = SearchHit("https://people.example/", title, "", "web", 1)
    assert units._has_found_lead(SimpleNamespace(topic=topic, hits=(hit,))) is is_found


@pytest.mark.parametrize("knobs", [{"researcher_search_budget": 1}, {"unit_tool_calls": (2, 2, 2)}])
async def test_searches_of_a_unit_are_bounded(knobs: dict[str, Any]) -> None:
    ran = await stubborn().ask(CHAIN.question, **knobs)
    assert all(len(unit.queries) == 1 for unit in ran.of(Unit))


@pytest.mark.requirement("E4")
@pytest.mark.parametrize("calls", [2, 3, 5])
async def test_tool_calls_of_a_unit_are_bounded(calls: int) -> None:
    pages = [page(f"https://s{n}.example/", f"{LIT} Note {n}.", "Harrow lit") for n in range(9)]
    world = World(Web(pages), Oracle(SIMPLE))
    ran = await world.ask(SIMPLE.question, unit_tool_calls=(calls,) * 3, adaptive_max_depth=1)
    assert ran.usage.searches + ran.usage.fetches <= calls


async def test_a_page_that_is_not_to_be_had_gives_its_place_to_the_next_one() -> None:
    pages = [page(f"https://s{n}.example/", f"{LIT} Note {n}.", "Harrow lit") for n in range(5)]
    web = Web(pages)
    web.down = {"https://s0.example/"}
    ran = await World(web, Oracle(SIMPLE)).ask(SIMPLE.question, adaptive_max_depth=1)
    states = {source.url: source.status for source in ran.of(Source)}
    assert list(states.values()).count("failed") == 1
    assert [r.pages_read for r in ran.rounds] == [3]
    assert ran.usage.fetches == 4


@pytest.mark.requirement("C20")
async def test_a_page_that_was_read_is_listed_with_what_is_known_of_it() -> None:
    known = {"published": "2025-01-02", "kind": "news", "site": "Coast Chronicle"}
    read = page("https://coast.example/", LIT, "Harrow Point", **known)
    ran = await World(Web([read]), Oracle(SIMPLE)).ask(SIMPLE.question, adaptive_max_depth=1)
    [source] = ran.of(Source)
    assert {name: getattr(source, name) for name in known} == known
    assert source.domain == "coast.example"
    assert (source.status, source.relevance) == ("cited", 1)


@pytest.mark.requirement("C21")
async def test_each_search_is_for_the_kind_of_page_that_the_run_wants() -> None:
    world = harbour(CHAIN)
    await world.ask(CHAIN.question, search_kind="video")
    asked = [entry for entry in world.store.entries.values() if entry.kind == "search"]
    assert asked and {entry.request["kind"] for entry in asked} == {"video"}


class ByKind(Web):
    """Each kind of page has pages of its own; a kind in `broken` has no search that answers."""

    def __init__(self, pages: dict[str, Page], broken: frozenset[str] = frozenset()) -> None:
        super().__init__(pages.values())
        self.kinds = {each.url: kind for kind, each in pages.items()}
        self.broken = broken

    async def search(self, request: SearchRequest) -> SearchAnswer:
        if request.kind in self.broken:
            raise SearchFailedError(f"Nobody looks for {request.kind} pages.")
        answer = await super().search(request)
        return SearchAnswer(
            tuple(hit for hit in answer.hits if self.kinds[hit.url] == request.kind)
        )


KINDS = {
    "web": page("https://coast.example/", LIT, "Harrow Point lighthouse lit"),
    "academic": page("https://paper.example/", LIT_TOO, "Harrow Point lighthouse lit"),
}


@pytest.mark.requirement("C21")
async def test_kinds_of_pages_are_searched_for_side_by_side_and_merged() -> None:
    world = World(ByKind(KINDS), Oracle(SIMPLE))
    knobs: dict[str, Any] = {"search_kind": ("web", "academic")}
    ran = await world.ask(SIMPLE.question, **knobs)
    asked = [entry for entry in world.store.entries.values() if entry.kind == "search"]
    assert sorted(entry.request["kind"] for entry in asked) == ["academic", "web"]
    assert ran.usage.searches == 2, "each kind is a search of the budget"
    assert {quoted.url for each in ran.evidence for quoted in each.sources} == {
        each.url for each in KINDS.values()
    }
    replayed = await world.replay(SIMPLE.question, **knobs)
    assert replayed.final() == ran.final() and replayed.journal.divergences == []


@pytest.mark.requirement("C21")
async def test_a_kind_that_fails_is_told_apart_and_costs_not_the_other() -> None:
    world = World(ByKind(KINDS, frozenset({"academic"})), Oracle(SIMPLE))
    ran = await world.ask(SIMPLE.question, search_kind=("web", "academic"))
    assert ran.state.status is Status.COMPLETED
    assert {unit.status for unit in ran.of(Unit)} == {"done"}
    [told] = {each.where for each in ran.of(Problem) if "Nobody looks" in each.message}
    assert told == "search, academic"
    assert {quoted.url for each in ran.evidence for quoted in each.sources} == {KINDS["web"].url}


@pytest.mark.requirement("C21")
async def test_a_topic_fails_where_no_kind_gives_an_answer() -> None:
    world = World(ByKind(KINDS, frozenset(KINDS)), Oracle(SIMPLE))
    ran = await world.ask(SIMPLE.question, search_kind=("web", "academic"))
    assert {unit.status for unit in ran.of(Unit)} == {"failed"}


@pytest.mark.requirement("C21", "F7")
async def test_the_last_search_of_a_budget_goes_to_the_first_kind() -> None:
    world = World(ByKind(KINDS), Oracle(SIMPLE))
    ran = await world.ask(SIMPLE.question, search_kind=("web", "academic"), max_searches=1)
    assert ran.usage.searches == 1
    assert {quoted.url for each in ran.evidence for quoted in each.sources} == {KINDS["web"].url}


@pytest.mark.requirement("C23")
async def test_two_addresses_of_one_page_are_counted_as_repeated() -> None:
    one = page("https://coast.example/a", LIT, "Harrow Point lighthouse")
    other = replace(page("https://coast.example/b", LIT_TOO, "Harrow Point lighthouse"),
                    final_url=one.final_url)  # fmt: skip
    ran = await World(Web([one, other]), Oracle(SIMPLE)).ask(SIMPLE.question)
    assert ran.usage.repeated_fetches == 1


@pytest.mark.requirement("F13")
async def test_the_bounds_of_a_run_go_along_with_each_search() -> None:
    world = harbour(SIMPLE)
    asked: list[SearchRequest] = []
    search = world.web.search

    async def note(request: SearchRequest) -> SearchAnswer:
        asked.append(request)
        return await search(request)

    world.web.search = note  # type: ignore[method-assign]
    days: dict[str, Any] = {"search_since": "2024-01-02", "search_until": "2025-03-04"}
    sites: dict[str, Any] = {"only_sites": ("coast.example",), "never_sites": ("spam.example",)}
    await world.ask(SIMPLE.question, **days, **sites)
    bounds = {(each.since, each.until, each.only_sites, each.never_sites) for each in asked}
    assert bounds == {("2024-01-02", "2025-03-04", ("coast.example",), ("spam.example",))}


async def test_a_last_wave_never_searches_more_than_is_left() -> None:
    parts = tuple(Part(f"What is ship{n}?", f"ship{n}", (f"ship{n}",)) for n in range(4))
    script = Script("What are the ships?", parts, "complex")
    web = Web([page(f"https://s{n}.example/", f"The ship{n} is old.") for n in range(4)])
    ran = await World(web, Oracle(script)).ask(script.question, max_searches=2)
    assert len(web.searched) == 2
    assert all(unit.status != "dropped" for unit in ran.of(Unit))


class Crowded(Web):
    """Counts the searches that are under way at once, and keeps what each asked for."""

    def __init__(self) -> None:
        super().__init__([])
        self.under_way = 0
        self.most = 0
        self.limits: set[int] = set()

    async def search(self, request: SearchRequest) -> SearchAnswer:
        self.limits.add(request.limit)
        self.under_way += 1
        self.most = max(self.most, self.under_way)
        await asyncio.sleep(0.01)
        self.under_way -= 1
        return await super().search(request)


@pytest.mark.requirement("A14", "D7", "D9")
@pytest.mark.parametrize(
    "knobs, at_once, results",
    [
        ({}, 4, 8),
        ({"max_concurrent_research_units": 6, "max_search_results_for_agent": 3}, 6, 3),
        ({"max_concurrent_research_units": 1}, 1, 8),
    ],
)
async def test_as_many_units_as_allowed_are_at_work_side_by_side(
    knobs: dict[str, int], at_once: int, results: int
) -> None:
    parts = tuple(Part(f"What is ship{n}?", f"ship{n}", (f"ship{n}",)) for n in range(6))
    script = Script("What are the ships?", parts, "complex")
    web = Crowded()
    topics: dict[str, Any] = {"topics_per_round": (6, 6, 6), "adaptive_max_depth": 1}
    await World(web, Oracle(script)).ask(script.question, **topics, **knobs)
    assert len(web.searched) >= 6
    assert (web.most, web.limits) == (at_once, {results})


async def test_pages_that_code_cannot_read_cost_their_unit_only(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    world = harbour()

    def broken(*arguments: object) -> None:
        raise RecursionError

    monkeypatch.setattr(units, "take_pages_apart", broken)
    ran = await world.ask(SIMPLE.question)
    failed = [unit for unit in ran.of(Unit) if unit.status == "failed"]
    assert ran.state.status == "completed"
    assert failed and ran.usage.unexpected_errors == len(failed)
    assert UNEXPECTED in {problem.message for problem in ran.of(Problem)}
    traces = [record for record in caplog.records if record.levelname == "ERROR"]
    assert len(traces) == len(failed) and all(record.exc_info for record in traces)


def test_a_replay_that_ends_leaves_no_failure_of_a_page_behind() -> None:
    world, unheard = harbour(SIMPLE), list[str]()
    asyncio.run(world.ask(SIMPLE.question))
    for key in [key for key in world.store.entries if key[0].startswith("fetch/")]:
        del world.store.entries[key]
    with asyncio.Runner() as runner:
        loop = runner.get_loop()
        loop.set_exception_handler(lambda _, context: unheard.append(context["message"]))
        ended = runner.run(world.replay(SIMPLE.question)).ended
        assert isinstance(ended, JournalEndsError)
        del ended  # its traceback holds the tasks
        gc.collect()
    assert unheard == []


@pytest.mark.requirement("C23")
async def test_failures_are_counted_by_tool_and_kind_of_page() -> None:
    world = World(ByKind(KINDS, frozenset({"video"})), Oracle(SIMPLE))
    assert world.model is not None
    world.web.down.add(KINDS["academic"].url)
    world.model.faults["assess"] = [ModelFailedError("The server is busy.")]
    knobs: dict[str, Any] = {"search_kind": ("web", "academic", "video"), "adaptive_max_depth": 1}
    ran = await world.ask(SIMPLE.question, **knobs)
    assert ran.usage.failures == {"search_video": 1, "fetch": 1, "model": 1}
    replayed = await world.replay(SIMPLE.question, **knobs)
    assert replayed.usage == ran.usage


async def test_beyond_enough_pages_only_those_nearly_as_promising_are_read() -> None:
    near = [page(f"https://s{n}.example/", f"{LIT} Note {n}.", "Harrow lit") for n in range(2)]
    far = [page(f"https://f{n}.example/", f"Harrow was lit {n}.", f"Cape {n}") for n in range(4)]
    world = World(Web([*near, *far]), Oracle(SIMPLE))
    await world.ask(SIMPLE.question, adaptive_max_depth=1, max_research_units=1)
    assert {each.url for each in near} >= set(world.web.fetched)
