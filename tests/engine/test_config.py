from typing import Any

import pytest
from pydantic import ValidationError

from research.engine.config import ResearchConfig, names
from research.engine.knobs import ConfigError, extra
from research.engine.limits import limits
from research.engine.records import Complexity


def test_every_knob_explains_itself() -> None:
    for name, info in ResearchConfig.model_fields.items():
        assert info.description and info.description.endswith("."), name
        assert set(extra(info)) == {"unit", "aliases"}


def test_no_name_means_two_knobs() -> None:
    aliases = [alias for i in ResearchConfig.model_fields.values() for alias in extra(i)["aliases"]]
    assert len(aliases) == len(set(aliases))
    assert not {name.upper() for name in ResearchConfig.model_fields} & set(aliases)


@pytest.mark.parametrize(
    "given, field, value",
    [
        ({"MAX_SEARCHES": "20"}, "max_searches", 20),
        ({"max_searches": " 20 "}, "max_searches", 20),
        ({"MAX_RESEARCHER_ITERATIONS": "7"}, "max_research_units", 7),
        ({"DEEP_RESEARCH_CONCURRENCY": "2"}, "max_concurrent_research_units", 2),
        ({"MAX_REACT_TOOL_CALLS": "2, 4, 8"}, "unit_tool_calls", (2, 4, 8)),
        ({"MAX_COST_USD": "none"}, "max_cost_usd", None),
        ({"MAX_COST_USD": "0.5"}, "max_cost_usd", 0.5),
        ({"ENABLE_EARLY_TERMINATION": "false"}, "enable_early_termination", False),
    ],
)
def test_knobs_are_read_from_strings(given: dict[str, str], field: str, value: object) -> None:
    assert getattr(ResearchConfig.from_strings(given), field) == value
    assert field in names().values()


def test_strings_change_a_given_config() -> None:
    base = ResearchConfig(max_searches=3, max_fetches=4)
    assert ResearchConfig.from_strings({"MAX_FETCHES": "5"}, base) == ResearchConfig(
        max_searches=3, max_fetches=5
    )


@pytest.mark.parametrize(
    "given, sentence",
    [
        ({"NO_SUCH": "1", "NOR_THIS": "2"}, "There is no setting called NOR_THIS, NO_SUCH."),
        (
            {"ADAPTIVE_MIN_DEPTH": "4", "ADAPTIVE_MAX_DEPTH": "2"},
            "ADAPTIVE_MIN_DEPTH (4) is above ADAPTIVE_MAX_DEPTH (2).",
        ),
        (
            {"ADAPTIVE_QUALITY_THRESHOLD": "11"},
            "ADAPTIVE_QUALITY_THRESHOLD takes 10.0 or less, not '11'.",
        ),
        (
            {"WEIGHT_DEPTH": "0", "WEIGHT_COMPLETENESS": "0", "WEIGHT_RELIABILITY": "0",
             "WEIGHT_ACTIONABILITY": "0"},
            "one of the four dimension weights must be above 0.",
        ),
    ],
)  # fmt: skip
def test_what_cannot_be_used_is_said_in_a_sentence(given: dict[str, str], sentence: str) -> None:
    with pytest.raises(ConfigError) as refused:
        ResearchConfig.from_strings(given)
    assert str(refused.value) == sentence


def test_every_wrong_knob_is_named() -> None:
    with pytest.raises(ConfigError) as refused:
        ResearchConfig.from_strings({"MAX_SEARCHES": "many", "MAX_FETCHES": "-1"})
    assert "MAX_SEARCHES" in str(refused.value) and "MAX_FETCHES" in str(refused.value)


@pytest.mark.parametrize(
    "knobs",
    [
        {"adaptive_quality_threshold": 0},
        {"adaptive_quality_threshold": float("nan")},
        {"max_seconds": 0},
        {"max_seconds": float("inf")},
        {"topics_per_round": (0, 3, 4)},
        {"adaptive_soft_depth": (2, -3, 5)},
        {"unit_tool_calls": (3, 5)},
        {"max_tokens": -1},
        {"unheard_of": 1},
    ],
)
def test_values_out_of_range_are_refused(knobs: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        ResearchConfig(**knobs)


def test_a_config_is_frozen() -> None:
    with pytest.raises(ValidationError):
        ResearchConfig().max_searches = 3  # type: ignore[misc]


@pytest.mark.parametrize(
    "complexity, expected",
    [
        (Complexity.SIMPLE, (2, 2, 4, 4, 2, 1, 1)),
        (Complexity.ORDINARY, (4, 3, 5, 8, 5, 3, 2)),
        (Complexity.COMPLEX, (4, 5, 10, 12, 8, 3, 2)),
    ],
)
def test_limits_follow_the_question(complexity: Complexity, expected: tuple[int, ...]) -> None:
    found = limits(ResearchConfig(), complexity)
    assert (
        found.topics_per_round,
        found.rounds,
        found.tool_calls,
        found.pages_per_round,
        found.evidence_records,
        found.independent_sources,
        found.sources_per_aspect,
    ) == expected


@pytest.mark.parametrize(
    "least, most, rounds", [(1, 5, 3), (1, 2, 2), (4, 5, 4), (1, 1, 1), (5, 5, 5)]
)
def test_the_soft_end_keeps_between_minimum_and_maximum(least: int, most: int, rounds: int) -> None:
    config = ResearchConfig(adaptive_min_depth=least, adaptive_max_depth=most)
    assert limits(config, Complexity.ORDINARY).rounds == rounds


def test_minima_of_0_are_kept() -> None:
    config = ResearchConfig(min_evidence_records=0, min_source_domains=0)
    found = limits(config, Complexity.COMPLEX)
    assert (found.evidence_records, found.independent_sources) == (0, 0)
