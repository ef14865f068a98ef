"""What a person tells a run while it researches: through services, worker, engine and rows."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import timedelta
from time import sleep
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import AbstractUser

from research.engine.config import ResearchConfig
from research.engine.journal import Journal
from research.engine.loop import PAID_TWICE, Question
from research.engine.loop import run_research as the_loop
from research.engine.ports import ModelAnswer, ModelRequest, SearchAnswer, SearchRequest
from research.engine.records import RunState, Status
from research.models import Run
from research.readmodel.progress import load_progress
from research.services import ServiceError, runs
from research.services.errors import InvalidValueError
from research.threads.seeds import snapshot_run
from research.worker import leases, notify
from research.worker.replay import replay_run
from research.worker.run_executor import Outcome, Timing, advance_run
from tests.engine.scripted import CHAIN, Oracle, World, harbour
from tests.research.killing import Killed, killed_at
from tests.support.run_schema import resource

pytestmark = pytest.mark.django_db(transaction=True)

QUICK = Timing(lease_seconds=15, heartbeat_seconds=0.05, poll_seconds=0.02)
OWNER = CHAIN.parts[2].question
ADDED = "How tall is the Harrow Point register mark?"
RECENT = "Only sources since 2023"


IN_FLIGHT = 4
"""Calls that may be under way when a worker dies: one of each unit."""


def when_searching(world: World, run: Run, tell: Callable[[], object]) -> None:
    """Tell the run something while its first search is under way."""
    search, to_tell, telling = world.web.search, [tell], asyncio.Lock()

    def once_it_researches() -> None:
        while Run.objects.get(pk=run.pk).status != "researching":
            sleep(0.01)
        to_tell.pop()()

    async def told(request: SearchRequest) -> SearchAnswer:
        if to_tell:
            async with telling:
                if to_tell:
                    await sync_to_async(once_it_researches)()
        return await search(request)

    world.web.search = told  # type: ignore[method-assign]


def advanced(run: Run, world: World, die_at: int | None = None) -> Outcome:
    engine = killed_at(die_at, the_loop)
    return asyncio.run(advance_run(run.pk, lambda run: world.tools(), engine=engine, timing=QUICK))


def statuses(work: Callable[[], Outcome], run: Run) -> set[str]:
    """What anybody who looks sees while the work is done."""
    seen: set[str] = set()

    def look(public_id: str, sequence: int) -> None:
        seen.add(Run.objects.get(pk=run.pk).status)

    notify.on_committed.append(look)
    try:
        assert work() == "done"
    finally:
        notify.on_committed.remove(look)
    return seen


@pytest.fixture
def chain(ada: AbstractUser) -> Run:
    return runs.ask_question(ada, CHAIN.question, agreed=True)


def paused(ada: AbstractUser, run: Run) -> World:
    """The run, parked by a pause that was told during its first search."""
    world = harbour(CHAIN)
    when_searching(world, run, lambda: runs.pause_run(ada, run))
    assert advanced(run, world) == "parked"
    run.refresh_from_db()
    assert (run.status, run.lease_until, run.round) == ("paused", None, 1)
    return world


def test_a_pause_parks_the_run_and_only_a_command_that_wakes_makes_it_claimable(
    ada: AbstractUser, chain: Run
) -> None:
    world = paused(ada, chain)
    assert leases.claim_run(chain.pk, "idle") is None
    runs.add_topic(ada, chain, ADDED)
    assert leases.claim_run(chain.pk, "idle") is None
    calls = len(world.model.requests) if world.model else 0

    runs.resume_run(ada, chain)
    seen = statuses(lambda: advanced(chain, world), chain)
    assert seen - {"paused"} == {"researching", "writing", "completed"}
    chain.refresh_from_db()
    assert chain.status == "completed" and chain.rounds.count() > 1
    assert world.model is not None and len(world.model.requests) > calls
    assert world.model.tasks.count("intake") == 1
    found = resource(chain)
    assert ADDED in found["rounds"][1]["topics"]
    assert [a["raised_by"] for a in found["aspects"]] == ["plan", "plan", "plan", "user"]
    assert [(c["kind"], c["taken"]) for c in found["commands"]] == [
        ("pause", True), ("add_topic", True), ("resume", True)
    ]  # fmt: skip


@pytest.mark.requirement("F6")
def test_a_pause_is_taken_back_before_its_round_ends(ada: AbstractUser, chain: Run) -> None:
    """It leaves nothing behind that would end a later pause at once."""
    world = harbour(CHAIN)

    def think_again() -> None:
        runs.pause_run(ada, chain)
        assert "resume" in load_progress(chain).control.possible
        runs.resume_run(ada, chain)
        chain.refresh_from_db()
        assert "resume" not in load_progress(chain).control.possible

    when_searching(world, chain, think_again)
    seen = statuses(lambda: advanced(chain, world), chain)
    assert "paused" not in seen and "completed" in seen
    told = [(each.kind, each.taken) for each in load_progress(chain).control.told]
    assert told == [("pause", True), ("resume", True)]


def test_a_pause_that_follows_one_that_was_taken_back_lasts(ada: AbstractUser, chain: Run) -> None:
    world = harbour(CHAIN)

    def hesitate() -> None:
        for tell in (runs.pause_run, runs.resume_run, runs.pause_run):
            tell(ada, chain)

    when_searching(world, chain, hesitate)
    assert advanced(chain, world) == "parked"
    assert leases.claim_run(chain.pk, "idle") is None


@pytest.mark.parametrize(
    "tell, status", [(runs.stop_and_report, "completed"), (runs.request_cancel, "cancelled")]
)
def test_a_paused_run_can_be_stopped_and_cancelled(
    ada: AbstractUser, chain: Run, tell: Callable[..., object], status: str
) -> None:
    world = paused(ada, chain)
    tell(ada, chain)
    advanced(chain, world)
    chain.refresh_from_db()
    assert chain.status == status
    assert (chain.reports.count() == 1) == (status == "completed")


def test_a_dropped_topic_is_marked_and_the_report_says_so(ada: AbstractUser, chain: Run) -> None:
    world = harbour(CHAIN)
    when_searching(world, chain, lambda: runs.drop_topic(ada, chain, OWNER))
    assert advanced(chain, world) == "done"
    found = resource(chain)
    assert [a["dropped"] for a in found["aspects"]] == [False, False, True]
    assert "## Left out at your request" in found["report_markdown"]
    assert [part.dropped for part in load_progress(chain).aspects] == [False, False, True]


def test_digging_deeper_raises_the_limit_of_rounds(ada: AbstractUser) -> None:
    config = ResearchConfig(adaptive_max_depth=1)
    run = runs.ask_question(ada, CHAIN.question, agreed=True, config=config)
    world = harbour(CHAIN)
    when_searching(world, run, lambda: runs.dig_deeper(ada, run, 2))
    assert advanced(run, world) == "done"
    assert run.rounds.count() == 3
    with pytest.raises(ServiceError, match="From 1 to 10"):
        runs.dig_deeper(ada, run, 11)


def test_an_unsure_engine_asks_and_goes_on_when_told(ada: AbstractUser) -> None:
    config = ResearchConfig(adaptive_max_depth=1, ask_when_unsure=True)
    run, world = runs.ask_question(ada, CHAIN.question, config=config), harbour(CHAIN)
    assert advanced(run, world) == "parked"
    runs.approve_plan(ada, run)
    assert advanced(run, world) == "parked"
    shown = load_progress(run)
    assert shown.run.status == "paused"
    assert shown.verdict.asks.endswith("Dig deeper, or is this sufficient?")
    assert set(shown.control.possible) >= {"dig_deeper", "stop", "resume", "cancel"}
    runs.dig_deeper(ada, run, 2)
    assert advanced(run, world) == "done" or run.rounds.count() == 3
    assert load_progress(run).verdict.asks == "" or Run.objects.get(pk=run.pk).status == "paused"


def test_the_fixed_mode_takes_no_topics(ada: AbstractUser) -> None:
    config = ResearchConfig(deep_research_mode="fixed")
    run = runs.ask_question(ada, CHAIN.question, agreed=True, config=config)
    Run.objects.filter(pk=run.pk).update(status="researching")
    with pytest.raises(ServiceError, match="tree of a fixed size"):
        runs.add_topic(ada, run, "More")
    assert "add_topic" not in load_progress(run).control.possible
    assert "pause" in load_progress(run).control.possible


@pytest.mark.requirement("F6")
def test_an_instruction_reaches_the_prompts_and_the_rows_and_is_replayed(
    ada: AbstractUser, chain: Run
) -> None:
    world = harbour(CHAIN)
    when_searching(world, chain, lambda: runs.instruct(ada, chain, RECENT))
    assert advanced(chain, world) == "done"
    found = resource(chain)
    assert [each["instructions"] for each in found["rounds"][:2]] == [[RECENT], []]
    assert [(c["kind"], c["text"], c["taken"]) for c in found["commands"]] == [
        ("instruct", RECENT, True)
    ]
    assert world.model is not None
    last = world.model.requests[-1]
    shown = {r.task for r in world.model.requests if f"- {RECENT}" in r.prompt}
    assert shown == {"assess", "read", "draft"} and last.prompt
    assert f"Instructions during the research: “{RECENT}”" in found["report_markdown"]
    replayed = asyncio.run(replay_run(Run.objects.get(pk=chain.pk), {}))
    assert replayed.identical and replayed.divergences == []


@pytest.mark.requirement("F6")
def test_what_is_told_at_the_plan_is_shown_and_replayed(ada: AbstractUser) -> None:
    run, world = runs.ask_question(ada, CHAIN.question), harbour(CHAIN)
    assert advanced(run, world) == "parked"
    runs.instruct(ada, run, RECENT)
    assert leases.claim_run(run.pk, "idle") is None
    runs.approve_plan(ada, run)
    assert advanced(run, world) == "done"
    found = resource(run)
    assert [(c["kind"], c["taken"]) for c in found["commands"]] == [
        ("instruct", True), ("approve", True)
    ]  # fmt: skip
    assert world.model is not None
    reads = [r.prompt for r in world.model.requests if r.task == "read"]
    assert reads and all(f"- {RECENT}" in prompt for prompt in reads)
    replayed = asyncio.run(replay_run(Run.objects.get(pk=run.pk), {}))
    assert replayed.identical and replayed.divergences == []
    run.refresh_from_db()
    assert snapshot_run(run, "follow_up").instructions == (RECENT,)


@pytest.mark.parametrize("way", ["approve", "send back"])
def test_a_depth_chosen_at_the_plan_is_the_run_s_from_then_on(ada: AbstractUser, way: str) -> None:
    """The first plan’s prompt depends on the depth, so a replay begins with the earlier one."""
    config = ResearchConfig(research_depth="quick")
    run, world = runs.ask_question(ada, CHAIN.question, config=config), harbour(CHAIN)
    assert advanced(run, world) == "parked"
    with pytest.raises(InvalidValueError, match="A depth is one of quick, standard, thorough"):
        runs.approve_plan(ada, run, depth="bottomless")
    if way == "send back":
        runs.send_back(ada, run, "More on its owner.", depth="thorough")
        assert advanced(run, world) == "parked"
        runs.approve_plan(ada, run)
    else:
        runs.approve_plan(ada, run, depth="thorough")
    assert advanced(run, world) == "done"
    run.refresh_from_db()
    assert run.config["research_depth"] == "thorough"
    assert world.model is not None and "section" in world.model.tasks
    replayed = asyncio.run(replay_run(Run.objects.get(pk=run.pk), {}))
    assert replayed.identical and replayed.divergences == []


def steered(ada: AbstractUser, run: Run) -> World:
    """A run to which much is told: added, dropped, deeper, in words, and at the end a pause."""

    def tell() -> None:
        runs.add_topic(ada, run, ADDED)
        runs.drop_topic(ada, run, OWNER)
        runs.dig_deeper(ada, run, 1)
        runs.instruct(ada, run, RECENT)
        runs.pause_run(ada, run)

    world = harbour(CHAIN)
    when_searching(world, run, tell)
    return world


def decided(found: dict[str, Any]) -> dict[str, Any]:
    own = {"id", "thread", "created_at", "finished_at", "commands"}
    kept = {name: value for name, value in found.items() if name not in own}
    kept["usage"] = {**kept["usage"], "seconds": 0}
    kept["errors"] = [each for each in kept["errors"] if each["message"] != PAID_TWICE]
    return kept


@pytest.mark.slow
def test_killed_at_any_entry_a_steered_run_ends_the_same_and_pays_nothing_twice(
    ada: AbstractUser,
) -> None:
    whole = runs.ask_question(ada, CHAIN.question, agreed=True)
    world = steered(ada, whole)
    assert advanced(whole, world) == "parked"
    first = whole.journal.count()
    runs.resume_run(ada, whole)
    assert advanced(whole, world) == "done"
    expected, calls = decided(resource(whole)), _calls(world)
    replayed = asyncio.run(replay_run(Run.objects.get(pk=whole.pk), {}))
    assert replayed.identical and replayed.divergences == []

    for k in range(3, whole.journal.count() - 1, 5):
        run = runs.ask_question(ada, CHAIN.question, agreed=True)
        again = steered(ada, run)
        if k >= first:
            assert advanced(run, again) == "parked"
            runs.resume_run(ada, run)
        with pytest.raises(Killed):
            advanced(run, again, die_at=k - first + 1 if k >= first else k)
        Run.objects.filter(pk=run.pk).update(
            lease_until=leases.database_now() - timedelta(seconds=1)
        )
        outcome = advanced(run, again)
        if outcome == "parked":
            runs.resume_run(ada, run)
            outcome = advanced(run, again)
        assert outcome == "done", k
        got = decided(resource(run))
        if got["usage"]["tokens_estimated"]:  # a call in flight died with its worker
            assert got["usage"]["llm_calls"] == expected["usage"]["llm_calls"], k
            got["usage"] = expected["usage"]
        assert got == expected, k
        assert _calls(again) - calls <= IN_FLIGHT, k


def _calls(world: World) -> int:
    assert world.model is not None
    return len(world.model.requests) + len(world.web.searched) + sum(world.web.fetched.values())


@pytest.mark.requirement("F6")
def test_what_no_boundary_took_is_said_among_the_problems(ada: AbstractUser, chain: Run) -> None:
    async def deaf(question: Question, config: ResearchConfig, journal: Journal) -> None:
        journal.emit(RunState(Status.RESEARCHING, analyst="a-model"))
        store: Any = journal.store
        while await store.writer.call(lambda: Run.objects.get(pk=chain.pk).status) != "researching":
            await asyncio.sleep(0.01)
        for tell in (
            lambda: runs.add_topic(ada, chain, ADDED),
            lambda: runs.dig_deeper(ada, chain),
            lambda: runs.pause_run(ada, chain),
            lambda: runs.instruct(ada, chain, RECENT),
        ):
            await store.writer.call(tell)
        journal.emit(RunState(Status.COMPLETED, termination_text="Done."))

    advancing = advance_run(chain.pk, lambda _: harbour(CHAIN).tools(), engine=deaf, timing=QUICK)
    assert asyncio.run(advancing) == "done"
    assert list(chain.problems.values_list("where", "message")) == [
        (f"your topic “{ADDED}”", "Not added: the research had ended."),
        ("your wish to dig deeper", "It came when the research had ended."),
        ("your pause", "It came when the research had ended."),
        (f"your instruction “{RECENT}”", "Not followed: the research had ended."),
    ]


class Mute(Oracle):
    """Never answers one task."""

    def __init__(self, task: str, when_asked: Callable[[], object]) -> None:
        super().__init__(CHAIN)
        self.mute, self.when_asked = task, when_asked

    async def complete(self, request: ModelRequest) -> ModelAnswer:
        if request.task == self.mute:
            await sync_to_async(self.when_asked)()
            await asyncio.Event().wait()
        return await super().complete(request)


@pytest.mark.parametrize(
    ("task", "status", "tell"),
    [("intake", "intake", runs.plan_by_code), ("draft", "writing", runs.finish_by_code)],
)
def test_a_worker_breaks_off_the_call_that_nobody_waits_for(
    ada: AbstractUser, task: str, status: str, tell: Callable[..., object]
) -> None:
    run = runs.ask_question(ada, CHAIN.question, agreed=True)

    def tell_then() -> None:
        while Run.objects.get(pk=run.pk).status != status:
            sleep(0.01)
        tell(ada, run)

    world = harbour(CHAIN)
    world.model = Mute(task, tell_then)
    assert advanced(run, world) == "done"
    run.refresh_from_db()
    assert run.status == "completed"
    [problem] = run.problems.filter(where=f"model, {task}")
    assert problem.message.endswith("without the model’s answer.")
    assert [row.taken_at_place is not None for row in run.commands.all()] == [True]
    replayed = asyncio.run(replay_run(run, {}))
    assert replayed.identical and replayed.divergences == []
