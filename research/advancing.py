"""From a claimed run to a parked or an ended one.

`advance` is the only entry point. It claims the run, replays its journal, goes on where
that ends, and gives the run back when a person has to act. Killed at any moment, another
worker goes on once the lease has run out.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import Literal

from django.db import Error as DatabaseError
from django.db import OperationalError

from research.commands import Kind
from research.engine import loop
from research.engine.budget import Meter
from research.engine.config import ResearchConfig
from research.engine.journal import Journal, Parked
from research.engine.knobs import ConfigError
from research.engine.loop import Question
from research.engine.steering import TAKEN, unheard
from research.engine.tools import ToolFailure, Tools
from research.journal_store import DjangoInbox, DjangoStore, untaken
from research.leases import (
    CRASHES,
    LEASE_SECONDS,
    Lease,
    LeaseLost,
    abandon,
    claim,
    new_owner,
    regain,
    release,
    renew,
)
from research.models import Run
from research.outages import Outages, is_outage
from research.outcomes import cancel_run, fail_run, stall_run
from research.projection import Projection
from research.services import ServiceError
from research.snapshots import seed_of
from research.waiting import wait_at_most, woken_by_commands
from research.writer import Writer

log = logging.getLogger(__name__)

Outcome = Literal["parked", "done", "elsewhere"]
Attempt = Literal["parked", "done", "elsewhere", "outage"]
BuildTools = Callable[[Run], Tools | Awaitable[Tools]]
Engine = Callable[[Question, ResearchConfig, Journal], Awaitable[None]]

URGENT = frozenset({Kind.CANCEL.value, Kind.STOP.value})

BROKEN = "Something went wrong inside Plumbline and the run was ended; the server's log says more."
UNFINISHED = "The research ended without an outcome; the server's log says more."


@dataclass(frozen=True)
class Timing:
    """All in seconds; a lease must outlive several heartbeats."""

    lease_seconds: float = LEASE_SECONDS
    heartbeat_seconds: float = 3.0
    poll_seconds: float = 0.5


USUAL = Timing()


async def advance(
    run_id: int,
    build_tools: BuildTools,
    *,
    lease: Lease | None = None,
    writer: Writer | None = None,
    timing: Timing = USUAL,
    engine: Engine | None = None,
    outages: Outages | None = None,
) -> Outcome:
    """Take a run as far as it goes without a person.

    "parked": it waits for somebody. "done": it has ended, whichever way. "elsewhere":
    another worker has it, or will. Cancelled, it gives the run back and raises on.
    An outage is waited out; the run then goes on where its journal ends.
    """
    outages = outages or Outages()
    failures = 0
    async with _writing(writer) as ours:
        if lease is None:
            lease = await ours.call(claim, run_id, new_owner(), timing.lease_seconds)
        while lease is not None:
            attempt = _Advance(lease, ours, timing, engine or loop.research)
            outcome = await attempt.run(build_tools)
            if outcome != "outage":
                return outcome
            failures = 1 if attempt.progressed else failures + 1
            lease = await _regained(lease, ours, timing, outages, failures)
    return "elsewhere"


async def _regained(
    lease: Lease, writer: Writer, timing: Timing, outages: Outages, failures: int
) -> Lease | None:
    """The run's next lease once the outage is over; None where another worker has it."""
    log.warning("run %s: waits for an outage to end", lease.public_id)
    try:
        return await outages.outlast(
            partial(writer.call, regain, lease, timing.lease_seconds), failures
        )
    except asyncio.CancelledError:
        await asyncio.shield(_give_back(lease, writer))
        raise


async def _give_back(lease: Lease, writer: Writer) -> None:
    """On shutdown: what is known is written, and another worker may go on at once."""
    try:
        await writer.flush(lease)
        await writer.call(release, lease)
    except (LeaseLost, DatabaseError):
        log.warning("run %s: its lease could not be given back", lease.public_id)


@asynccontextmanager
async def _writing(writer: Writer | None) -> AsyncIterator[Writer]:
    if writer is not None:
        yield writer
        return
    async with Writer() as own:
        yield own


class _Advance:
    """One advance of one run under one lease."""

    def __init__(self, lease: Lease, writer: Writer, timing: Timing, engine: Engine) -> None:
        self.lease = lease
        self.writer = writer
        self.timing = timing
        self.engine = engine
        self.projection = Projection(lease, writer)
        self.interrupt: Callable[[], None] = lambda: None
        self.store: DjangoStore | None = None

    @property
    def progressed(self) -> bool:
        """Whether the journal has grown."""
        return self.store is not None and self.store.written > 0

    async def run(self, build_tools: BuildTools) -> Attempt:
        """The run boundary: whatever happens inside ends here as an outcome."""
        try:
            return await self._run(build_tools)
        except LeaseLost:
            return self._lost()
        except asyncio.CancelledError:
            await asyncio.shield(_give_back(self.lease, self.writer))
            raise
        except Exception as error:
            return await self._failed(error)
        finally:
            self.writer.forget(self.lease)

    async def _run(self, build_tools: BuildTools) -> Outcome:
        run = await self.writer.call(_load_run, self.lease.run_id)
        if await self.writer.call(untaken, run.pk, frozenset({Kind.CANCEL.value})):
            return await self._cancelled()
        if run.crashes > CRASHES:
            return await self._stalled()
        with woken_by_commands() as woken:
            work = asyncio.create_task(self._research(run, build_tools), name=f"research {run.pk}")
            watch = asyncio.create_task(self._watch(woken), name=f"lease {run.pk}")
            try:
                await asyncio.wait({work, watch}, return_when=asyncio.FIRST_COMPLETED)
            finally:
                await _end(watch)
                await _end(work)
        if not work.cancelled():
            return work.result()
        if watch.cancelled():
            raise RuntimeError("the engine cancelled itself")
        watch.result()
        return await self._cancelled()

    async def _research(self, run: Run, build_tools: BuildTools) -> Outcome:
        self.store = DjangoStore(self.lease, self.writer, owner_id=run.owner_id)
        resumed = bool(await self.store.load())
        await self.projection.load()
        tools = build_tools(run)
        if isinstance(tools, Awaitable):
            tools = await tools
        config = ResearchConfig.model_validate(run.config)
        journal = Journal(
            self.store,
            tools,
            Meter(config),
            self.projection.receive,
            DjangoInbox(run.pk, self.writer),
            analyst=run.analyst if resumed else _analyst(tools),
            is_outage=is_outage,
        )
        self.interrupt = journal.interrupted.set
        seed = await self.writer.call(seed_of, run)
        question = Question(run.question, run.today.isoformat(), run.agreed, seed)
        try:
            await journal.open()
            await self.engine(question, config, journal)
        except Parked:
            await self._settle()
            await self.writer.call(release, self.lease)
            return "parked"
        finally:
            await journal.close()
        return await self._finish()

    async def _watch(self, woken: asyncio.Event) -> None:
        """Keep the lease; returns when the run is to be cancelled. Raises `LeaseLost`."""
        while True:
            commands = await self.writer.call(self._beat)
            kinds = {command["kind"] for command in commands}
            if Kind.CANCEL in kinds:
                return
            if Kind.STOP in kinds:
                self.interrupt()
            await wait_at_most(woken, self.timing.heartbeat_seconds)

    def _beat(self) -> list[dict[str, object]]:
        renew(self.lease, self.timing.lease_seconds)
        return untaken(self.lease.run_id, URGENT)

    # --- how it ends -----------------------------------------------------------------------

    async def _settle(self) -> None:
        await self.writer.flush(self.lease)

    async def _finish(self) -> Outcome:
        await self._settle()
        run = await self.writer.call(_load_run, self.lease.run_id)
        if not run.ended:
            log.error("run %s: the engine returned in state %s", run.public_id, run.status)
            return await self._end_failed(UNFINISHED)
        for problem in unheard(await self.writer.call(untaken, run.pk, TAKEN)):
            self.projection.receive(problem)
        await self._settle()
        await self.writer.call(release, self.lease)
        return "done"

    async def _cancelled(self) -> Outcome:
        await self.writer.call(cancel_run, self.lease)
        log.info("run %s: cancelled", self.lease.public_id)
        return "done"

    async def _stalled(self) -> Outcome:
        await self.writer.call(stall_run, self.lease)
        log.error("run %s: stalled", self.lease.public_id)
        return "parked"

    def _lost(self) -> Outcome:
        log.warning("run %s: another worker has it now", self.lease.public_id)
        return "elsewhere"

    async def _failed(self, error: Exception) -> Attempt:
        """A lost lease may surface as any error of the engine's tasks; it is none."""
        refused = self.writer.failure(self.lease)
        if isinstance(refused, LeaseLost):
            return self._lost()
        if is_outage(refused or error):
            log.warning("run %s: outage: %s", self.lease.public_id, refused or error)
            return "outage"
        trace = error if _sentence(error) == BROKEN else None
        log.error("run %s: %s", self.lease.public_id, _sentence(error), exc_info=trace)
        try:
            if isinstance(refused or error, OperationalError):
                await self.writer.call(abandon, self.lease)
                return "elsewhere"
            return await self._end_failed(_sentence(error))
        except LeaseLost:
            return self._lost()
        except DatabaseError as failure:
            if is_outage(failure):
                return "outage"
            raise

    async def _end_failed(self, sentence: str) -> Outcome:
        await self.writer.call(fail_run, self.lease, sentence)
        return "done"


async def _end(task: asyncio.Task[object]) -> None:
    """Cancel and await, without raising what the task raised."""
    task.cancel()
    await asyncio.wait({task})


def _load_run(run_id: int) -> Run:
    return Run.objects.select_related("owner").get(pk=run_id)


def _analyst(tools: Tools) -> str:
    return "extractive" if tools.model is None else tools.model.name


def _sentence(error: BaseException) -> str:
    """What a person may read: a sentence made for people, else nothing of the inside."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if isinstance(error, ToolFailure):
        return error.reason
    return str(error) if isinstance(error, ServiceError | ConfigError) else BROKEN
