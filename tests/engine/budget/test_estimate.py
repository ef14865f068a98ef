"""What a plan will take, worked out by hand."""

import pytest

from research.engine.budget.estimate import Reach, estimate_depth, estimate_plan
from research.engine.config import ResearchConfig
from research.engine.limits import tree_breadths
from research.engine.records import Complexity, Estimate, Plan, PlannedAspect

RATES = {"m": (1e-6, 4e-6)}


def plan(complexity: Complexity, aspects: int) -> Plan:
    named = tuple(PlannedAspect(f"What is {n}?", f"{n}") for n in range(aspects))
    return Plan("What is it?", complexity, "en", named)


@pytest.mark.requirement("A18", "F7")
def test_a_simple_question_takes_4_to_11_calls() -> None:
    """At least intake, a reading, an assessment and the report. At most intake with a question
    back, 3 topics in 2 rounds, 2 assessments, a verification and the report with its repair
    and the check of its statements.
    """
    found = estimate_plan(plan(Complexity.SIMPLE, 1), ResearchConfig(), True, RATES)
    low, high = 4 * 700, 11 * 6000
    assert found == Estimate(
        seconds=(0.05 + 4 * 1, pytest.approx(2 * 6 + 9 * 10)),
        llm_calls=(4, 11),
        tokens=(low, high),
        cost_usd=(
            pytest.approx(low * (0.9 * 1e-6 + 0.1 * 4e-6)),
            pytest.approx(high * (0.75 * 1e-6 + 0.25 * 4e-6)),
        ),
    )


@pytest.mark.requirement("A18", "F7")
@pytest.mark.parametrize(
    "complexity, aspects, calls",
    [
        (Complexity.ORDINARY, 3, (3 + 3, 2 + 3 + 2 * 4 + 3 + 1 + 3)),
        (Complexity.COMPLEX, 4, (4 + 3, 2 + 4 + 4 * 4 + 5 + 1 + 3)),
        (Complexity.COMPLEX, 9, (4 + 3, 2 + 4 + 4 * 4 + 5 + 1 + 3)),
    ],
)
def test_more_rounds_and_topics_take_more_calls(
    complexity: Complexity, aspects: int, calls: tuple[int, int]
) -> None:
    found = estimate_plan(plan(complexity, aspects), ResearchConfig(), True, RATES)
    assert found.llm_calls == calls
    assert found.tokens == (calls[0] * 700, calls[1] * 6000)


@pytest.mark.parametrize(
    "depth, reach",
    [
        ("quick", Reach((150, 390), (2, 2))),
        ("standard", Reach((300, 2000), (2, 5))),
        ("thorough", Reach((900, 6000), (3, 5))),
    ],
)
def test_a_depth_says_what_it_may_come_to(depth: str, reach: Reach) -> None:
    assert estimate_depth(ResearchConfig(research_depth=depth)) == reach


def test_sub_questions_of_a_broad_run_share_their_readings() -> None:
    """Twelve of three pages each take eight calls in a round."""
    found = estimate_plan(plan(Complexity.ORDINARY, 12), ResearchConfig(), True, RATES, parts=12)
    assert found.llm_calls == (1 + 8 + 1 + 1, 33)


@pytest.mark.requirement("A18")
def test_a_model_that_is_not_qualified_as_verifier_takes_eight_calls_more() -> None:
    simple, config = plan(Complexity.SIMPLE, 1), ResearchConfig()
    first = estimate_plan(simple, config, True, RATES, is_qualified=False)
    assert first.llm_calls == (4, 11 + 8)
    for settings in ({"enable_verifier": False}, {"model_profile": "small"}):
        without = ResearchConfig.model_validate(settings)
        assert estimate_plan(simple, without, True, RATES, is_qualified=False).llm_calls[1] < 4 + 8


@pytest.mark.requirement("A18", "F7")
def test_an_estimate_keeps_to_the_caps() -> None:
    capped = ResearchConfig(max_seconds=30, max_llm_calls=6, max_tokens=20_000, max_cost_usd=0.03)
    found = estimate_plan(plan(Complexity.SIMPLE, 1), capped, True, RATES)
    assert found.cost_usd is not None
    ends = (found.seconds[1], found.llm_calls[1], found.tokens[1], found.cost_usd[1])
    assert ends == (30, 6, 20_000, 0.03)


@pytest.mark.requirement("A18")
def test_the_dearest_model_sets_the_highest_price_and_the_cheapest_the_lowest() -> None:
    rates = {"large": (2e-6, 8e-6), "small": (1e-6, 4e-6)}
    found = estimate_plan(plan(Complexity.SIMPLE, 1), ResearchConfig(), True, rates)
    assert found.cost_usd == (pytest.approx(0.00364), pytest.approx(0.231))
    unknown = estimate_plan(plan(Complexity.SIMPLE, 1), ResearchConfig(), True, {})
    assert unknown.cost_usd is None


@pytest.mark.requirement("B2")
@pytest.mark.parametrize(
    "breadth, depth, levels",
    [(4, 2, (4, 2)), (8, 4, (8, 4, 2, 2)), (9, 2, (9, 4)), (1, 2, (1, 2)), (5, 1, (5,))],
)
def test_each_level_of_the_tree_has_half_the_breadth_of_the_one_above(
    breadth: int, depth: int, levels: tuple[int, ...]
) -> None:
    config = ResearchConfig(deep_research_breadth=breadth, deep_research_depth=depth)
    assert tree_breadths(config) == levels
