import asyncio
import gc
from dataclasses import replace
from itertools import pairwise
from typing import Any, NoReturn

import pytest

from research.engine.budget.meter import BudgetSpentError, Meter
from research.engine.config import ResearchConfig
from research.engine.journal import (
    Entry,
    Journal,
    JournalEndsError,
    MemoryStore,
    ParkedError,
    digest_of,
)
from research.engine.journal.model_calls import UNEXPECTED, IsOutage, OutageError, no_outage
from research.engine.ports import (
    FetchFailedError,
    ModelFailedError,
    ModelRequest,
    SearchFailedError,
    SearchRequest,
    ToolFailedError,
    Tools,
)
from research.engine.records import Action, Problem, Record
from tests.engine.scripted import (
    AT,
    CHAIN,
    SIMPLE,
    Clock,
    Commands,
    Oracle,
    Web,
    World,
    harbour,
    page,
)

pytestmark = pytest.mark.virtual_time

URL = "https://a.example/"
QUERY = SearchRequest("harbour wall")
ASKED = ModelRequest("assess", "", "# FINDINGS\n\n# ALREADY SEARCHED\n\n# SUB-QUESTIONS\n", {}, 10)
KINDS = frozenset({"approve"})


def world() -> World:
    return World(Web([page(URL, "The harbour wall is old.")]), Oracle(SIMPLE))


async def opened(
    of: World, *, live: bool = True, inbox: Commands | None = None, **knobs: int
) -> tuple[Journal, list[Record]]:
    """A journal over this world's store; without live tools it is a replay."""
    received: list[Record] = []
    journal = Journal(
        of.store,
        of.tools() if live else None,
        Meter(ResearchConfig(**knobs)),
        received.append,
        inbox,
        backoff_seconds=0,
    )
    await journal.open()
    return journal, received


async def everything(journal: Journal) -> list[object]:
    """One call of each kind, and what it gave or raised."""

    async def number() -> int:
        return 7

    calls = [
        journal.search("round/1/search", QUERY),
        journal.fetch(URL),
        journal.fetch("https://missing.example/"),
        journal.model("round/1/assess", 1, ASKED),
        journal.decide_once("round/1/late", number),
        journal.now("round/1"),
        journal.elapsed("round/1"),
        journal.commands("round/1", KINDS),
    ]
    found: list[object] = []
    for call in calls:
        try:
            found.append(await call)
        except (FetchFailedError, ModelFailedError) as failure:
            found.append((type(failure), failure.reason))
    return found


async def test_a_journal_keeps_no_request_of_what_is_settled_in_memory() -> None:
    of = world()
    journal, _ = await opened(of)
    first = await everything(journal)
    assert not any(entry.request for entry in journal._entries.values())
    assert of.store.entries["round/1/assess", 1].request["prompt"] == ASKED.prompt
    again, _ = await opened(of, live=False)
    assert await everything(again) == first
    assert not again.divergences
    assert not any(entry.request for entry in again._entries.values())


# --- unexpected errors ----------------------------------------------------------------------


class Broken:
    """Raises where a tool should answer."""

    name = "broken-model"

    def __init__(self, error: Exception) -> None:
        self.error = error

    async def fetch(self, url: str) -> NoReturn:
        raise self.error

    async def search(self, request: SearchRequest) -> NoReturn:
        raise self.error

    async def complete(self, request: ModelRequest) -> NoReturn:
        raise self.error


async def broken(of: World, error: Exception, is_outage: IsOutage = no_outage) -> Journal:
    tool = Broken(error)
    tools = Tools(search=tool, fetch=tool, clock=of.clock, model=tool)
    journal = Journal(of.store, tools, Meter(ResearchConfig()), is_outage=is_outage)
    await journal.open()
    return journal


CALLS = {
    "fetch": (FetchFailedError, lambda journal: journal.fetch(URL)),
    "search": (SearchFailedError, lambda journal: journal.search("round/1/search", QUERY)),
    "model": (ModelFailedError, lambda journal: journal.model("round/1/assess", 1, ASKED)),
}


@pytest.mark.parametrize(("failure", "call"), CALLS.values(), ids=CALLS)
async def test_an_unexpected_error_is_one_calls_failure_and_logged(
    failure: type[ToolFailedError], call: Any, caplog: pytest.LogCaptureFixture
) -> None:
    of = world()
    journal = await broken(of, UnicodeError("xn--a"))
    with pytest.raises(failure, match="unexpected error"):
        await call(journal)
    [record] = caplog.records
    assert record.exc_info and isinstance(record.exc_info[1], UnicodeError)
    assert journal.meter.snapshot().unexpected_errors == 1

    replay, _ = await opened(of, live=False)
    with pytest.raises(failure, match="unexpected error"):
        await call(replay)
    assert replay.meter.snapshot() == journal.meter.snapshot()
    assert len(caplog.records) == 1, "a replay does not raise it again"


async def test_a_page_that_met_an_unexpected_error_is_among_the_runs_errors() -> None:
    of = world()
    with pytest.raises(FetchFailedError):
        await (await broken(of, UnicodeError("xn--a"))).fetch(URL)
    journal, received = await opened(of)
    with pytest.raises(FetchFailedError):
        await journal.fetch(URL)
    await journal.close()
    assert received == [Problem(f"page {URL}", UNEXPECTED)]


@pytest.mark.parametrize(
    "error", [BudgetSpentError("budget_calls"), JournalEndsError("x"), ParkedError("x")]
)
@pytest.mark.parametrize(("failure", "call"), CALLS.values(), ids=CALLS)
async def test_the_journals_own_exceptions_are_not_contained(
    failure: type[ToolFailedError], call: Any, error: Exception
) -> None:
    with pytest.raises(type(error)):
        await call(await broken(world(), error))


@pytest.mark.parametrize(("failure", "call"), CALLS.values(), ids=CALLS)
async def test_an_outage_is_no_calls_failure(failure: type[ToolFailedError], call: Any) -> None:
    of = world()
    journal = await broken(of, OSError("no space"), lambda error: isinstance(error, OSError))
    with pytest.raises(OutageError, match="no space"):
        await call(journal)
    assert all(entry.status == "pending" for entry in await of.store.load())


async def test_no_answer_holds_what_no_store_keeps() -> None:
    of = world()
    assert of.model is not None
    of.model.raw["assess"] = lambda text: f"a\0b\ud800{text}"
    journal, _ = await opened(of)
    answer = await journal.model("m", 1, ASKED)
    [entry] = await of.store.load()
    assert answer.text == entry.answer["text"]
    assert answer.text.startswith("ab?")


# --- places ---------------------------------------------------------------------------------


async def test_a_call_is_recorded_under_its_place_with_its_request() -> None:
    of = world()
    journal, _ = await opened(of)
    await journal.search("round/1/unit/2/search/1", QUERY)
    [entry] = await of.store.load()
    assert (entry.place, entry.attempt, entry.kind) == ("round/1/unit/2/search/1", 1, "search")
    assert (entry.status, entry.request["query"]) == ("done", "harbour wall")
    assert entry.request_hash == digest_of(dict(entry.request))


async def test_the_same_place_is_answered_from_the_record() -> None:
    of = world()
    of.web.down.add("https://missing.example/")
    of.clock.step = 1.5
    first = await everything((await opened(of, inbox=Commands({"kind": "approve"})))[0])
    asked = len(of.web.searched), sum(of.web.fetched.values()), len(of.model.requests)  # type: ignore[union-attr]
    for live in (True, False):
        journal, _ = await opened(of, live=live)
        assert await everything(journal) == first
        assert (journal.live, journal.replayed, journal.divergences) == (0, len(first), [])
    assert asked == (
        len(of.web.searched),
        sum(of.web.fetched.values()),
        len(of.model.requests),  # type: ignore[union-attr]
    )


async def test_what_was_spent_is_the_same_in_a_replay() -> None:
    of = world()
    of.web.down.add("https://missing.example/")
    journal, _ = await opened(of)
    await everything(journal)
    again, _ = await opened(of, live=False)
    await everything(again)
    assert again.meter.snapshot() == journal.meter.snapshot()
    assert again.meter.snapshot().fetches == 2


async def test_a_retry_is_a_new_attempt_at_its_place() -> None:
    of = world()
    assert of.model is not None
    of.model.faults["assess"] = [ModelFailedError("busy")]
    journal, _ = await opened(of)
    with pytest.raises(ModelFailedError):
        await journal.model("m", 1, ASKED)
    await journal.model("m", 2, ASKED)
    assert [(e.attempt, e.status) for e in await of.store.load()] == [(1, "failed"), (2, "done")]
    assert journal.meter.llm_calls == 2


@pytest.mark.requirement("C16")
async def test_each_further_attempt_waits_longer() -> None:
    of = world()
    assert of.model is not None
    of.model.faults["assess"] = [ModelFailedError("busy")] * 3
    journal, _ = await opened(of)
    journal.backoff_seconds = 0.1
    began = [asyncio.get_running_loop().time()]
    for attempt in (1, 2, 3):
        with pytest.raises(ModelFailedError):
            await journal.model("m", attempt, ASKED)
        began.append(asyncio.get_running_loop().time())
    waited = [later - earlier for earlier, later in pairwise(began)]
    assert waited[1] >= 0.1 and waited[2] >= 0.2


async def test_failures_are_replayed_as_they_were() -> None:
    of = world()
    assert of.model is not None
    of.model.faults["assess"] = [ModelFailedError("busy", permanent=True)]
    of.web.down |= {"search", URL}
    for live in (True, True, False):
        journal, _ = await opened(of, live=live)
        with pytest.raises(SearchFailedError, match="did not answer"):
            await journal.search("s", QUERY)
        with pytest.raises(FetchFailedError) as fetch:
            await journal.fetch(URL)
        with pytest.raises(ModelFailedError) as model:
            await journal.model("m", 1, ASKED)
        assert (fetch.value.status, model.value.permanent) == ("failed", True)
        assert journal.meter.snapshot().searches == 1
    assert len(of.web.searched) == of.web.fetched[URL] == len(of.model.requests) == 1


async def test_a_refusal_of_the_budget_is_replayed_even_with_a_larger_one() -> None:
    of = world()
    journal, _ = await opened(of, max_searches=0)
    with pytest.raises(BudgetSpentError):
        await journal.search("s", QUERY)
    again, _ = await opened(of, live=False, max_searches=9)
    with pytest.raises(BudgetSpentError) as refused:
        await again.search("s", QUERY)
    assert refused.value.reason == "budget_searches"
    assert of.web.searched == []


async def test_another_request_at_a_place_is_a_counted_divergence() -> None:
    of = world()
    journal, _ = await opened(of)
    recorded = await journal.search("s", QUERY)
    again, _ = await opened(of, live=False)
    assert await again.search("s", replace(QUERY, query="something else")) == recorded
    assert again.divergences == ["s"]


@pytest.mark.parametrize("what", ["search", "fetch", "model", "decide", "now", "elapsed", "person"])
async def test_a_replay_ends_where_the_record_ends(what: str) -> None:
    journal, _ = await opened(world(), live=False)

    async def never() -> None:
        raise AssertionError("a replay computes nothing")

    call = {
        "search": lambda: journal.search("s", QUERY),
        "fetch": lambda: journal.fetch(URL),
        "model": lambda: journal.model("m", 1, ASKED),
        "decide": lambda: journal.decide_once("d", never),
        "now": lambda: journal.now("n"),
        "elapsed": lambda: journal.elapsed("e"),
        "person": lambda: journal.wait_for_person("p", KINDS),
    }[what]
    with pytest.raises(JournalEndsError) as ends:
        await call()
    assert ends.value.place
    assert str(ends.value) == f"The journal ends before {ends.value.place}."


# --- several at once ------------------------------------------------------------------------


class SlowStore(MemoryStore):
    """Counts what is put, and is durable only once it is let go."""

    def __init__(self) -> None:
        super().__init__()
        self.puts: list[tuple[str, int]] = []
        self.let_go = asyncio.Event()

    async def put(self, entry: Entry) -> None:
        self.puts.append((entry.place, entry.attempt))
        await self.let_go.wait()
        await super().put(entry)


async def turns(times: int = 20) -> None:
    for _ in range(times):
        await asyncio.sleep(0)


async def test_a_decision_asked_for_four_times_at_once_is_made_once_and_durable() -> None:
    store = SlowStore()
    of = replace(world(), store=store)
    journal, _ = await opened(of)
    computed: list[int] = []

    async def compute() -> int:
        await asyncio.sleep(0)
        computed.append(len(computed))
        return len(computed)

    asking = [asyncio.create_task(journal.decide_once("model/window", compute)) for _ in range(4)]
    await turns()
    assert store.puts == [("model/window", 1)]
    assert not any(task.done() for task in asking), "nobody uses what is not durable"
    store.let_go.set()
    assert await asyncio.gather(*asking) == [1, 1, 1, 1]
    assert computed == [0]
    assert (journal.live, journal.replayed) == (1, 3)


async def test_a_decision_whose_computation_is_cancelled_or_fails_is_made_by_the_next() -> None:
    journal, _ = await opened(world())
    begun: list[int] = []

    async def compute() -> int:
        begun.append(len(begun))
        number = len(begun)
        await asyncio.sleep(0 if number > 1 else 60)
        if number == 2:
            raise ValueError("the second fails")
        return number

    asking = [asyncio.create_task(journal.decide_once("d", compute)) for _ in range(4)]
    await turns()
    asking[0].cancel()
    cancelled, failed, *others = await asyncio.gather(*asking, return_exceptions=True)
    assert isinstance(cancelled, asyncio.CancelledError)
    assert isinstance(failed, ValueError)
    assert others == [3, 3]


async def test_a_call_made_twice_at_once_at_one_place_reaches_the_outside_once() -> None:
    of = world()
    assert of.model is not None
    journal, _ = await opened(of, inbox=Commands({"kind": "approve"}))
    searches = [journal.search("s", QUERY) for _ in range(4)]
    models = [journal.model("m", 1, ASKED) for _ in range(4)]
    people = [journal.wait_for_person("p", KINDS) for _ in range(4)]
    for calls in (searches, models, people):
        answers = await asyncio.gather(*calls)
        assert all(answer == answers[0] for answer in answers)
    assert (len(of.web.searched), len(of.model.requests)) == (1, 1)


# --- intent before cost ---------------------------------------------------------------------


async def test_a_model_call_is_announced_before_it_is_made() -> None:
    of = world()
    assert of.model is not None
    seen: list[str] = []
    of.model.twists["assess"] = lambda answer: seen.extend(
        entry.status for entry in of.store.entries.values()
    )
    await (await opened(of))[0].model("m", 1, ASKED)
    assert seen == ["pending"]


async def test_a_call_that_was_under_way_is_made_again_and_counted_as_possibly_paid_twice() -> None:
    of = world()
    asked = replace(ASKED)
    await of.store.put(Entry("m", 1, "model", "pending", "hash", {}))
    journal, _ = await opened(of)
    assert journal.paid_twice == ["m"]
    await journal.model("m", 1, asked)
    assert (journal.live, journal.replayed, journal.divergences) == (1, 0, [])
    again, _ = await opened(of)
    assert again.paid_twice == []


# --- fetches --------------------------------------------------------------------------------


@pytest.mark.requirement("C17")
async def test_a_page_that_many_ask_for_is_fetched_once() -> None:
    of = world()
    journal, _ = await opened(of)
    pages = await asyncio.gather(*(journal.fetch(URL) for _ in range(5)))
    assert len({p.text for p in pages}) == of.web.fetched[URL] == 1
    assert journal.meter.snapshot().fetches == 1


async def test_texts_are_stored_once_and_journaled_by_hash() -> None:
    of = world()
    journal, _ = await opened(of)
    fetched = await journal.fetch(URL)
    [entry] = await of.store.load()
    assert "text" not in entry.answer
    assert of.store.texts == {fetched.sha256: fetched.text}
    assert await (await opened(of, live=False))[0].fetch(URL) == fetched == of.web.pages[URL]


async def test_who_stops_waiting_does_not_stop_the_fetch() -> None:
    of = world()
    of.web.hang[URL] = asyncio.Event()
    journal, _ = await opened(of)
    impatient = asyncio.create_task(journal.fetch(URL))
    await asyncio.sleep(0.001)
    impatient.cancel()
    await asyncio.sleep(0)
    of.web.hang[URL].set()
    assert (await journal.fetch(URL)).url == URL
    assert of.web.fetched[URL] == 1


async def test_closing_ends_fetches_that_nobody_waits_for() -> None:
    of = world()
    of.web.hang[URL] = asyncio.Event()
    journal, _ = await opened(of)
    impatient = asyncio.create_task(journal.fetch(URL))
    await asyncio.sleep(0.001)
    impatient.cancel()
    await asyncio.wait_for(journal.close(), 1)
    assert [t for t in asyncio.all_tasks() if t.get_name().startswith("fetch")] == []
    assert of.store.entries == {}


async def test_a_replay_that_ends_early_leaves_no_error_that_nobody_looked_at() -> None:
    of = harbour(CHAIN)
    await of.ask(CHAIN.question)
    unseen: list[Any] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, told: unseen.append(told))
    recorded = of.store.entries
    fetched = [key for key in recorded if key[0].startswith("fetch/")]
    for number in range(len(fetched)):
        short = World(of.web, of.model)
        short.store.texts = of.store.texts
        lost = fetched[number:]
        short.store.entries = {key: recorded[key] for key in recorded if key not in lost}
        assert isinstance((await short.replay(CHAIN.question)).ended, JournalEndsError)
    gc.collect()
    await asyncio.sleep(0)
    assert unseen == []


# --- people ---------------------------------------------------------------------------------


async def test_a_run_parks_until_a_person_answered_and_then_never_asks_again() -> None:
    of = world()
    journal, _ = await opened(of, inbox=Commands({"kind": "stop"}))
    with pytest.raises(ParkedError) as parked:
        await journal.wait_for_person("approval/1", KINDS)
    assert parked.value.waiting_for == "approval/1"
    assert [place for place, _ in of.store.entries] == ["clock/waiting/approval/1"]
    answer = {"kind": "approve", "aspects": ["One?"]}
    journal, _ = await opened(of, inbox=Commands(answer))
    assert await journal.wait_for_person("approval/1", KINDS) == answer
    for live in (True, False):
        again, _ = await opened(of, live=live, inbox=Commands({"kind": "approve", "other": 1}))
        assert await again.wait_for_person("approval/1", KINDS) == answer


async def test_commands_are_taken_at_the_boundary_that_recorded_them() -> None:
    of = world()
    inbox = Commands({"kind": "approve"})
    journal, _ = await opened(of, inbox=inbox)
    assert await journal.commands("round/1", KINDS) == [{"kind": "approve"}]
    assert await journal.commands("round/2", KINDS) == []
    again, _ = await opened(of, inbox=Commands({"kind": "approve"}))
    assert await again.commands("round/2", KINDS) == []
    assert await again.commands("round/3", KINDS) == [{"kind": "approve"}]


# --- the clock ------------------------------------------------------------------------------


async def test_active_time_goes_on_where_it_ended_and_leaves_waiting_out() -> None:
    of = world()
    journal, _ = await opened(of)
    of.clock.seconds += 20
    assert await journal.elapsed("round/1") == 20
    of.clock = Clock()
    of.clock.seconds = 5000
    again, _ = await opened(of)
    assert await again.elapsed("round/1") == 20
    of.clock.seconds += 7
    assert await again.elapsed("round/2") == 27
    assert (await opened(of, live=False))[0].active_seconds() == 27


async def test_the_time_of_day_is_a_recorded_reading() -> None:
    of = world()
    assert await (await opened(of))[0].now("gate") == AT.isoformat()
    assert of.store.entries["time/gate", 1].answer == AT.isoformat()


# --- records --------------------------------------------------------------------------------


async def test_a_resumed_run_hands_on_only_the_last_of_each_record_when_it_goes_live() -> None:
    of = world()
    await (await opened(of))[0].search("s", QUERY)
    journal, received = await opened(of)
    journal.emit(Problem("a", "first"))
    journal.emit(Action("searching"))
    await journal.search("s", QUERY)
    journal.emit(Action("reading"))
    assert journal.catching_up and received == []
    await journal.search("s/2", QUERY)
    assert not journal.catching_up
    assert received == [Problem("a", "first"), Action("reading")]
    journal.emit(Action("done"))
    assert received[-1] == Action("done")


async def test_a_new_run_hands_records_on_at_once() -> None:
    journal, received = await opened(world())
    journal.emit(Action("one"))
    assert received == [Action("one")]


async def test_a_replay_hands_on_what_it_held_back_when_it_closes() -> None:
    of = world()
    await (await opened(of))[0].search("s", QUERY)
    journal, received = await opened(of, live=False)
    journal.emit(Action("one"))
    await journal.close()
    assert received == [Action("one")]


# --- whether anything answered --------------------------------------------------------------


async def test_all_failed_means_that_something_was_asked_and_nothing_answered() -> None:
    of = world()
    of.web.down |= {"search"}
    journal, _ = await opened(of)
    assert not journal.all_failed()
    with pytest.raises(SearchFailedError):
        await journal.search("s", QUERY)
    assert journal.all_failed()
    await journal.fetch(URL)
    assert not journal.all_failed()


async def test_a_spent_budget_is_no_failure_of_the_outside() -> None:
    journal, _ = await opened(world(), max_searches=0)
    with pytest.raises(BudgetSpentError):
        await journal.search("s", QUERY)
    assert not journal.all_failed()


async def test_a_store_that_is_read_again_gives_equal_entries() -> None:
    store = MemoryStore()
    entry = Entry("a", 1, "decision", "done", "", {}, 1)
    await store.put(entry)
    assert await store.load() == [entry]
