"""What people choose at the plan: instructions in words and the depth, journaled and replayed."""

from __future__ import annotations

from typing import Any

import pytest

from research.engine.journal import ParkedError
from research.engine.journal.recording import digest_of
from research.engine.records import Plan, Problem, Status
from research.engine.threads.user_commands import MOST_INSTRUCTIONS
from tests.engine.scripted import (
    CHAIN,
    SIMPLE,
    Commands,
    Oracle,
    Part,
    Script,
    Web,
    World,
    harbour,
    page,
    sections_of,
)
from tests.engine.threads.test_instructions import ADDED, RECENT, instruct, shown_to
from tests.engine.threads.test_user_commands import check_replay

pytestmark = [pytest.mark.virtual_time, pytest.mark.requirement("F6")]

ASKED: dict[str, Any] = {"agreed": False}
APPROVE = {"kind": "approve"}
REVISE = {"kind": "revise", "comment": "Only its first year."}


async def test_an_instruction_given_at_the_plan_is_shown_from_the_first_page_on() -> None:
    world = harbour(CHAIN)
    waiting = await world.ask(CHAIN.question, inbox=Commands(instruct()), **ASKED)
    assert isinstance(waiting.ended, ParkedError)
    inbox = Commands(instruct(f" {RECENT}\n"), APPROVE)
    ran = await world.ask(CHAIN.question, inbox=inbox, **ASKED)
    assert ran.state.status is Status.COMPLETED and not inbox.waiting
    assert ran.only(Plan).instructions == (RECENT,)
    assert not any(each.instructions for each in ran.rounds)
    for task in ("read", "assess", "draft"):
        assert {*shown_to(world, task)} == {f"- {RECENT}"}, task
    assert f"“{RECENT}”" in ran.report.markdown
    await check_replay(world, CHAIN.question, ran, **ASKED)


async def test_a_new_plan_is_told_of_it_and_keeps_it() -> None:
    world = harbour(SIMPLE)
    again = await world.ask(SIMPLE.question, inbox=Commands(instruct(), REVISE), **ASKED)
    assert isinstance(again.ended, ParkedError)
    assert again.only(Plan).instructions == (RECENT,)
    assert world.model is not None
    first, second = (r.prompt for r in world.model.requests if r.task == "intake")
    assert ADDED not in first
    assert sections_of(second)[ADDED[2:]].startswith(f"- {RECENT}")
    inbox = Commands(instruct("Write for laymen"), APPROVE)
    ran = await world.ask(SIMPLE.question, inbox=inbox, **ASKED)
    assert ran.only(Plan).instructions == (RECENT, "Write for laymen")
    assert shown_to(world, "draft")[-1] == f"- {RECENT}\n- Write for laymen"
    await check_replay(world, SIMPLE.question, ran, **ASKED)


async def test_those_of_the_plan_count_among_the_most() -> None:
    told = [instruct(f"Instruction {n}") for n in range(MOST_INSTRUCTIONS)]
    world = harbour(SIMPLE)
    ran = await world.ask(SIMPLE.question, inbox=Commands(*told, told[0], APPROVE), **ASKED)
    assert len(ran.only(Plan).instructions) == MOST_INSTRUCTIONS
    [problem] = [each for each in ran.of(Problem) if "instruction" in each.where]
    assert problem.message == "Not followed: it was given before."


async def test_an_approval_alone_is_journaled_as_before() -> None:
    world = harbour(SIMPLE)
    ran = await world.ask(SIMPLE.question, inbox=Commands(APPROVE), **ASKED)
    [entry] = [e for e in await ran.journal.store.load() if e.place == "person/approval/1"]
    assert digest_of(entry.answer) == digest_of(APPROVE)


# --- the depth ------------------------------------------------------------------------------

WIDE = Script(
    "What of all the ships?",
    tuple(Part(f"What of ship{n}?", f"ship{n}", (f"ship{n}",)) for n in range(12)),
    "complex",
)


def fleet() -> World:
    """Sub-questions with two pages each."""
    pages = [
        page(f"https://{site}{n}.example/", f"The ship{n} is old. It was made of oak.", f"ship{n}")
        for n in range(12)
        for site in "ab"
    ]
    return World(Web(pages), Oracle(WIDE))


async def test_a_plan_of_many_parts_names_what_a_deeper_report_takes() -> None:
    waiting = await fleet().ask(WIDE.question, **ASKED)
    plan = waiting.only(Plan)
    assert plan.crowded is not None and plan.estimate is not None
    assert (plan.crowded.depth, plan.crowded.estimate.words) == ("thorough", (3000, 5400))
    assert plan.crowded.estimate.llm_calls[1] > plan.estimate.llm_calls[1]


async def test_the_depth_chosen_with_the_approval_sets_estimate_and_limits() -> None:
    world = fleet()
    waiting = await world.ask(WIDE.question, **ASKED)
    crowded = waiting.only(Plan).crowded
    assert crowded is not None
    inbox = Commands({**APPROVE, "depth": crowded.depth})
    ran = await world.ask(WIDE.question, inbox=inbox, **ASKED)
    plan = ran.only(Plan)
    assert (plan.estimate, plan.crowded) == (crowded.estimate, None)
    assert world.model is not None and "section" in world.model.tasks
    await check_replay(world, WIDE.question, ran, **ASKED)


async def test_a_plan_that_is_made_anew_for_another_depth_may_have_more_parts() -> None:
    world, quick = fleet(), {**ASKED, "research_depth": "quick"}
    first = await world.ask(WIDE.question, **quick)
    assert len(first.only(Plan).aspects) == 6
    again = await world.ask(WIDE.question, inbox=Commands({**REVISE, "depth": "standard"}), **quick)
    assert len(again.only(Plan).aspects) == 12
    ran = await world.ask(WIDE.question, inbox=Commands(APPROVE), **quick)
    await check_replay(world, WIDE.question, ran, **quick)
