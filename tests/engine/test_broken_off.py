"""A model that doesn't answer: a person goes on without it while the run is planned or written."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from research.engine.budget.meter import Meter
from research.engine.config import ResearchConfig
from research.engine.journal import Journal, ParkedError
from research.engine.journal.model_calls import BROKEN_OFF
from research.engine.loop import Question, run_research
from research.engine.ports import ModelAnswer, ModelFailedError, ModelRequest
from research.engine.records import Plan, Problem, Record, Status
from tests.engine.scripted import (
    CHAIN,
    QUALIFIED,
    SIMPLE,
    TODAY,
    Commands,
    Oracle,
    Ran,
    Script,
    Web,
    World,
    harbour_pages,
)
from tests.engine.threads.test_user_commands import check_replay

pytestmark = [pytest.mark.virtual_time, pytest.mark.requirement("F6")]

PLAN, FINISH = {"kind": "plan_by_code"}, {"kind": "finish_by_code"}
REWORDED = "Until it closed in 1912, the Calder foundry was in the hands of Ruth Ansel. [E3]"
WHY = f"Done by code instead: {BROKEN_OFF}."


class Mute(Oracle):
    """Never answers some tasks; a person sends a command once the first of them waits."""

    def __init__(self, script: Script, *tasks: str) -> None:
        super().__init__(script)
        self.mute = tasks
        self.on_waiting: Callable[[], object] = lambda: None

    async def complete(self, request: ModelRequest) -> ModelAnswer:
        if request.task in self.mute:
            self.requests.append(request)
            asyncio.get_running_loop().call_later(1, self.on_waiting)
            await asyncio.Event().wait()
        return await super().complete(request)


class Muted:
    """A world whose model is mute, and the runs in it."""

    def __init__(self, script: Script, *tasks: str) -> None:
        self.model = Mute(script, *tasks)
        self.world = World(Web(harbour_pages()), self.model)

    async def ask(self, command: dict[str, Any], *others: dict[str, Any], **knobs: Any) -> Ran:
        inbox, agreed = Commands(command, *others), knobs.pop("agreed", True)
        records: list[Record] = []
        config, world = ResearchConfig(**knobs), self.world
        journal = Journal(
            world.store, world.tools(), Meter(config), records.append, inbox, world.analyst
        )
        await journal.open()
        self.model.on_waiting = lambda: journal.break_off(command["kind"])
        question = Question(self.model.script.question, TODAY, agreed, verifier=QUALIFIED)
        ran = Ran(journal, records)
        try:
            await asyncio.wait_for(run_research(question, config, journal), 300)
        except ParkedError as parked:
            ran.ended = parked
        self.left = inbox.waiting
        return ran


def done_by_code(ran: Ran) -> dict[str, str]:
    return {p.where: p.message for p in ran.of(Problem) if p.where.startswith("model, ")}


@pytest.mark.parametrize("depth", ["standard", "thorough"])
async def test_a_report_is_finished_from_what_is_there(depth: str) -> None:
    muted = Muted(CHAIN, "draft", "section")
    knobs = {"research_depth": depth}
    ran = await muted.ask(FINISH, **knobs)
    assert ran.state.status is Status.COMPLETED and not muted.left
    assert {*done_by_code(ran).values()} == {WHY} and "“" in ran.report.markdown
    assert muted.model.tasks.count("draft") + muted.model.tasks.count("section") >= 1
    assert not {"summary", "verify", "last_look"} & {*muted.model.tasks}
    assert "model" not in ran.usage.failures
    await check_replay(muted.world, CHAIN.question, ran, **knobs)


async def test_what_nothing_vouches_for_is_quoted_where_the_check_is_broken_off() -> None:
    muted, plain = Muted(CHAIN, "verify"), Muted(CHAIN)
    muted.model.twists["draft"] = plain.model.twists["draft"] = _reword
    checked, ran = await plain.ask(FINISH), await muted.ask(FINISH)
    assert done_by_code(ran) == {"model, verify": WHY}
    before, after = checked.report.checks, ran.report.checks
    assert before and before.verifier == "believed"
    assert after and (after.verifier, after.by_model) == ("failed", 0)
    assert after.by_code and after.quoted_instead
    await check_replay(muted.world, CHAIN.question, ran)


async def test_a_report_that_is_wanted_at_once_is_not_sent_back_to_research() -> None:
    muted, plain = Muted(SIMPLE, "verify"), Muted(SIMPLE)
    muted.model.twists["draft"] = plain.model.twists["draft"] = _overstate
    sent_back, ran = await plain.ask(FINISH), await muted.ask(FINISH)
    assert (len(sent_back.rounds), len(ran.rounds)) == (2, 1)
    await check_replay(muted.world, SIMPLE.question, ran)


async def test_a_plan_is_made_by_code_and_the_model_does_the_rest() -> None:
    muted = Muted(SIMPLE, "intake")
    ran = await muted.ask(PLAN)
    assert done_by_code(ran) == {"model, intake": WHY} and not muted.left
    assert [each.text for each in ran.only(Plan).aspects] == [SIMPLE.question]
    assert {"read", "draft"} <= {*muted.model.tasks}
    await check_replay(muted.world, SIMPLE.question, ran)


async def test_the_model_is_asked_again_when_the_plan_is_sent_back() -> None:
    muted = Muted(SIMPLE, "intake")
    first = await muted.ask(PLAN, agreed=False)
    assert isinstance(first.ended, ParkedError) and not muted.left
    assert first.state.status is Status.AWAITING_APPROVAL
    muted.model.mute = ()
    second = await muted.ask({"kind": "revise", "comment": "Try again"}, agreed=False)
    assert isinstance(second.ended, ParkedError)
    assert [each.text for each in second.only(Plan).aspects] == [
        part.question for part in SIMPLE.parts
    ]


async def test_it_does_nothing_in_another_stage_than_its_own() -> None:
    muted = Muted(SIMPLE, "read")
    ran = await muted.ask(FINISH, max_seconds=60)
    assert WHY not in done_by_code(ran).values() and muted.left == [FINISH]


async def test_a_wait_before_another_attempt_is_broken_off_too() -> None:
    muted = Muted(SIMPLE)
    muted.model.faults["draft"] = [ModelFailedError("It is busy.", retry_after_seconds=20)]
    original: Callable[[ModelRequest], Awaitable[ModelAnswer]] = muted.model.complete
    seconds: list[float] = []

    async def complete(request: ModelRequest) -> ModelAnswer:
        loop = asyncio.get_running_loop()
        if request.task == "draft":
            seconds.append(loop.time())
            loop.call_later(1, muted.model.on_waiting)
        return await original(request)

    muted.model.complete = complete  # type: ignore[method-assign]
    ran = await muted.ask(FINISH)
    assert muted.model.tasks.count("draft") == 1
    assert done_by_code(ran)["model, draft"] == WHY
    assert asyncio.get_running_loop().time() - seconds[0] < 15


def _reword(draft: dict[str, Any]) -> dict[str, Any]:
    told = [REWORDED if "[E3]" in each else each for each in draft["statements"]]
    return {**draft, "statements": told}


def _overstate(draft: dict[str, Any]) -> dict[str, Any]:
    told = [each.replace("was first lit", "began to shine") for each in draft["statements"]]
    return {**draft, "statements": told}
