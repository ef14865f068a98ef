"""Every run ends within its limits, whatever analyst, pages and searches do."""

import asyncio
import random
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from research.engine.knobs import ConfigError
from research.engine.ports import ModelAnswer, ModelRequest, Page, SearchAnswer, SearchRequest
from research.engine.records import ENDED, Plan, Problem, Status, StopReason
from research.engine.text.tokens import words_in
from tests.engine.scripted import (
    CHAIN,
    LIT,
    SIMPLE,
    Commands,
    Oracle,
    Part,
    Ran,
    Rate,
    Script,
    Web,
    World,
    harbour,
    harbour_pages,
    lines_of,
    page,
    sections_of,
)
from tests.engine.test_loop import HOSTILE, ONGOING, check_limits
from tests.support.virtual_time import LoopClock, VirtualTimeLoop

pytestmark = [pytest.mark.slow, pytest.mark.virtual_time]

# --- hostile analysts -----------------------------------------------------------------------

TASKS = ("intake", "read", "assess", "draft", "repair")
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 99) | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=12,
)


@st.composite
def analysts(draw: st.DrawFn) -> dict[str, Any]:
    """What becomes of each task's answer: as it is, twisted, one field or all of it anything."""
    twists: dict[str, Any] = {}
    for task in TASKS:
        known = [h[task] for h in HOSTILE.values() if task in h]
        kind = draw(st.sampled_from(["same", "known", "field", "all"]))
        if kind == "known":
            twists[task] = draw(st.sampled_from(known))
        elif kind == "field":
            twists[task] = _one_field(draw(st.integers(0, 9)), draw(JSON))
        elif kind == "all":
            twists[task] = _instead(draw(JSON))
    return twists


def _one_field(number: int, value: Any) -> Any:
    def twist(answer: Any) -> Any:
        return {**answer, list(answer)[number % len(answer)]: value}

    return twist


def _instead(value: Any) -> Any:
    return lambda _: value


BOUNDS = st.fixed_dictionaries(
    {},
    optional={
        "max_llm_calls": st.integers(0, 12),
        "max_tokens": st.integers(0, 60_000),
        "max_searches": st.integers(0, 6),
        "max_fetches": st.integers(0, 6),
        "max_research_units": st.integers(1, 5),
        "adaptive_max_depth": st.integers(1, 6),
        "max_cost_usd": st.floats(0, 0.5),
        "adaptive_quality_threshold": st.floats(1, 10),
        "enable_early_termination": st.booleans(),
    },
)


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(twists=analysts(), knobs=BOUNDS, seed=st.integers(0, 99))
def test_every_run_ends_within_its_limits_whatever_the_analyst_says(
    twists: dict[str, Any], knobs: dict[str, Any], seed: int
) -> None:
    async def check() -> None:
        world = harbour(CHAIN, random.Random(seed))
        assert world.model is not None
        world.model.twists |= twists
        ran = await asyncio.wait_for(world.ask(CHAIN.question, **knobs), 30)
        assert ran.state.status in ENDED
        check_limits(ran, world)
        cap = knobs.get("max_cost_usd")
        assert cap is None or (ran.usage.cost_usd or 0) <= cap
        replayed = await world.replay(CHAIN.question, **knobs)
        assert replayed.final() == ran.final()
        assert (replayed.ended, replayed.journal.divergences) == (None, [])

    with asyncio.Runner(loop_factory=VirtualTimeLoop) as runner:
        runner.run(check())


# --- caps with many units in flight ---------------------------------------------------------

NAMES = [f"ship{n} {word}" for n in range(8) for word in ("keel", "mast")]


class Sluggish(Oracle):
    """Takes its time to read, so that many calls are in flight."""

    async def complete(self, request: ModelRequest) -> ModelAnswer:
        if request.task == "read":
            await asyncio.sleep(0.1)
        return await super().complete(request)


def fleet() -> World:
    """Sixteen sub-questions at once, each with pages of its own, and answers in any order."""
    parts = tuple(Part(f"What of the {name}?", name, (name,)) for name in NAMES)
    pages = [
        page(f"https://{site}{n}.example/", f"The {name} is old. It was made of oak.", name)
        for n, name in enumerate(NAMES)
        for site in "ab"
    ]
    model = Sluggish(Script(ALL, parts, "complex"))
    return World(Web(pages, chance=random.Random(7)), model)


ALL = "What of all the ships?"


async def sail(world: World, **knobs: Any) -> Ran:
    """All sixteen at once, as somebody has put them into the plan."""
    approve = {"kind": "approve", "aspects": [f"What of the {name}?" for name in NAMES]}
    return await world.ask(ALL, agreed=False, inbox=Commands(approve), **CROWD, **knobs)


CROWD: dict[str, Any] = {
    "topics_per_round": (16, 16, 16),
    "max_concurrent_research_units": 16,
    "max_pages_per_round": 40,
}
CAPS: dict[StopReason, dict[str, Any]] = {
    StopReason.BUDGET_CALLS: {"max_llm_calls": 9},
    StopReason.BUDGET_TOKENS: {"max_tokens": 40_000},
    StopReason.BUDGET_COST: {"max_cost_usd": 0.3},
    StopReason.BUDGET_SEARCHES: {"max_searches": 7},
    StopReason.BUDGET_FETCHES: {"max_fetches": 5},
}


@pytest.mark.requirement("C12", "F7")
@pytest.mark.parametrize("reason", CAPS)
async def test_no_cap_is_exceeded_with_many_units_in_flight(reason: StopReason) -> None:
    world = fleet()
    assert world.model is not None
    ran = await sail(world, **CAPS[reason])
    assert ran.state.termination_reason is reason
    assert ran.state.status is Status.COMPLETED and ran.report.markdown
    check_limits(ran, world)
    assert (ran.usage.cost_usd or 0) <= CAPS[reason].get("max_cost_usd", 1)
    assert world.web.at_once > 1 or world.model.at_once > 1
    replayed = await world.replay(ALL, agreed=False, **CROWD, **CAPS[reason])
    assert replayed.final() == ran.final()


async def test_a_refused_call_ends_the_run_although_its_cap_is_not_reached() -> None:
    """The worst case of the readings of sixteen units does not fit; what they really take would."""
    world = fleet()
    assert world.model is not None
    world.model.tokens = (10, 5)
    ran = await sail(world, max_tokens=32_000)
    assert ran.state.termination_reason is StopReason.BUDGET_TOKENS
    assert ran.usage.prompt_tokens < 10_000


async def test_the_report_s_share_is_there_when_research_took_all_of_the_rest() -> None:
    world = fleet()
    assert world.model is not None
    ran = await sail(world, max_llm_calls=9)
    assert world.model.tasks.count("draft") == 1
    assert "draft" not in ran.usage.fallbacks


# --- what may start without asking ----------------------------------------------------------


@pytest.mark.requirement("A18", "F7")
@pytest.mark.parametrize(
    ("allowed", "price", "waits"),
    [(None, 1e-9, True), (0.0, 1e-6, True), (10.0, 1e-6, False), (10.0, None, True)],
)
async def test_a_plan_of_at_most_the_allowed_price_starts_without_asking(
    allowed: float | None, price: float | None, waits: bool
) -> None:
    world = harbour(SIMPLE)
    assert world.model is not None
    world.model.rate = Rate(price, price) if price else None
    ran = await world.ask(SIMPLE.question, agreed=False, ask_above_usd=allowed)
    expected = Status.AWAITING_APPROVAL if waits else Status.COMPLETED
    assert ran.state.status is expected and ran.only(Plan).estimate


async def test_a_run_without_a_model_is_free_and_asks_only_where_every_plan_does() -> None:
    assert (await harbour().ask(SIMPLE.question, agreed=False, ask_above_usd=0)).ended is None
    asked = await harbour().ask(SIMPLE.question, agreed=False)
    assert asked.state.status is Status.AWAITING_APPROVAL


# --- money ----------------------------------------------------------------------------------


async def test_a_cap_on_money_is_refused_at_the_start_where_the_price_is_unknown() -> None:
    world = harbour(SIMPLE)
    assert world.model is not None
    world.model.rate = None
    with pytest.raises(ConfigError, match="MAX_COST_USD is set, but nobody knows what scripted"):
        await world.ask(SIMPLE.question, max_cost_usd=1)
    assert world.model.requests == []


@pytest.mark.parametrize(
    ("role", "knobs"),
    [("reader", {}), ("evaluator", {}), ("judge", {"enable_online_evals": True})],
)
async def test_a_cap_on_money_names_the_model_whose_price_is_unknown(
    role: str, knobs: dict[str, bool]
) -> None:
    world = harbour(SIMPLE)
    assert world.model is not None
    world.model.unpriced = {role}
    with pytest.raises(ConfigError, match=f"nobody knows what scripted-{role} costs"):
        await world.ask(SIMPLE.question, max_cost_usd=1, **knobs)


async def test_a_run_begun_before_there_was_a_reader_reads_at_the_research_model_s_price() -> None:
    world = harbour(SIMPLE)
    await world.ask(SIMPLE.question, max_cost_usd=1)
    prices = world.store.entries["prices", 1]
    older = {role: rate for role, rate in prices.answer.items() if role != "reader"}
    world.store.entries["prices", 1] = replace(prices, answer=older)
    again = await world.ask(SIMPLE.question, max_cost_usd=1)
    assert again.ended is None
    assert again.journal.meter.rates["reader"] == again.journal.meter.rates["research"]


async def test_a_cap_on_money_needs_no_price_of_a_model_that_is_not_asked() -> None:
    world = harbour(SIMPLE)
    assert world.model is not None
    world.model.unpriced = {"judge"}
    ran = await world.ask(SIMPLE.question, max_cost_usd=1)
    assert ran.state.status is Status.COMPLETED
    assert "judge" not in {request.role for request in world.model.requests}


async def test_without_a_cap_an_unknown_price_holds_nothing_up() -> None:
    world = harbour(SIMPLE)
    assert world.model is not None
    world.model.rate = world.model.cost_usd = None
    ran = await world.ask(SIMPLE.question)
    assert ran.state.status is Status.COMPLETED and ran.usage.cost_usd is None
    estimate = ran.only(Plan).estimate
    assert estimate is not None and estimate.cost_usd is None


async def test_a_run_without_a_model_needs_no_price() -> None:
    ran = await harbour().ask(SIMPLE.question, max_cost_usd=0)
    assert ran.state.termination_reason is not StopReason.BUDGET_COST


async def test_an_answer_of_unknown_price_ends_a_run_with_a_cap_on_money() -> None:
    world = harbour(CHAIN)
    assert world.model is not None
    world.model.cost_usd = None
    ran = await world.ask(CHAIN.question, max_cost_usd=5)
    assert ran.state.termination_reason is StopReason.BUDGET_COST


@pytest.mark.requirement("A18", "F7")
async def test_the_estimate_holds_what_the_run_cost() -> None:
    for script in (SIMPLE, CHAIN):
        world = harbour(script)
        assert world.model is not None
        world.model.rate, world.model.tokens = Rate(1e-6, 4e-6), (1500, 200)
        world.model.cost_usd = 1500e-6 + 200 * 4e-6
        ran = await world.ask(script.question)
        estimate, usage = ran.only(Plan).estimate, ran.usage
        assert estimate is not None and estimate.cost_usd is not None
        assert usage.cost_usd is not None
        assert estimate.cost_usd[0] <= usage.cost_usd <= estimate.cost_usd[1]
        assert estimate.llm_calls[0] <= usage.llm_calls <= estimate.llm_calls[1]
        assert estimate.tokens[0] <= usage.prompt_tokens + usage.completion_tokens


# --- time -----------------------------------------------------------------------------------

SECONDS = 0.6


def now() -> float:
    return asyncio.get_running_loop().time()


class SlowWeb(Web):
    """Some of what it is asked never answers."""

    def __init__(self, *hanging: str) -> None:
        super().__init__(harbour_pages())
        self.hanging = hanging

    async def search(self, request: SearchRequest) -> SearchAnswer:
        if "search" in self.hanging:
            await asyncio.Event().wait()
        return await super().search(request)

    async def fetch(self, url: str) -> Page:
        if "fetch" in self.hanging or url in self.hanging:
            await asyncio.Event().wait()
        return await super().fetch(url)


class SlowModel(Oracle):
    """Never answers some tasks."""

    def __init__(self, *hanging: str) -> None:
        super().__init__(CHAIN)
        self.hanging = hanging

    async def complete(self, request: ModelRequest) -> ModelAnswer:
        if request.task in self.hanging:
            await asyncio.Event().wait()
        return await super().complete(request)


HANGING = [("search",), ("fetch",), ("https://coast.example/harrow",), ("intake",), ("read",),
           ("assess",), ("draft",), ("repair",), ("intake", "read", "assess", "draft"),
           ("fetch", "assess", "draft")]  # fmt: skip


@pytest.mark.requirement("C12", "F7")
@pytest.mark.parametrize("hanging", HANGING, ids="+".join)
@pytest.mark.parametrize("slots", [1, 8])
async def test_time_is_never_exceeded_whatever_hangs(hanging: tuple[str, ...], slots: int) -> None:
    world = World(SlowWeb(*hanging), SlowModel(*hanging), clock=LoopClock())
    knobs: dict[str, Any] = {"max_seconds": SECONDS, "max_concurrent_research_units": slots}
    ran = await world.ask(CHAIN.question, **knobs)
    assert now() <= SECONDS
    assert ran.state.status is Status.COMPLETED
    assert ran.usage.seconds <= SECONDS
    assert "search" in hanging or world.web.searched, "what hangs leaves time for the rest"
    queues_behind_a_page = slots == 1 and any(name.startswith("https:") for name in hanging)
    if not queues_behind_a_page and not {"search", "fetch", "intake"} & set(hanging):
        assert "harrow" in ran.report.markdown
    replayed = await world.replay(CHAIN.question, **knobs)
    assert replayed.final() == ran.final()


async def test_the_backing_off_before_another_attempt_ends_with_the_time() -> None:
    from research.engine.ports import ModelFailedError

    world = World(Web(harbour_pages()), Oracle(CHAIN), clock=LoopClock())
    assert world.model is not None
    world.model.faults["intake"] = [ModelFailedError("Busy.", retry_after_seconds=30)] * 9
    ran = await world.ask(CHAIN.question, max_seconds=SECONDS)
    assert now() <= SECONDS
    assert ran.state.termination_reason is StopReason.BUDGET_TIME


async def test_waiting_for_a_person_is_not_active_time() -> None:
    world = World(Web(harbour_pages()), Oracle(SIMPLE), clock=LoopClock())
    await world.ask(SIMPLE.question, agreed=False)
    before = world.store.entries["clock/waiting/approval/1", 1].answer
    await asyncio.sleep(3600)
    ran = await world.ask(SIMPLE.question, agreed=False, inbox=Commands({"kind": "approve"}))
    assert ran.state.status is Status.COMPLETED
    assert ran.usage.seconds == before


# --- near the end ---------------------------------------------------------------------------


class Ticking(Web):
    """Each search takes some seconds of the world's clock."""

    def __init__(self, seconds: float, clock: Any) -> None:
        super().__init__(harbour_pages())
        self.seconds, self.clock = seconds, clock

    async def search(self, request: SearchRequest) -> SearchAnswer:
        self.clock.seconds += self.seconds
        return await super().search(request)


def ticking(seconds: float) -> World:
    world = harbour(CHAIN)
    world.web = Ticking(seconds, world.clock)
    return world


@pytest.mark.requirement("C12")
async def test_a_round_that_no_longer_fits_gives_way_to_one_last_broad_search() -> None:
    """A round is three searches of 10 s, and one for a lead while it is judged; after one, half a
    round fits but no whole one.
    """
    world = ticking(10)
    ran = await world.ask(CHAIN.question, max_seconds=75)
    assert [len(r.topics) for r in ran.rounds] == [3, 1]
    assert ran.rounds[1].topics == (CHAIN.question,)
    assert ran.state.termination_reason is StopReason.BUDGET_TIME
    assert ran.usage.seconds < 75 and ran.report.markdown


@pytest.mark.requirement("C12")
@pytest.mark.parametrize("seconds", [45, 60])
async def test_where_not_even_that_fits_the_report_is_written_at_once(seconds: float) -> None:
    """A round takes 40 s, half of one 20 s, and the report keeps 15 % of all."""
    ran = await ticking(10).ask(CHAIN.question, max_seconds=seconds)
    assert len(ran.rounds) == 1
    assert ran.state.termination_reason is StopReason.BUDGET_TIME
    assert ran.usage.seconds < seconds and ran.report.markdown


async def test_a_round_of_fewer_topics_is_not_thought_as_dear_as_the_dearest() -> None:
    """Rounds of three topics, two and one take four calls, three and two, the report three."""
    ran = await harbour(CHAIN).ask(CHAIN.question, max_llm_calls=11, min_evidence_records=4)
    assert [len(r.topics) for r in ran.rounds] == [3, 2, 1]
    assert ran.rounds[2].topics != (CHAIN.question,)
    assert ran.rounds[2].answered == 3
    assert ran.usage.llm_calls <= 11


async def test_with_time_enough_nothing_is_cut_short() -> None:
    ran = await ticking(10).ask(CHAIN.question, max_seconds=600, min_evidence_records=3)
    assert ran.state.termination_reason is StopReason.QUALITY_MET


# --- the switch -----------------------------------------------------------------------------


@pytest.mark.requirement("E7", "E14")
async def test_without_early_ends_a_run_goes_on_to_its_last_round() -> None:
    """E14: the same world and analyst; only the switch differs."""
    knobs: dict[str, Any] = {"min_evidence_records": 9, "adaptive_soft_depth": (4, 4, 4)}

    def world() -> World:
        made = harbour(SIMPLE)
        assert made.model is not None
        turn = iter(range(99))
        made.model.twists["assess"] = lambda answer: {
            **answer, **ONGOING, "directions": [f"lighthouse keeper{next(turn)} wages"]
        }  # fmt: skip
        return made

    early = await world().ask(SIMPLE.question, **knobs)
    full = await world().ask(SIMPLE.question, **knobs, enable_early_termination=False)
    assert early.state.termination_reason in {StopReason.NO_NOVELTY, StopReason.STUCK}
    assert full.state.termination_reason is StopReason.MAX_ROUNDS
    assert len(early.rounds) < len(full.rounds) == 4


# --- the prompts ----------------------------------------------------------------------------


def sea(rounds: int) -> World:
    """Pages without end, and an analyst that never has enough and asks for ever more."""
    words = ["keel", "mast", "hull", "deck", "helm", "sail", "oar", "rope"]
    pages = [
        page(
            f"https://s{n}.example/{word}",
            "\n\n".join(f"The {word} of ship{n} is {n * 40 + k} feet by log {n}{k}{word}, and the "
                        f"yard{n} wrote of oak{k} and tar{n}." for k in range(30)),
            f"ship{n} {word}",
        )
        for n in range(rounds * 4)
        for word in words
    ]  # fmt: skip
    script = Script("What is known of ship0 keel?", (
        Part("What is known of ship0 keel?", "ship0 keel", ("feet",)),), "complex")  # fmt: skip
    world = World(Web(pages), Oracle(script))
    assert world.model is not None
    turn = iter(range(1, 999))

    def more(answer: Any) -> Any:
        named = [f"ship{next(turn)} {words[n]}" for n in (1, 2)]
        return {**answer, **ONGOING, "unanswered": [], "directions": named}

    world.model.twists["assess"] = more
    return world


ENDLESS: dict[str, Any] = {
    "adaptive_max_depth": 20,
    "adaptive_soft_depth": (20, 20, 20),
    "enable_early_termination": False,
    "max_llm_calls": 500,
    "max_tokens": 50_000_000,
    "max_searches": 500,
    "max_fetches": 900,
    "max_research_units": 400,
}


@pytest.mark.requirement("C8", "D18", "E3")
async def test_prompts_stay_bounded_however_long_a_run_is() -> None:
    world = sea(20)
    assert world.model is not None
    ran = await world.ask("What is known of ship0 keel?", **ENDLESS)
    assert len(ran.rounds) >= 10
    largest = dict.fromkeys(range(1, 21), 0)
    for entry in world.store.entries.values():
        if entry.kind == "model" and entry.place.startswith("round/"):
            number = int(entry.place.split("/")[1])
            length = len(entry.request["system"]) + len(entry.request["prompt"])
            largest[number] = max(largest[number], length)
    assert largest[10] <= 1.2 * largest[3]
    assess = [len(r.prompt) for r in world.model.requests if r.task == "assess"]
    assert assess[9] <= 1.2 * assess[2]
    assessed = [each for each in world.model.requests if each.task == "assess"]
    last = sections_of(assessed[-1].prompt)["ALREADY SEARCHED"]
    assert len(last.split("\n")) == 24 < ran.usage.searches
    assert len(ran.evidence) > 200, "the ledger grew all the while"
    draft = next(r.prompt for r in world.model.requests if r.task == "draft")
    assert len(draft.split()) < 60_000
    assert not [p for p in ran.of(Problem) if p.where.startswith("model")]
    assert LIT not in draft


async def last_summary(**knobs: Any) -> list[str]:
    """The findings that the last assessment of seven rounds is shown.

    The report, which comes later, is kept short: checking hundreds of statements takes most time.
    """
    world = sea(7)
    assert world.model is not None
    world.model.twists["draft"] = lambda answer: {**answer, "statements": answer["statements"][:9]}
    bounds = {"adaptive_max_depth": 7, "adaptive_soft_depth": (7, 7, 7)}
    await world.ask("What is known of ship0 keel?", **{**ENDLESS, **bounds, **knobs})
    prompt = [r.prompt for r in world.model.requests if r.task == "assess"][-1]
    return [text for _, _, text in lines_of(sections_of(prompt)["FINDINGS"])]


@pytest.mark.requirement("C8", "D18")
async def test_the_running_summary_keeps_to_its_findings_and_words() -> None:
    assert len(await last_summary()) == 40
    assert len(await last_summary(supervisor_notes_max_bullets=7)) == 7
    wordy = {"supervisor_notes_max_bullets": 999}
    assert 1150 < sum(map(words_in, await last_summary(**wordy))) <= 1200
    assert sum(map(words_in, await last_summary(supervisor_notes_word_budget=99))) <= 99


@pytest.mark.parametrize("script", [SIMPLE, CHAIN], ids=["simple", "chain"])
@pytest.mark.parametrize("name", [None, *HOSTILE])
async def test_a_higher_threshold_never_ends_a_run_earlier(
    name: str | None, script: Script
) -> None:
    rounds = []
    for threshold in (3, 5, 7, 8.5, 10):
        world = harbour(script)
        assert world.model is not None
        world.model.twists |= HOSTILE[name] if name else {}
        ran = await world.ask(script.question, adaptive_quality_threshold=threshold)
        rounds.append(len(ran.rounds))
    assert rounds == sorted(rounds)


async def test_a_higher_threshold_never_makes_a_round_look_worse() -> None:
    """Two rounds of the same worth; the evidence gate fails in the first one only."""

    async def rounds(threshold: float) -> int:
        world = World(Web([
            page("https://coast.example/a", LIT, "Harrow Point lighthouse"),
            page("https://coast.example/b", "The harbour tower height is stated as thirty yards "
                 "by masons whose first lit kiln stands behind the quay. Its first lit beacon "
                 "burned driftwood of wrecked barges.", "harbour tower height"),
        ]), Oracle(SIMPLE))  # fmt: skip
        assert world.model is not None
        world.model.twists["assess"] = lambda answer: {
            **answer, **ONGOING, "dimensions": dict.fromkeys(answer["dimensions"], 10)
        }  # fmt: skip
        ran = await world.ask(
            SIMPLE.question,
            adaptive_quality_threshold=threshold,
            adaptive_soft_depth=(5, 5, 5),
            min_sources_per_aspect=(2, 2, 2),
            min_evidence_records=3,
            min_novelty_threshold=0,
        )
        assert [r.cap for r in ran.rounds[:2]] == [min(7.75, threshold - 0.5), 7.75]
        return len(ran.rounds)

    assert await rounds(7) <= await rounds(9)
