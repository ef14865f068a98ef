"""Instructions in a person's own words: shown to the model from a round's end on, and replayed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from research.engine.journal import ParkedError, recording
from research.engine.journal.forms import Form
from research.engine.records import Aspect, Gap, Plan, Problem, Status, StopReason
from research.engine.threads.user_commands import MOST_INSTRUCTIONS, late_commands
from tests.engine.rounds.test_verification import KNOBS, QUESTION, tower
from tests.engine.scripted import (
    CHAIN,
    SIMPLE,
    Answer,
    Commands,
    Oracle,
    World,
    harbour,
    lines_of,
    page,
    sections_of,
)
from tests.engine.threads.test_user_commands import Later, check_replay

pytestmark = [pytest.mark.virtual_time, pytest.mark.requirement("F6")]

RECENT = "Only sources since 2023"
ADDED = "# ADDED BY THE ASKER"
MISSING = "Restoration of its lamp room after the storm"


def instruct(text: str = RECENT) -> dict[str, Any]:
    return {"kind": "instruct", "text": text}


class During(Commands):
    """What it holds comes once research has begun."""

    async def take(self, kinds: frozenset[str]) -> list[dict[str, Any]]:
        return [] if kinds == {"instruct"} else await super().take(kinds)


def shown_to(world: World, task: str) -> list[str]:
    """Return the instructions that each prompt of a task shows."""
    assert world.model is not None
    prompts = [sections_of(r.prompt) for r in world.model.requests if r.task == task]
    return [each.get(ADDED[2:], "").partition("\nThe asker")[0] for each in prompts]


def miss_something(world: World) -> None:
    """The model finds something missing in the first assessment that shows an instruction."""
    model = world.model
    assert model is not None
    told: list[str] = []

    def assess(answer: Answer) -> Answer:
        if told or ADDED not in model.requests[-1].prompt:
            return answer
        told.append(RECENT)
        gap = {"text": MISSING, "sub_question": "A1", "query": MISSING, "critical": True}
        return {**answer, "ready": False, "gaps": [*answer["gaps"], gap]}

    model.twists["assess"] = assess


async def test_an_instruction_is_shown_from_the_end_of_the_round_on() -> None:
    world = harbour(CHAIN)
    ran = await world.ask(CHAIN.question, inbox=During(instruct(f"  {RECENT}\n")))
    assert ran.state.status is Status.COMPLETED and len(ran.rounds) > 1
    assert [each.instructions for each in ran.rounds[:2]] == [(RECENT,), ()]
    first, anew, *later = shown_to(world, "assess")
    assert (first, anew, {*later}) == ("", f"- {RECENT}", {f"- {RECENT}"})
    reads = shown_to(world, "read")
    assert reads[0] == "" and reads[-1] == f"- {RECENT}"
    assert shown_to(world, "draft")[-1] == f"- {RECENT}"
    assert f"Instructions during the research: “{RECENT}”" in ran.report.markdown
    await check_replay(world, CHAIN.question, ran)


async def test_what_is_told_during_planning_is_followed_from_the_first_page_on() -> None:
    world = harbour(CHAIN)
    inbox = Commands(instruct())
    ran = await world.ask(CHAIN.question, inbox=inbox)
    assert ran.only(Plan).instructions == (RECENT,) and not inbox.waiting
    assert not any(each.instructions for each in ran.rounds)
    for task in ("read", "assess", "draft"):
        assert {*shown_to(world, task)} == {f"- {RECENT}"}, task
    await check_replay(world, CHAIN.question, ran)


async def test_a_run_of_an_earlier_form_follows_it_from_the_first_round_s_end_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(recording, "NEWEST", Form.REPAIRED)
    world = harbour(CHAIN)
    ran = await world.ask(CHAIN.question, inbox=Commands(instruct()))
    assert ran.rounds[0].instructions == (RECENT,)
    await check_replay(world, CHAIN.question, ran)


async def test_prompts_without_an_instruction_have_no_word_of_it() -> None:
    world = harbour(CHAIN)
    ran = await world.ask(CHAIN.question)
    assert world.model is not None
    assert not any("ADDED BY" in request.prompt for request in world.model.requests)
    assert "Instructions during" not in ran.report.markdown


async def test_where_nothing_is_missing_by_it_only_the_report_follows_it() -> None:
    world = harbour(SIMPLE)
    ran = await world.ask(SIMPLE.question, inbox=During(instruct("Write for laymen")))
    assert len(ran.rounds) == 1
    assert shown_to(world, "assess") == ["", "- Write for laymen"]
    assert shown_to(world, "draft")[-1] == "- Write for laymen"
    await check_replay(world, SIMPLE.question, ran)


@pytest.mark.parametrize("most", [1, 4])
async def test_what_is_missing_by_it_gets_a_further_round(most: int) -> None:
    """Also where the rounds are used up, as for a topic that is added."""
    world = harbour(SIMPLE)
    miss_something(world)
    knobs = {"adaptive_max_depth": most}
    ran = await world.ask(SIMPLE.question, inbox=During(instruct()), **knobs)
    assert [MISSING in each.topics for each in ran.rounds[:2]] == [False, True]
    assert [gap.text for gap in ran.of(Gap)] == [MISSING]
    await check_replay(world, SIMPLE.question, ran, **knobs)


async def test_an_assessment_that_fails_leaves_the_round_as_it_was_judged() -> None:
    world = harbour(SIMPLE)
    assert world.model is not None
    model = world.model
    model.raw["assess"] = lambda text: text if ADDED not in model.requests[-1].prompt else "?"
    ran = await world.ask(SIMPLE.question, inbox=During(instruct()))
    assert len(ran.rounds) == 1 and ran.rounds[0].reasoning == "0 parts are missing."


async def test_a_stop_beside_it_is_obeyed_and_the_report_follows_it() -> None:
    world = harbour(CHAIN)
    ran = await world.ask(CHAIN.question, inbox=During(instruct(), {"kind": "stop"}))
    assert ran.state.termination_reason is StopReason.USER_STOPPED
    assert len(shown_to(world, "assess")) == 1
    assert shown_to(world, "draft")[-1] == f"- {RECENT}"


async def test_what_is_told_during_a_pause_is_followed_when_it_ends() -> None:
    world = harbour(CHAIN)
    paused = await world.ask(CHAIN.question, inbox=Commands({"kind": "pause"}))
    assert isinstance(paused.ended, ParkedError)
    ran = await world.ask(CHAIN.question, inbox=Commands({"kind": "resume"}, instruct()))
    assert ran.rounds[0].instructions == (RECENT,)
    assert shown_to(world, "assess")[1] == f"- {RECENT}"
    await check_replay(world, CHAIN.question, ran)


async def test_what_is_told_while_claims_are_verified_is_judged_then() -> None:
    world = tower()
    miss_something(world)
    ran = await world.ask(QUESTION.question, inbox=Later(instruct()), **KNOBS)
    assert ran.rounds[1].instructions == (RECENT,)
    assert MISSING in ran.rounds[2].topics
    await check_replay(world, QUESTION.question, ran, **KNOBS)


async def test_what_is_told_while_the_run_asks_steers_the_very_next_round() -> None:
    world = harbour(CHAIN)
    miss_something(world)
    knobs = {"agreed": False, "ask_when_unsure": True, "adaptive_max_depth": 1}
    await world.ask(CHAIN.question, inbox=Commands({"kind": "approve"}), **knobs)
    inbox = Commands(instruct(), {"kind": "resume"})
    ran = await world.ask(CHAIN.question, inbox=inbox, **knobs)
    assert MISSING in ran.rounds[1].topics


async def test_several_are_shown_oldest_first_and_no_more_than_fit() -> None:
    told = [instruct(f"Instruction {n}") for n in range(MOST_INSTRUCTIONS + 1)]
    world = harbour(SIMPLE)
    ran = await world.ask(SIMPLE.question, inbox=Commands(*told, told[0]))
    listed = "\n".join(f"- Instruction {n}" for n in range(MOST_INSTRUCTIONS))
    assert shown_to(world, "draft")[-1] == listed
    assert [(p.where, p.message) for p in ran.of(Problem)] == [
        ("your instruction “Instruction 6”", "Not followed: there are 6 already."),
        ("your instruction “Instruction 0”", "Not followed: it was given before."),
    ]


async def test_a_run_without_a_model_refuses_it_aloud() -> None:
    world = harbour()
    ran = await world.ask(SIMPLE.question, inbox=Commands(instruct()))
    [problem] = [each for each in ran.of(Problem) if each.where.startswith("your instruction")]
    assert problem.message == "Not followed: this run has no model to read it."
    assert not any(each.instructions for each in ran.rounds)


async def test_a_tree_of_a_fixed_size_leaves_it_alone() -> None:
    inbox = Commands(instruct())
    world = harbour(SIMPLE)
    ran = await world.ask(SIMPLE.question, inbox=inbox, deep_research_mode="fixed")
    assert inbox.waiting == [instruct()] and not any(each.instructions for each in ran.rounds)


def test_one_that_comes_too_late_is_told_among_the_problems() -> None:
    [problem] = late_commands([instruct(f" {RECENT} ")])
    assert (problem.where, problem.message) == (
        f"your instruction “{RECENT}”",
        "Not followed: the research had ended.",
    )


async def test_an_address_that_it_names_may_be_looked_for() -> None:
    """What a page alone names is hidden; what the asker names is not."""
    world = harbour(SIMPLE)
    miss_something(world)
    assert world.model is not None
    query = "lighthouse opening hours at tides.example"
    world.web.pages["https://tides.example/"] = page("https://tides.example/", "Tides.")
    twist = world.model.twists["assess"]

    def assess(answer: Answer) -> Answer:
        gaps = twist(answer)["gaps"]
        return {**answer, "ready": not gaps, "gaps": [{**g, "query": query} for g in gaps]}

    world.model.twists["assess"] = assess
    ran = await world.ask(SIMPLE.question, inbox=Commands(instruct("Look at tides.example")))
    assert [gap.query for gap in ran.of(Gap)] == [query]


class SmallOracle(Oracle):
    """Answers the short prompts of small models."""

    def _intake(self, sections: Mapping[str, str]) -> Answer:
        return {"query": "Harrow Point lighthouse first lit", "parts": []}

    def _read(self, sections: Mapping[str, str]) -> Answer:
        lines = lines_of(sections["PAGES"])
        told = [(n, text) for n, _, text in lines if "first lit" in text]
        return {"findings": [{"sentence": int(n), "claim": text} for n, text in told]}

    def _assess(self, sections: Mapping[str, str]) -> Answer:
        return {"enough": False, "missing": "Its builder", "query": "lighthouse Edda Marlow"}

    def _draft(self, sections: Mapping[str, str]) -> Answer:
        return {
            "statements": [
                {"text": text, "evidence": [i]} for i, _, text in lines_of(sections["EVIDENCE"])
            ]
        }


PRICES = "Ticket prices for families"


@pytest.mark.parametrize("is_told", [True, False])
async def test_a_sub_question_may_come_of_its_words(is_told: bool) -> None:
    """What shares no word with the question, the plan or an instruction changes the subject."""
    world = harbour(SIMPLE)
    assert world.model is not None
    gap = {"text": PRICES, "sub_question": "", "query": PRICES, "critical": True}
    model = world.model
    model.twists["assess"] = lambda answer: (
        answer
        if is_told and ADDED not in model.requests[-1].prompt
        else {**answer, "ready": False, "gaps": [gap]}
    )
    inbox = Commands(*[instruct(f"I care about {PRICES.lower()}")] * is_told)
    ran = await world.ask(SIMPLE.question, inbox=inbox)
    assert (PRICES in {aspect.text for aspect in ran.of(Aspect)}) == is_told


async def test_a_small_model_is_shown_it_too() -> None:
    world = harbour()
    world.model = SmallOracle(SIMPLE)
    inbox = Commands(instruct(), {"kind": "dig_deeper", "rounds": 1})
    ran = await world.ask(SIMPLE.question, inbox=inbox, model_profile="small")
    assert ran.state.status is Status.COMPLETED
    for task in ("assess", "read", "draft"):
        assert shown_to(world, task)[-1] == f"- {RECENT}", task


async def test_a_report_in_sections_follows_it_in_each_and_in_its_summary() -> None:
    world, thorough = harbour(CHAIN), {"research_depth": "thorough"}
    ran = await world.ask(CHAIN.question, inbox=Commands(instruct()), **thorough)
    assert ran.state.status is Status.COMPLETED
    for task in ("section", "summary"):
        assert {*shown_to(world, task)} == {f"- {RECENT}"}, task
