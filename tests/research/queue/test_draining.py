"""A worker that is told to stop: calls under way end, and no other begins."""

from __future__ import annotations

import asyncio

import pytest

from research.engine.config import ResearchConfig
from research.engine.journal import Journal
from research.engine.loop import Question
from research.engine.ports import ModelAnswer, ModelRequest
from research.models import JournalEntry, Run
from research.queue.processes import EmbeddedWorker
from research.worker.journal_store import CallGate
from research.worker.run_executor import Timing
from tests.research.scripts import World, asks_model

QUICK = Timing(lease_seconds=15, heartbeat_seconds=0.05, poll_seconds=0.02)


class SlowWorld(World):
    """A world whose model answers once it is allowed to."""

    def __init__(self) -> None:
        super().__init__()
        self.asked_model = asyncio.Event()
        self.may_answer = asyncio.Event()

    async def complete(self, request: ModelRequest) -> ModelAnswer:
        self.asked_model.set()
        await self.may_answer.wait()
        return await super().complete(request)


async def two_calls(question: Question, config: ResearchConfig, journal: Journal) -> None:
    await journal.model("first", 1, asks_model("first"))
    await journal.model("second", 1, asks_model("second"))


async def _stopped_during_a_call(seconds: float, *, answers: bool) -> SlowWorld:
    world = SlowWorld()
    worker = EmbeddedWorker(world.tools, timing=QUICK, engine=two_calls, drain_seconds=seconds)
    await worker.start()
    async with asyncio.timeout(10):
        await world.asked_model.wait()
    stopping = asyncio.create_task(worker.stop())
    await asyncio.sleep(0)
    if answers:
        world.may_answer.set()
    await stopping
    return world


@pytest.mark.django_db(transaction=True)
def test_a_call_under_way_is_settled_and_the_next_one_not_begun(run: Run) -> None:
    world = asyncio.run(_stopped_during_a_call(20, answers=True))
    assert world.asked == {"model first": 1}
    assert dict(JournalEntry.objects.values_list("place", "status")) == {"first": "done"}
    run.refresh_from_db()
    assert (run.lease_owner, run.lease_until, run.crashes) == ("", None, 0)


@pytest.mark.django_db(transaction=True)
def test_a_call_that_takes_longer_than_the_drain_is_broken_off(run: Run) -> None:
    asyncio.run(_stopped_during_a_call(0.05, answers=False))
    assert dict(JournalEntry.objects.values_list("place", "status")) == {"first": "pending"}
    run.refresh_from_db()
    assert (run.lease_owner, run.lease_until) == ("", None)


async def test_a_closed_gate_lets_no_further_call_begin() -> None:
    gate = CallGate()
    entered = asyncio.Event()

    async def call() -> None:
        async with gate.call():
            entered.set()

    await gate.drain(0)
    task = asyncio.create_task(call())
    await asyncio.sleep(0)
    assert not entered.is_set()
    task.cancel()


async def test_closing_waits_for_a_search_under_way() -> None:
    gate, goes_on = CallGate(), asyncio.Event()

    async def call() -> None:
        async with gate.call():
            await goes_on.wait()

    task = asyncio.create_task(call())
    await asyncio.sleep(0)
    closing = asyncio.create_task(gate.drain(20))
    await asyncio.sleep(0)
    assert not closing.done()
    goes_on.set()
    await closing
    assert task.done()
