"""What the process needs is gone for a while, or a run kills every worker that takes it."""

from __future__ import annotations

import asyncio
import errno
import sqlite3
import sys
import types
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import psycopg
import pytest
from django.contrib.auth.models import AbstractUser
from django.core.management import call_command
from django.db import IntegrityError, InterfaceError, OperationalError
from psycopg import errors
from redis.exceptions import ConnectionError as RedisConnectionError

from research.documents.folder import DocumentError
from research.engine.config import ResearchConfig
from research.engine.journal import Journal
from research.engine.loop import Question
from research.engine.ports import SearchAnswer, SearchFailedError, SearchRequest
from research.models import Run
from research.queue import admission
from research.queue.processes import EmbeddedWorker, Engine
from research.readmodel.run_json import run_resource
from research.runtime.outages import Outages, is_outage, loaded_errors
from research.search.documents import DocumentSearch
from research.search.fallback import FallbackSearch, NamedSearch
from research.services import ServiceError, runs
from research.worker import leases
from research.worker.leases import CRASHES, LeaseLostError
from research.worker.run_executor import Timing, advance_run
from tests.research.killing import Killed, killed_at
from tests.research.scripts import World, research

pytestmark = pytest.mark.django_db(transaction=True)

QUICK = Timing(lease_seconds=15, heartbeat_seconds=30, poll_seconds=0.02)


class Sleeps:
    """A sleep that takes no time and notes what was asked for."""

    def __init__(self) -> None:
        self.seconds: list[float] = []
        self.then: Callable[[], None] = lambda: None

    async def __call__(self, seconds: float) -> None:
        self.seconds.append(seconds)
        self.then()
        await asyncio.sleep(0)

    @property
    def outages(self) -> Outages:
        return Outages(self, lambda: 0.0)


def advanced(
    run: Run, world: World, engine: Engine = research, sleeps: Sleeps | None = None
) -> Any:
    outages = (sleeps or Sleeps()).outages
    return asyncio.run(
        advance_run(run.pk, world.tools, engine=engine, timing=QUICK, outages=outages)
    )


def expire(run: Run) -> None:
    Run.objects.filter(pk=run.pk).update(lease_until=leases.database_now() - timedelta(seconds=1))


def die(run: Run, times: int) -> None:
    """Workers take the run and die before anything is journaled."""
    for _ in range(times):
        assert leases.claim_run(run.pk, "doomed")
        expire(run)


# --- what an outage is ----------------------------------------------------------------------


def caused(error: BaseException, cause: BaseException) -> BaseException:
    error.__cause__ = cause
    return error


def sqlite_error(code: int) -> sqlite3.OperationalError:
    error = sqlite3.OperationalError("no")
    error.sqlite_errorcode = code
    return error


OUTAGES = [
    OperationalError("server closed the connection"),
    InterfaceError("connection already closed"),
    caused(OperationalError(), psycopg.OperationalError("connection refused")),
    caused(OperationalError(), errors.TooManyConnections()),
    caused(OperationalError(), errors.DiskFull()),
    caused(OperationalError(), errors.AdminShutdown()),
    caused(OperationalError(), errors.CannotConnectNow()),
    caused(OperationalError(), sqlite_error(sqlite3.SQLITE_FULL)),
    caused(OperationalError(), sqlite_error(sqlite3.SQLITE_BUSY)),
    caused(OperationalError(), sqlite_error(sqlite3.SQLITE_IOERR | 10 << 8)),
    RedisConnectionError(),
    OSError(errno.ENOSPC, "No space left on device"),
    OSError(errno.EMFILE, "Too many open files"),
    ExceptionGroup("of tasks", [ValueError(), OperationalError("gone")]),
    caused(RuntimeError(), OperationalError("gone")),
]
DEFECTS = [
    ValueError(),
    LeaseLostError(1),
    IntegrityError(),
    ConnectionRefusedError(errno.ECONNREFUSED, "a site's"),
    TimeoutError(),
    caused(OperationalError(), sqlite_error(sqlite3.SQLITE_ERROR)),
    caused(OperationalError(), errors.QueryCanceled()),
    ExceptionGroup("of tasks", [ValueError()]),
]


@pytest.mark.parametrize("error", OUTAGES, ids=repr)
def test_what_the_process_needs_itself_is_an_outage(error: BaseException) -> None:
    assert is_outage(error)


@pytest.mark.parametrize("error", DEFECTS, ids=repr)
def test_a_defect_or_a_site_that_fails_is_none(error: BaseException) -> None:
    assert not is_outage(error)


def test_a_driver_that_is_being_imported_raises_nothing_yet(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "half_imported", types.ModuleType("half_imported"))
    assert loaded_errors("half_imported", "Error") == ()


def test_waits_double_up_to_a_minute_and_vary() -> None:
    steady = Outages(chance=lambda: 0.0)
    assert [steady.seconds(n) for n in (1, 2, 3, 4, 5, 6, 7, 8, 99)] == [
        *(1, 2, 4, 8, 16, 32, 60, 60, 60),
    ]
    assert Outages(chance=lambda: 1.0).seconds(3) == 3.0


# --- runs -----------------------------------------------------------------------------------


@pytest.mark.requirement("F8")
def test_an_outage_is_waited_out_and_asks_nothing_twice(run: Run, ada: AbstractUser) -> None:
    sleeps, left = Sleeps(), [1, 3, 3, 3]
    usual = World()
    advanced(runs.ask_question(ada, run.question, agreed=True), usual)

    async def fails(question: Question, config: ResearchConfig, journal: Journal) -> None:
        if left:
            store: Any = journal.store
            put, at = store.put, left.pop(0)

            async def breaks(entry: Any) -> None:
                if store.written == at:
                    raise OperationalError("server closed the connection")
                await put(entry)

            store.put = breaks
        await research(question, config, journal)

    world = World()
    assert advanced(run, world, fails, sleeps) == "done"
    run.refresh_from_db()
    assert (run.status, run.crashes) == ("completed", 0)
    assert sleeps.seconds == [1, 1, 1, 1], "each attempt had made progress"
    assert world.asked <= usual.asked + usual.asked, "only the unsettled call is asked again"
    assert sum(world.asked.values()) <= sum(usual.asked.values()) + 4


def test_attempts_without_progress_wait_ever_longer_and_count_no_crash(run: Run) -> None:
    sleeps, left = Sleeps(), [0] * 5

    async def fails(question: Question, config: ResearchConfig, journal: Journal) -> None:
        if left:
            left.pop()
            raise OperationalError("too many connections")
        await research(question, config, journal)

    assert advanced(run, World(), fails, sleeps) == "done"
    run.refresh_from_db()
    assert (run.status, run.crashes) == ("completed", 0)
    assert sleeps.seconds == [1, 2, 4, 8, 16]


def test_an_outage_inside_a_tool_is_the_runs_and_not_one_calls(run: Run) -> None:
    class Blinking(World):
        blinked = False

        async def search(self, request: SearchRequest) -> SearchAnswer:
            if not self.blinked:
                self.blinked = True
                raise OSError(errno.EMFILE, "Too many open files")
            return await super().search(request)

    sleeps = Sleeps()
    assert advanced(run, Blinking(), sleeps=sleeps) == "done"
    assert sleeps.seconds == [1]
    assert not run.journal.filter(status="failed").exists()


def test_a_run_that_another_worker_took_during_the_outage_is_left_to_it(run: Run) -> None:
    sleeps = Sleeps()

    async def fails(question: Question, config: ResearchConfig, journal: Journal) -> None:
        store: Any = journal.store
        await store.writer.call(expire, run)
        assert await store.writer.call(leases.claim_run, run.pk, "another")
        raise OperationalError("gone")

    assert advanced(run, World(), fails, sleeps) == "elsewhere"
    run.refresh_from_db()
    assert (run.lease_owner, run.crashes) == ("another", 0), "its first worker had not died"


def test_a_worker_that_stops_during_an_outage_gives_its_run_back(run: Run) -> None:
    async def fails(question: Question, config: ResearchConfig, journal: Journal) -> None:
        raise OperationalError("gone")

    async def scenario() -> None:
        waiting = asyncio.Event()

        async def sleep(seconds: float) -> None:
            waiting.set()
            await asyncio.sleep(60)

        worker = EmbeddedWorker(World().tools, timing=QUICK, engine=fails, outages=Outages(sleep))
        await worker.start()
        await asyncio.wait_for(waiting.wait(), 20)
        assert not worker._has_room()
        await worker.stop()

    asyncio.run(scenario())
    run.refresh_from_db()
    assert (run.lease_until, run.crashes) == (None, 0)


def test_a_process_whose_own_calls_fail_claims_nothing_for_a_while(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    sleeps, left = Sleeps(), [0] * 3
    claim_next = admission.claim_next

    def failing(*arguments: Any, **named: Any) -> Any:
        if left:
            left.pop()
            raise OperationalError("gone")
        return claim_next(*arguments, **named)

    monkeypatch.setattr("research.queue.processes.claim_next", failing)
    work_until(sleeps.outages, lambda: Run.objects.get(pk=run.pk).status == "completed")
    assert sleeps.seconds == [1, 2, 4]


def work_until(
    outages: Outages, holds: Callable[[], bool], engine: Engine = research, slots: int = 2
) -> None:
    async def scenario() -> None:
        worker = EmbeddedWorker(World().tools, slots, timing=QUICK, engine=engine, outages=outages)
        await worker.start()
        async with asyncio.timeout(20):
            while not await worker.writer.call(holds):
                await asyncio.sleep(0.01)
        await worker.stop()

    asyncio.run(scenario())


# --- deaths ---------------------------------------------------------------------------------


def test_deaths_between_which_a_run_progressed_do_not_add_up(run: Run) -> None:
    world = World()
    for _ in range(2 * CRASHES):
        with pytest.raises(Killed):
            advanced(run, world, killed_at(2, research))
        expire(run)
    assert advanced(run, world) == "done"
    run.refresh_from_db()
    assert (run.status, run.crashes) == ("completed", 0)


def test_a_run_that_killed_three_workers_is_worked_on_alone(ada: AbstractUser) -> None:
    suspect = runs.ask_question(ada, "Suspect", agreed=True)
    die(suspect, CRASHES)
    for number in range(3):
        runs.ask_question(ada, f"Question {number}", agreed=True)
    at_work: list[str] = []
    beside: list[tuple[str, ...]] = []

    async def noted(question: Question, config: ResearchConfig, journal: Journal) -> None:
        at_work.append(question.text)
        beside.append(tuple(at_work))
        await asyncio.sleep(0.05)
        await research(question, config, journal)
        at_work.remove(question.text)

    done = lambda: Run.objects.filter(status="completed").count() == 4  # noqa: E731
    work_until(Sleeps().outages, done, noted, slots=3)
    assert all(texts == ("Suspect",) for texts in beside if "Suspect" in texts)
    assert max(map(len, beside)) > 1


def test_a_run_that_dies_alone_too_is_put_aside_until_somebody_retries(
    run: Run, ada: AbstractUser, bob: AbstractUser
) -> None:
    die(run, CRASHES + 1)
    world = World()
    assert advanced(run, world) == "parked"
    run.refresh_from_db()
    assert (run.status, run.lease_until, run.finished_at) == ("stalled", None, None)
    assert not run.ended and run.waiting and not world.asked
    assert run.verdict == run.problems.get().message
    assert run_resource(run, with_pages=False)["status"] == "stalled"
    assert admission.claim_next("anybody") is None

    runs.retry_run(ada, run)
    run.refresh_from_db()
    assert (run.status, run.crashes) == ("queued", 0)
    assert run.commands.get().taken_at_place == "retried"
    with pytest.raises(ServiceError, match="put aside"):
        runs.retry_run(ada, run)
    assert advanced(run, world) == "done"
    run.refresh_from_db()
    assert run.status == "completed"


def test_a_stalled_run_can_be_cancelled(run: Run, ada: AbstractUser) -> None:
    die(run, CRASHES + 1)
    advanced(run, World())
    runs.request_cancel(ada, run)
    run.refresh_from_db()
    assert run.status == "cancelled"


def test_a_stalled_run_is_tried_again_from_the_command_line(
    run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    die(run, CRASHES + 1)
    advanced(run, World())
    call_command("retry", run.public_id)
    run.refresh_from_db()
    assert run.status == "queued"
    assert run.public_id in capsys.readouterr().out


# --- documents ------------------------------------------------------------------------------


async def test_an_outage_of_the_index_is_told_from_an_index_that_cannot_be_used() -> None:
    class Index:
        def __init__(self, error: Exception) -> None:
            self.error = error

        async def search(self, *_: Any) -> Any:
            raise DocumentError("The index of the documents cannot be read.") from self.error

    async def failure(error: Exception) -> SearchFailedError:
        index: Any = Index(error)
        search = FallbackSearch([NamedSearch("documents", DocumentSearch(index, ["a"]))])
        with pytest.raises(SearchFailedError) as caught:
            await search.search(SearchRequest("eggs"))
        return caught.value

    assert is_outage(await failure(psycopg.OperationalError("server closed the connection")))
    assert not is_outage(await failure(sqlite_error(sqlite3.SQLITE_CORRUPT)))
