"""Executes a claimed run until it finishes or waits for the user.

`advance_run` is the only entry point. It claims the run, replays its journal, continues from
there, and releases the run when the user has to act. If the process is killed, another worker
continues once the lease has expired.
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

from research.engine import loop
from research.engine.budget.meter import Meter
from research.engine.config import ResearchConfig
from research.engine.journal import EarlierFormError, Journal, ParkedError
from research.engine.knobs import ConfigError
from research.engine.loop import Question
from research.engine.ports import ToolFailedError, Tools
from research.engine.records import Qualification
from research.engine.threads.user_commands import TAKEN, late_commands
from research.models import Run
from research.operations.logs import current_run
from research.runtime import installation
from research.runtime.outages import Outages, is_outage
from research.runtime.program import ENGINE_VERSION
from research.runtime.source_choices import documents_alone
from research.runtime.verifier import stored_qualification
from research.services import ServiceError
from research.threads.seeds import seed_of
from research.worker.commands import BREAKING_OFF, Kind
from research.worker.fail_or_cancel import cancel_run, fail_run, stall_run
from research.worker.journal_store import (
    CallGate,
    DjangoInbox,
    DjangoStore,
    config_at_start,
    gated_tools,
    pending_commands,
)
from research.worker.leases import (
    CRASHES,
    LEASE_SECONDS,
    Lease,
    LeaseLostError,
    abandon_lease,
    claim_run,
    new_owner,
    regain_lease,
    release_lease,
    renew_lease,
)
from research.worker.notify import wait_at_most, woken_by_commands
from research.worker.projection import Projection
from research.worker.writer import Work, Writer

log = logging.getLogger(__name__)

Outcome = Literal["parked", "done", "elsewhere"]
Attempt = Literal["parked", "done", "elsewhere", "outage"]
BuildTools = Callable[[Run], Tools | Awaitable[Tools]]
Engine = Callable[[Question, ResearchConfig, Journal], Awaitable[None]]

URGENT = frozenset({Kind.CANCEL.value, Kind.STOP.value, *BREAKING_OFF})

BROKEN = "Something went wrong inside Plumbline and the run was ended; the server's log says more."
UNFINISHED = "The research ended without an outcome; the server's log says more."


@dataclass(frozen=True)
class Timing:
    """Intervals in seconds; a lease must outlast several heartbeats."""

    lease_seconds: float = LEASE_SECONDS
    heartbeat_seconds: float = 3.0
    poll_seconds: float = 0.5


USUAL = Timing()


async def advance_run(
    run_id: int,
    build_tools: BuildTools,
    *,
    lease: Lease | None = None,
    writer: Writer | None = None,
    timing: Timing = USUAL,
    engine: Engine | None = None,
    outages: Outages | None = None,
    gate: CallGate | None = None,
) -> Outcome:
    """Execute a run until it ends or waits for the user.

    Return "parked" if it waits, "done" if it has ended, "elsewhere" if another worker has it or
    will. An outage is waited out; the run then continues where its journal ends. If cancelled,
    release the run and re-raise.
    """
    outages = outages or Outages()
    failures = 0
    async with _writing(writer) as ours:
        if lease is None:
            lease = await ours.call(claim_run, run_id, new_owner(), timing.lease_seconds)
        while lease is not None:
            attempt = _Advance(lease, ours, timing, engine or loop.run_research, gate or CallGate())
            outcome = await attempt.run(build_tools)
            if outcome != "outage":
                return outcome
            failures = 1 if attempt.progressed else failures + 1
            lease = await _regained(lease, ours, timing, outages, failures)
    return "elsewhere"


async def _regained(
    lease: Lease, writer: Writer, timing: Timing, outages: Outages, failures: int
) -> Lease | None:
    """Wait for the end of an outage; return the new lease, None if another worker has the run."""
    log.warning("run %s: waiting for an outage to end", lease.public_id)
    try:
        return await outages.outlast(
            partial(writer.call, regain_lease, lease, timing.lease_seconds), failures
        )
    except asyncio.CancelledError:
        await asyncio.shield(_give_back(lease, writer))
        raise


async def _give_back(lease: Lease, writer: Writer) -> None:
    """Write what is queued and release the run, so that another worker can continue at once."""
    try:
        await writer.flush(lease)
        await writer.call(release_lease, lease)
    except (LeaseLostError, DatabaseError):
        log.warning("run %s: its lease could not be given back", lease.public_id)


@asynccontextmanager
async def _writing(writer: Writer | None) -> AsyncIterator[Writer]:
    if writer is not None:
        yield writer
        return
    async with Writer() as own:
        yield own


class _Advance:
    """One execution of one run under one lease."""

    def __init__(
        self, lease: Lease, writer: Writer, timing: Timing, engine: Engine, gate: CallGate
    ) -> None:
        self.gate = gate
        self.lease = lease
        self.writer = writer
        self.timing = timing
        self.engine = engine
        self.projection = Projection(lease, writer)
        self.journal: Journal | None = None
        self.store: DjangoStore | None = None

    @property
    def progressed(self) -> bool:
        """Return whether this execution has written journal entries."""
        return self.store is not None and self.store.written > 0

    async def run(self, build_tools: BuildTools) -> Attempt:
        """Execute the run; every error inside becomes an outcome (error boundary)."""
        current_run.set(self.lease.public_id)
        try:
            return await self._run(build_tools)
        except LeaseLostError:
            return self._lost()
        except asyncio.CancelledError:
            await asyncio.shield(_give_back(self.lease, self.writer))
            raise
        except Exception as error:  # whatever ends a run is an outcome, so that others go on
            return await self._failed(error)
        finally:
            self.writer.forget(self.lease)
            self.gate.forget(self.lease)

    async def _run(self, build_tools: BuildTools) -> Outcome:
        run = await self.writer.call(_load_run, self.lease.run_id)
        if await self.writer.call(pending_commands, run.pk, frozenset({Kind.CANCEL.value})):
            return await self._end_cancelled()
        if run.crashes > CRASHES:
            return await self._end_stalled()
        with woken_by_commands(run.pk) as woken:
            work = asyncio.create_task(self._research(run, build_tools), name=f"research {run.pk}")
            watch = asyncio.create_task(self._keep_lease(woken), name=f"lease {run.pk}")
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
        return await self._end_cancelled()

    async def _research(self, run: Run, build_tools: BuildTools) -> Outcome:
        self.store = DjangoStore(self.lease, self.writer, owner_id=run.owner_id, gate=self.gate)
        resumed = bool(await self.store.load())
        if not resumed and run.engine_version != ENGINE_VERSION:
            await self._begin_with_this_version()
        await self.projection.load()
        tools = build_tools(run)
        if isinstance(tools, Awaitable):
            tools = await tools
        tools = gated_tools(tools, self.gate)
        config = await self.writer.call(config_at_start, run)
        journal = Journal(
            self.store,
            tools,
            Meter(config),
            self.projection.receive,
            DjangoInbox(run.pk, self.writer),
            analyst=run.analyst if resumed else _analyst(tools),
            is_outage=is_outage,
        )
        self.journal = journal
        seed = await self.writer.call(seed_of, run)
        verifier = await self.writer.call(_verifier, self.projection)
        documents = documents_alone(run.sources)
        day = run.today.isoformat()
        question = Question(run.question, day, run.agreed, seed, verifier, documents)
        try:
            await journal.open()
            await self.engine(question, config, journal)
        except ParkedError:
            await self._settle()
            await self.writer.call(release_lease, self.lease)
            return "parked"
        finally:
            await journal.close()
        return await self._finish_run()

    async def _begin_with_this_version(self) -> None:
        """Leave the run, from now on, to workers that can replay the journal which begins here."""
        columns = {"engine_version": ENGINE_VERSION}
        await self.writer.write(Work(self.lease, columns=columns, visible=False))

    async def _keep_lease(self, woken: asyncio.Event) -> None:
        """Renew the lease periodically; return when a cancel command arrives.

        Raise `LeaseLostError`.
        """
        while True:
            commands = await self.writer.call(self._renew_and_poll)
            kinds = {Kind(str(command["kind"])) for command in commands}
            if Kind.CANCEL in kinds:
                return
            if self.journal is not None:
                if Kind.STOP in kinds:
                    self.journal.interrupted.set()
                for kind in BREAKING_OFF & kinds:
                    self.journal.break_off(kind)
            await wait_at_most(woken, self.timing.heartbeat_seconds)

    def _renew_and_poll(self) -> list[dict[str, object]]:
        renew_lease(self.lease, self.timing.lease_seconds)
        return pending_commands(self.lease.run_id, URGENT)

    # --- how it ends -----------------------------------------------------------------------

    async def _settle(self) -> None:
        await self.writer.flush(self.lease)

    async def _finish_run(self) -> Outcome:
        await self._settle()
        run = await self.writer.call(_load_run, self.lease.run_id)
        if not run.ended:
            log.error("run %s: the engine returned in state %s", run.public_id, run.status)
            return await self._end_failed(UNFINISHED)
        for problem in late_commands(await self.writer.call(pending_commands, run.pk, TAKEN)):
            self.projection.receive(problem)
        await self._settle()
        await self.writer.call(release_lease, self.lease)
        return "done"

    async def _end_cancelled(self) -> Outcome:
        await self.writer.call(cancel_run, self.lease)
        log.info("run %s: cancelled", self.lease.public_id)
        return "done"

    async def _end_stalled(self) -> Outcome:
        await self.writer.call(stall_run, self.lease)
        log.error("run %s: stalled", self.lease.public_id)
        return "parked"

    def _lost(self) -> Outcome:
        log.warning("run %s: another worker has it now", self.lease.public_id)
        return "elsewhere"

    async def _failed(self, error: Exception) -> Attempt:
        """Turn an error into an outcome.

        A lost lease may surface as any error of the engine's tasks; it is not a failure of the run.
        """
        refused = self.writer.failure(self.lease)
        if isinstance(refused, LeaseLostError):
            return self._lost()
        if is_outage(refused or error):
            log.warning("run %s: outage: %s", self.lease.public_id, refused or error)
            return "outage"
        trace = error if _sentence(error) == BROKEN else None
        log.error("run %s: %s", self.lease.public_id, _sentence(error), exc_info=trace)
        try:
            # Not an outage, so the run itself may be the cause: let it count as a crash, which
            # stalls the run if it happens repeatedly.
            if isinstance(refused or error, OperationalError):
                await self.writer.call(abandon_lease, self.lease)
                return "elsewhere"
            return await self._end_failed(_sentence(error))
        except LeaseLostError:
            return self._lost()
        except DatabaseError as failure:
            if is_outage(failure):
                return "outage"
            raise

    async def _end_failed(self, sentence: str) -> Outcome:
        await self.writer.call(fail_run, self.lease, sentence)
        return "done"


async def _end(task: asyncio.Task[object]) -> None:
    """Cancel and await a task without raising its error."""
    task.cancel()
    await asyncio.wait({task})


def _load_run(run_id: int) -> Run:
    return Run.objects.select_related("owner").get(pk=run_id)


def _verifier(projection: Projection) -> Qualification | None:
    """Return what is stored of the model as verifier; what a run finds out is stored under it."""
    wanted = installation.current_installation().model_settings
    projection.verifier = wanted
    return stored_qualification(wanted)


def _analyst(tools: Tools) -> str:
    return "extractive" if tools.model is None else tools.model.name


def _sentence(error: BaseException) -> str:
    """Return an error's message if it is meant for users, else a generic sentence."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if isinstance(error, ToolFailedError):
        return error.reason
    is_for_users = isinstance(error, ServiceError | ConfigError | EarlierFormError)
    return str(error) if is_for_users else BROKEN
