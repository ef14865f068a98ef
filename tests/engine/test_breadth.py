"""Limits, budget and plan of a run by its depth and the number of its sub-questions."""

import pytest

from research.engine.budget.estimate import estimate_plan
from research.engine.budget.meter import report_calls, sections_within
from research.engine.config import ResearchConfig
from research.engine.limits import MOST_PARTS, limits_for, wanted_words
from research.engine.records import Complexity, Plan, PlannedAspect
from tests.engine.scripted import CHAIN, harbour

QUICK = ResearchConfig(research_depth="quick")
STANDARD = ResearchConfig()
THOROUGH = ResearchConfig(research_depth="thorough")
COMPLEX = Complexity.COMPLEX


@pytest.mark.parametrize("complexity", Complexity)
@pytest.mark.parametrize("parts", [1, 3, 6])
def test_up_to_six_sub_questions_change_nothing_of_a_standard_run(
    complexity: Complexity, parts: int
) -> None:
    assert limits_for(STANDARD, complexity, parts) == limits_for(STANDARD, complexity)


def test_more_sub_questions_are_all_looked_for_in_each_of_fewer_rounds() -> None:
    usual, wide = limits_for(STANDARD, COMPLEX), limits_for(STANDARD, COMPLEX, 12)
    assert (usual.topics_per_round, wide.topics_per_round) == (4, 12)
    assert (usual.rounds, wide.rounds, wide.sections) == (5, 3, 1)
    assert wide.notes > usual.notes


def test_a_thorough_run_reads_more_and_has_a_section_for_each_sub_question() -> None:
    wide = limits_for(THOROUGH, COMPLEX, 12)
    assert (wide.topics_per_round, wide.sections, wide.directions) == (12, 12, 12)
    assert (wide.pages_per_topic, wide.results, wide.long_page) == (6, 2, 2)
    assert wide.least_rounds == 2 and wide.evidence_records == 36
    assert limits_for(THOROUGH, COMPLEX, 2).sections == 1


def test_a_quick_run_touches_every_sub_question() -> None:
    assert limits_for(QUICK, COMPLEX, 6).topics_per_round == 6
    assert limits_for(QUICK, COMPLEX, 1).topics_per_round == 2


@pytest.mark.parametrize(
    "depth, parts, least, most",
    [("quick", 12, 150, 390), ("standard", 5, 900, 1500), ("standard", 11, 1100, 1870),
     ("standard", 14, 1300, 2000), ("thorough", 12, 3000, 5400),
     ("thorough", 1, 900, 1500), ("thorough", 14, 3500, 6000)],
)  # fmt: skip
def test_the_length_follows_depth_and_breadth(
    depth: str, parts: int, least: int, most: int
) -> None:
    assert wanted_words(depth, COMPLEX, parts) == (least, most)


def test_sections_are_reserved_and_given_up_where_they_take_over_half_of_a_budget() -> None:
    rates = {"research": (1e-6, 4e-6)}
    assert report_calls(12) == report_calls() + 12
    assert sections_within(THOROUGH, 12, rates) == 12
    for small in ({"max_llm_calls": 29}, {"max_tokens": 190_000}, {"max_cost_usd": 0.2}):
        config = ResearchConfig(research_depth="thorough", **small)
        assert sections_within(config, 12, rates) == 1


def test_an_estimate_says_what_the_report_will_hold() -> None:
    named = tuple(PlannedAspect(f"What is {n}?", f"{n}") for n in range(10))
    plan = Plan("What is it?", COMPLEX, "en", named)
    found = estimate_plan(plan, THOROUGH, True, {}, parts=10)
    assert found.words == (2500, 4500) and found.sources == (10, 60)
    assert found.llm_calls[1] >= 10 + 10
    assert estimate_plan(plan, THOROUGH, False, {}).words is None


async def test_a_plan_has_up_to_fourteen_sub_questions_but_six_in_a_quick_run() -> None:
    many = [f"What of {number}?" for number in range(20)]

    async def planned(**knobs: str) -> int:
        world = harbour(CHAIN)
        assert world.model is not None
        world.model.twists["intake"] = lambda answer: {
            **answer, "sub_questions": many, "queries": many,
        }  # fmt: skip
        ran = await world.ask(CHAIN.question, **knobs)
        [plan] = [record for record in ran.records if isinstance(record, Plan)][-1:]
        return len(plan.aspects)

    assert await planned() == MOST_PARTS
    assert await planned(research_depth="quick") == 6


@pytest.mark.parametrize(
    ("parts", "made"),
    [(6, "table"), (7, "full")],
)
async def test_a_question_of_more_parts_than_columns_gets_no_mere_table(
    parts: int, made: str
) -> None:
    named = [f"What of {number}?" for number in range(parts)]
    world = harbour(CHAIN)
    assert world.model is not None
    world.model.twists["intake"] = lambda answer: {
        **answer, "sub_questions": named, "queries": named, "form": "table",
    }  # fmt: skip
    ran = await world.ask(CHAIN.question)
    plan = [record for record in ran.records if isinstance(record, Plan)][-1]
    assert plan.form == made
