"""A follow-up question that earlier findings answer is answered from them, without a search."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from research.engine.records import (
    Aspect,
    AspectState,
    Complexity,
    Evidence,
    Plan,
    PlannedAspect,
    Round,
    Source,
    Status,
    StopReason,
)
from research.engine.threads.seed import IdsUsed, Seed
from tests.engine.report.test_report import check_markers
from tests.engine.scripted import (
    DESIGNED,
    LIT,
    LIT_TOO,
    SIMPLE,
    Ran,
    World,
    harbour,
    quoted,
    sections_of,
)

pytestmark = [pytest.mark.virtual_time, pytest.mark.requirement("D13")]

EARLIER = "What is known of the Harrow Point lighthouse?"
ANSWER = "It was first lit in 1887."


def known(*answering: str, **changes: Any) -> tuple[World, dict[str, Any]]:
    """Return a world whose model names these findings of an earlier run, and that run's seed."""
    world = harbour(SIMPLE)
    assert world.model is not None
    world.model.twists["follow_up"] = lambda answer: {**answer, "answered_by": list(answering)}
    coast, register, *_ = world.web.pages.values()
    world.store.texts |= {each.sha256: each.text for each in (coast, register)}
    quotes = (coast, LIT), (register, LIT_TOO), (coast, DESIGNED)
    records = [
        Evidence(f"E{number}", quote, "A1", 1, (quoted(source, quote),), 0.9)
        for number, (source, quote) in enumerate(quotes, 1)
    ]
    seed = Seed(
        kind="follow_up",
        question=EARLIER,
        plan=Plan(EARLIER, Complexity.SIMPLE, "en", (PlannedAspect(EARLIER, EARLIER),)),
        aspects=(Aspect("A1", EARLIER, EARLIER, "plan", 0, AspectState.ANSWERED),),
        evidence=tuple(records),
        sources=tuple(
            Source(each.url, each.title, each.domain, 1, status="read")
            for each in (coast, register)
        ),
        pages=tuple(replace(each, text="") for each in (coast, register)),
        ids_used=IdsUsed(1, 3, 0),
        answer=ANSWER,
        at_once=True,
    )
    return world, {"seed": replace(seed, **changes)}


async def asked(*answering: str, **changes: Any) -> tuple[World, Ran]:
    world, given = known(*answering, **changes)
    return world, await world.ask(SIMPLE.question, **given)


def prompt_of(world: World) -> dict[str, str]:
    """Return the sections of the prompt of the task `follow_up`."""
    assert world.model is not None
    [request] = [each for each in world.model.requests if each.task == "follow_up"]
    return sections_of(request.prompt)


async def test_what_was_found_before_answers_at_once() -> None:
    world, ran = await asked("E1", "E2")
    assert ran.state.status is Status.COMPLETED
    assert ran.state.termination_reason is StopReason.KNOWN_BEFORE
    told = "Answered from 2 earlier findings, without a new search."
    assert (ran.state.termination_text, ran.state.verdict) == (told, told)
    assert (world.web.searched, ran.usage.searches, ran.usage.fetches) == ([], 0, 0)
    assert world.model is not None and not {"intake", "read", "assess"} & {*world.model.tasks}


async def test_the_report_cites_the_earlier_findings_alone() -> None:
    _, ran = await asked("E1", "E2")
    assert {record.id for record in ran.evidence} == {"E1", "E2"}
    assert {(record.round, record.aspect_id) for record in ran.evidence} == {(0, "A2")}
    cited = {label for entry in ran.report.citations for label in entry.evidence_ids}
    assert cited and cited <= {"E1", "E2"}
    assert LIT in ran.report.markdown.replace("**", "")
    check_markers(ran)
    [aspect] = ran.of(Aspect)
    assert (aspect.id, aspect.text) == ("A2", ran.state.understood_as)


async def test_what_contradicts_a_finding_comes_along() -> None:
    world, given = known("E1")
    first, *others = given["seed"].evidence
    disputed = (replace(first, contradicts=("E2",)), *others)
    ran = await world.ask(SIMPLE.question, seed=replace(given["seed"], evidence=disputed))
    assert {record.id for record in ran.evidence} == {"E1", "E2"}


async def test_the_prompt_shows_findings_and_answer() -> None:
    world, _ = await asked("E1")
    sections = prompt_of(world)
    assert sections["EARLIER ANSWER"] == ANSWER
    assert [line[:4] for line in sections["FINDINGS"].splitlines()] == ["[E1]", "[E2]", "[E3]"]
    assert "WHAT WAS FOUND" not in sections


@pytest.mark.parametrize("answering", [(), ("E9", "nonsense")], ids=["none", "unknown ids"])
async def test_what_they_do_not_answer_is_researched(answering: tuple[str, ...]) -> None:
    world, ran = await asked(*answering)
    assert ran.state.termination_reason is StopReason.QUALITY_MET
    assert world.web.searched and ran.of(Round)[-1].number
    assert world.model is not None and "intake" in world.model.tasks


async def test_unknown_ids_beside_known_ones_are_left_out() -> None:
    _, ran = await asked("E1", "E9")
    assert ran.state.termination_reason is StopReason.KNOWN_BEFORE
    assert [record.id for record in ran.evidence] == ["E1"]


async def test_only_a_plain_follow_up_is_answered_at_once() -> None:
    world, ran = await asked("E1", at_once=False)
    assert ran.state.termination_reason is StopReason.QUALITY_MET
    assert "WHAT WAS FOUND" in (sections := prompt_of(world)) and "FINDINGS" not in sections


async def test_the_fixed_mode_researches() -> None:
    world, given = known("E1")
    ran = await world.ask(SIMPLE.question, **given, deep_research_mode="fixed")
    assert ran.state.termination_reason is StopReason.TREE_COMPLETE
