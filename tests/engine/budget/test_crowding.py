"""Plans with few words for each sub-question, and the depth that has more."""

from __future__ import annotations

import pytest

from research.engine.budget.estimate import FEW_WORDS, find_crowding
from research.engine.config import ResearchConfig
from research.engine.limits import limits_for
from research.engine.records import Complexity, Crowding, Estimate, Plan, PlannedAspect

SIMPLE, ORDINARY, COMPLEX = Complexity


def crowding(depth: str, complexity: Complexity, parts: int, form: str = "full") -> Crowding | None:
    config = ResearchConfig(research_depth=depth)  # type: ignore[arg-type]
    aspects = tuple(PlannedAspect(f"What of {n}?", f"thing {n}") for n in range(parts))
    plan = Plan("", complexity, "en", aspects, form=form)

    def estimate(config: ResearchConfig) -> Estimate:
        words = limits_for(config, complexity, parts).words
        return Estimate((0, 0), (0, 0), (0, 0), None, words=words)

    return find_crowding(plan, config, parts, estimate)


def test_fourteen_sub_questions_are_many_for_a_standard_report() -> None:
    found = crowding("standard", COMPLEX, 14)
    assert found is not None
    assert (found.words, found.depth, found.words_there) == (120, "thorough", (250, 420))
    assert found.estimate.words == (3500, 6000)


@pytest.mark.parametrize(
    ("depth", "complexity", "parts"),
    [
        ("standard", COMPLEX, 8),
        ("standard", ORDINARY, 8),
        ("standard", ORDINARY, 6),
        ("standard", COMPLEX, 1),
        ("quick", ORDINARY, 3),
        ("quick", SIMPLE, 4),
        *(("thorough", complexity, 14) for complexity in Complexity),
    ],
)
def test_nothing_is_suggested_where_there_is_room_or_no_depth_has_more(
    depth: str, complexity: Complexity, parts: int
) -> None:
    assert crowding(depth, complexity, parts) is None


def test_a_quick_report_of_many_parts_may_become_a_standard_one() -> None:
    found = crowding("quick", ORDINARY, 6)
    assert found is not None and found.depth == "standard"
    assert found.words < FEW_WORDS <= found.words_there[1]


@pytest.mark.parametrize("form", ["shorter", "table", "memo"])
def test_a_form_with_a_length_of_its_own_is_left_alone(form: str) -> None:
    assert crowding("standard", COMPLEX, 14, form) is None


def test_without_a_model_breadth_is_left_out_of_account() -> None:
    assert crowding("standard", COMPLEX, 0) is None
