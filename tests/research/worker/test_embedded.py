"""The real worker, store and projection, with a scripted engine and scripted tools."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from time import monotonic
from typing import Any

import pytest
from django.contrib.auth.models import AbstractUser
from django.db.models import F

from research.engine.config import ResearchConfig
from research.engine.journal import Journal
from research.engine.loop import Question
from research.engine.ports import ModelFailedError, SearchRequest
from research.engine.records import Action, RunState, Status
from research.models import Run
from research.queue import admission, processes
from research.queue.processes import STOP_SECONDS, EmbeddedWorker
from research.services import runs
from research.worker import leases, notify
from research.worker.run_executor import Outcome, Timing, advance_run
from research.worker.writer import Writer
from tests.research.killing import Killed, killed_at
from tests.research.scripts import World, asks_model, research
from tests.support.run_schema import resource

pytestmark = pytest.mark.django_db(transaction=True)

QUICK = Timing(lease_seconds=15, heartbeat_seconds=0.05, poll_seconds=0.02)
Engine = Callable[[Question, ResearchConfig, Journal], Awaitable[None]]


def advanced(run: Run, world: World, engine: Engine = research, **more: Any) -> Outcome:
    return asyncio.run(advance_run(run.pk, world.tools, engine=engine, timing=QUICK, **more))


def expire(run: Run) -> None:
    Run.objects.filter(pk=run.pk).update(lease_until=leases.database_now() - timedelta(seconds=1))


def test_it_takes_a_run_to_its_end(run: Run) -> None:
    assert advanced(run, World()) == "done"
    run.refresh_from_db()
    assert (run.status, run.stage, run.round) == ("completed", "report", 2)
    assert (run.lease_owner, run.lease_until, run.crashes) == ("", None, 0)
    assert run.started_at and run.finished_at
    assert run.analyst == "scripted-model"


@pytest.mark.requirement("D2")
def test_the_records_of_a_run_make_a_valid_resource(run: Run) -> None:
    advanced(run, World())
    found = resource(run)
    [evidence] = found["evidence"]
    assert (evidence["id"], evidence["aspect"], evidence["review"]) == (
        "E1",
        "How hot?",
        "unreviewed",
    )
    assert len(evidence["sources"]) == 3
    assert found["gaps"][0]["closed_by"] == ["E1"]
    assert [round_["units"][0]["status"] for round_ in found["rounds"]] == ["done", "done"]
    assert found["errors"] == [{"where": "search", "message": "One provider did not answer."}]
    assert found["report_markdown"].endswith("[1]")
    texts = {page["text_sha256"]: page["text"] for page in found["pages"]}
    for quote in evidence["sources"]:
        text = texts[quote["text_sha256"]]
        assert text[quote["start"] : quote["end"]] == quote["quote"]


@pytest.mark.requirement("D1")
def test_a_run_that_waits_holds_nothing_and_goes_on_in_a_new_process(ada: AbstractUser) -> None:
    run = runs.ask_question(ada, "How are eggs scrambled?")
    first, second = World(), World()
    assert advanced(run, first) == "parked"
    run.refresh_from_db()
    assert (run.status, run.lease_until) == ("awaiting_approval", None)
    assert advanced(run, first) == "elsewhere"

    runs.approve_plan(ada, run)
    assert advanced(run, second) == "done"
    assert second.asked["model intake"] == 0
    run.refresh_from_db()
    assert run.status == "completed"
    assert run.commands.get().taken_at_place == "person/approval"


def test_a_finished_run_replayed_writes_and_bumps_nothing(run: Run) -> None:
    advanced(run, World())
    before, sequence = resource(run), Run.objects.get(pk=run.pk).sequence
    Run.objects.filter(pk=run.pk).update(status="researching", finished_at=None)
    again = World()
    again_engine_records: list[object] = []

    async def engine(question: Question, config: ResearchConfig, journal: Journal) -> None:
        receive = journal.emit
        journal.emit = lambda record: (again_engine_records.append(record), receive(record))
        await research(question, config, journal)

    assert advanced(run, again, engine) == "done"
    after = Run.objects.get(pk=run.pk)
    assert not again.asked
    assert len(again_engine_records) > 30
    assert after.sequence == sequence + 1, "only the status that the test itself had changed"
    assert {**resource(run), "finished_at": None} == {**before, "finished_at": None}


def test_a_crash_at_any_entry_asks_nothing_twice(ada: AbstractUser) -> None:
    whole, asked_once = runs.ask_question(ada, "How are eggs scrambled?", agreed=True), World()
    advanced(whole, asked_once)
    expected = _without_times(resource(whole))

    for k in range(1, whole.journal.count(), 2):
        run, world = runs.ask_question(ada, whole.question, agreed=True), World()
        with pytest.raises(Killed):
            advanced(run, world, killed_at(k, research))
        expire(run)
        assert advanced(run, world) == "done"
        assert world.asked == asked_once.asked, k
        run.refresh_from_db()
        assert (run.status, run.crashes) == ("completed", int(k == 1)), "later ones progressed"
        assert _without_times(resource(run)) == expected


def _without_times(found: dict[str, Any]) -> dict[str, Any]:
    own = {"id", "thread", "created_at", "finished_at"}
    kept = {name: value for name, value in found.items() if name not in own}
    return kept | {"usage": _without_seconds(kept["usage"])}


def _without_seconds(usage: Any) -> Any:
    if not isinstance(usage, dict):
        return usage
    return {name: _without_seconds(v) for name, v in usage.items() if name != "seconds"}


def test_rows_never_go_back_in_time_while_a_run_resumes(run: Run) -> None:
    seen: list[tuple[int, str]] = []
    rounds: list[int] = []

    async def halts(question: Question, config: ResearchConfig, journal: Journal) -> None:
        receive = journal.emit

        def until_the_report(record: object) -> None:
            receive(record)
            if isinstance(record, RunState) and record.status is Status.WRITING:
                raise Killed

        journal.emit = until_the_report
        await research(question, config, journal)

    with pytest.raises(Killed):
        advanced(run, World(), halts)
    expire(run)

    def watch(public_id: str, sequence: int) -> None:
        row = Run.objects.get(pk=run.pk)
        seen.append((row.round, row.status))
        rounds.append(run.rounds.filter(closed=True).count())

    notify.on_committed.append(watch)
    try:
        assert advanced(run, World()) == "done"
    finally:
        notify.on_committed.remove(watch)
    assert seen and all(state[0] == 2 for state in seen), seen
    assert set(rounds) == {2}


@pytest.mark.requirement("D11")
def test_an_engine_that_fails_ends_the_run_with_a_sentence_that_tells_nothing(
    run: Run, caplog: pytest.LogCaptureFixture
) -> None:
    async def breaks(question: Question, config: ResearchConfig, journal: Journal) -> None:
        raise ValueError("secret path /srv/private")

    assert advanced(run, World(), breaks) == "done"
    run.refresh_from_db()
    assert run.status == "failed"
    assert run.finished_at and run.lease_until is None
    assert "secret" not in json.dumps(resource(run))
    assert run.problems.get().message == run.termination_text
    assert "secret path" in caplog.text


def test_a_tool_s_own_sentence_reaches_the_person(run: Run) -> None:
    async def breaks(question: Question, config: ResearchConfig, journal: Journal) -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(_raise(ModelFailedError("The model's server does not answer.")))

    assert advanced(run, World(), breaks) == "done"
    run.refresh_from_db()
    assert run.termination_text == "The model's server does not answer."


async def _raise(error: Exception) -> None:
    raise error


def test_an_engine_that_ends_nowhere_fails_the_run(run: Run) -> None:
    async def nothing(question: Question, config: ResearchConfig, journal: Journal) -> None:
        return None

    assert advanced(run, World(), nothing) == "done"
    run.refresh_from_db()
    assert run.status == "failed"


def test_a_worker_whose_lease_was_taken_stops_and_leaves_the_run_alone(run: Run) -> None:
    taken: list[int] = []

    async def loses(question: Question, config: ResearchConfig, journal: Journal) -> None:
        journal.emit(RunState(Status.RESEARCHING))
        store: Any = journal.store
        taken.append(await store.writer.call(_steal, run.pk))
        await journal.model("intake", 1, asks_model("intake"))

    assert advanced(run, World(), loses) == "elsewhere"
    run.refresh_from_db()
    assert run.lease_epoch == taken[0]
    assert (run.lease_owner, run.journal.count()) == ("thief", 0)


def test_a_heartbeat_notices_that_the_lease_was_taken(run: Run) -> None:
    async def sleeps(question: Question, config: ResearchConfig, journal: Journal) -> None:
        store: Any = journal.store
        await store.writer.call(_steal, run.pk)
        await asyncio.sleep(60)

    assert advanced(run, World(), sleeps) == "elsewhere"


def _steal(run_id: int) -> int:
    Run.objects.filter(pk=run_id).update(
        lease_owner="thief",
        lease_epoch=F("lease_epoch") + 1,
        lease_until=leases.database_now() + timedelta(seconds=60),
    )
    return Run.objects.get(pk=run_id).lease_epoch


def test_a_heartbeat_renews_the_lease(run: Run) -> None:
    async def slow(question: Question, config: ResearchConfig, journal: Journal) -> None:
        store: Any = journal.store
        for _ in range(3):
            before = await store.writer.call(_leased_until, run.pk)
            await _until(store.writer, lambda until=before: _leased_until(run.pk) > until)
        await research(question, config, journal)

    assert advanced(run, World(), slow) == "done"
    run.refresh_from_db()
    assert run.status == "completed"


def _leased_until(run_id: int) -> datetime:
    until = Run.objects.get(pk=run_id).lease_until
    assert until is not None
    return until


def test_a_cancel_ends_the_engine_at_once(run: Run, ada: AbstractUser) -> None:
    async def sleeps(question: Question, config: ResearchConfig, journal: Journal) -> None:
        journal.emit(RunState(Status.RESEARCHING))
        await asyncio.sleep(60)

    async def scenario() -> float:
        slow = Timing(heartbeat_seconds=30)
        async with Writer() as writer:
            task = asyncio.create_task(
                advance_run(run.pk, World().tools, engine=sleeps, timing=slow, writer=writer)
            )
            await _until(writer, lambda: Run.objects.get(pk=run.pk).status == "researching")
            started = monotonic()
            await writer.call(runs.request_cancel, ada, run)
            assert await task == "done"
            return monotonic() - started

    assert asyncio.run(scenario()) < 15, "the engine sleeps for a minute, a heartbeat for half"
    run.refresh_from_db()
    assert (run.status, run.termination_reason) == ("cancelled", "cancelled")
    assert run.commands.get().taken_at_place == "cancelled"
    assert run.finished_at
    resource(run)


@pytest.mark.requirement("F6")
def test_a_stop_interrupts_the_round(run: Run, ada: AbstractUser) -> None:
    async def waits(question: Question, config: ResearchConfig, journal: Journal) -> None:
        journal.emit(RunState(Status.RESEARCHING))
        await asyncio.wait_for(journal.interrupted.wait(), 10)
        [command] = await journal.commands("round/1", frozenset({"stop"}))
        assert command["kind"] == "stop"
        journal.emit(RunState(Status.COMPLETED, termination_text="Stopped."))

    async def scenario() -> Outcome:
        async with Writer() as writer:
            task = asyncio.create_task(
                advance_run(run.pk, World().tools, engine=waits, timing=QUICK, writer=writer)
            )
            await _until(writer, lambda: Run.objects.get(pk=run.pk).status == "researching")
            await writer.call(runs.stop_and_report, ada, run)
            return await task

    assert asyncio.run(scenario()) == "done"
    run.refresh_from_db()
    assert run.status == "completed"


def test_a_worker_told_to_stop_gives_its_runs_back_within_a_second(run: Run) -> None:
    async def sleeps(question: Question, config: ResearchConfig, journal: Journal) -> None:
        journal.emit(RunState(Status.RESEARCHING))
        journal.emit(Action("Sleeping"))
        await asyncio.sleep(60)

    async def scenario() -> float:
        worker = EmbeddedWorker(World().tools, timing=QUICK, engine=sleeps)
        await worker.start()
        await _until(worker.writer, lambda: Run.objects.get(pk=run.pk).status == "researching")
        started = monotonic()
        await worker.stop()
        return monotonic() - started

    assert STOP_SECONDS < 1
    assert asyncio.run(scenario()) < 15, "the engine sleeps for a minute"
    run.refresh_from_db()
    assert (run.lease_until, run.action) == (None, "Sleeping")
    assert advanced(run, World()) == "done"
    run.refresh_from_db()
    assert (run.status, run.crashes) == ("completed", 0)


def test_an_embedded_worker_starts_a_new_run_at_once_and_keeps_to_its_slots(
    ada: AbstractUser, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_work, most = 0, 0
    announced: list[bool] = []
    monkeypatch.setattr(processes, "announce_places", lambda: announced.append(True))

    async def counted(question: Question, config: ResearchConfig, journal: Journal) -> None:
        nonlocal at_work, most
        at_work += 1
        most = max(most, at_work)
        await asyncio.sleep(0.05)
        await research(question, config, journal)
        at_work -= 1

    async def scenario() -> None:
        worker = EmbeddedWorker(
            World().tools, slots=2, timing=Timing(poll_seconds=30), engine=counted
        )
        await worker.start()
        for number in range(5):
            await worker.writer.call(
                lambda n: runs.ask_question(ada, f"Question {n}", agreed=True), number
            )
        await _until(worker.writer, lambda: Run.objects.filter(status="completed").count() == 5)
        await worker.stop()

    asyncio.run(scenario())
    assert most == 2
    assert announced, "the pages of those that wait"


@pytest.mark.requirement("F8")
def test_two_workers_never_work_on_one_run_at_once(ada: AbstractUser) -> None:
    asked = [runs.ask_question(ada, f"Question {n}", agreed=True) for n in range(6)]
    begun: list[str] = []

    async def noted(question: Question, config: ResearchConfig, journal: Journal) -> None:
        begun.append(question.text)
        await research(question, config, journal)

    async def scenario() -> None:
        workers = [EmbeddedWorker(World().tools, timing=QUICK, engine=noted) for _ in range(2)]
        for worker in workers:
            await worker.start()
        await _until(workers[0].writer, lambda: Run.objects.filter(status="completed").count() == 6)
        for worker in workers:
            await worker.stop()

    asyncio.run(scenario())
    assert sorted(begun) == sorted(run.question for run in asked)


def test_a_run_leased_at_birth_is_left_alone_by_other_workers(ada: AbstractUser) -> None:
    run, lease = runs.ask_and_claim(ada, "How are eggs scrambled?", "command line", agreed=True)
    assert admission.claim_next("server") is None
    assert advanced(run, World(), lease=lease) == "done"


def test_the_search_s_answer_is_not_asked_for_again_by_the_next_worker(run: Run) -> None:
    async def twice(question: Question, config: ResearchConfig, journal: Journal) -> None:
        await journal.search("round/1/search", SearchRequest("eggs"))
        await journal.wait_for_person("approval", frozenset({"approve"}))

    world = World()
    for _ in range(2):
        assert advanced(run, world, twice) == "parked"
    assert world.asked["search eggs"] == 1


async def _until(writer: Writer, holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(20):
        while not await writer.call(holds):
            await asyncio.sleep(0.01)
