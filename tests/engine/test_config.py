from typing import Any

import pytest
from pydantic import ValidationError

from research.engine.config import ResearchConfig, knob_names
from research.engine.knobs import ConfigError, knob_extra
from research.engine.limits import limits_for
from research.engine.records import Complexity


def test_every_knob_explains_itself() -> None:
    for name, info in ResearchConfig.model_fields.items():
        assert info.description and info.description.endswith("."), name
        assert set(knob_extra(info)) == {"unit", "aliases"}


@pytest.mark.requirement("settings")
def test_no_name_means_two_knobs() -> None:
    aliases = [
        alias for i in ResearchConfig.model_fields.values() for alias in knob_extra(i)["aliases"]
    ]
    assert len(aliases) == len(set(aliases))
    assert not {name.upper() for name in ResearchConfig.model_fields} & set(aliases)


@pytest.mark.requirement("settings")
@pytest.mark.parametrize(
    "given, field, value",
    [
        ({"MAX_SEARCHES": "20"}, "max_searches", 20),
        ({"max_searches": " 20 "}, "max_searches", 20),
        ({"MAX_RESEARCHER_ITERATIONS": "7"}, "max_research_units", 7),
        ({"DEEP_RESEARCH_CONCURRENCY": "2"}, "max_concurrent_research_units", 2),
        ({"MAX_REACT_TOOL_CALLS": "2, 4, 8"}, "unit_tool_calls", (2, 4, 8)),
        ({"MAX_REACT_TOOL_CALLS": "40"}, "unit_tool_calls", (40, 40, 40)),
        ({"MAX_RESEARCHER_ROUNDS": "6"}, "adaptive_soft_depth", (6, 6, 6)),
        ({"SEARCH_KIND": "web, academic"}, "search_kind", ("web", "academic")),
        ({"SEARCH_KIND": "video"}, "search_kind", ("video",)),
        ({"SEARCH_KIND": "web,web"}, "search_kind", ("web",)),
        ({"TOPICS_PER_ROUND": "3"}, "topics_per_round", (3, 3, 3)),
        ({"MIN_SOURCES_PER_ASPECT": " 1 "}, "min_sources_per_aspect", (1, 1, 1)),
        ({"MAX_COST_USD": "none"}, "max_cost_usd", None),
        ({"MAX_COST_USD": "0.5"}, "max_cost_usd", 0.5),
        ({"ENABLE_EARLY_TERMINATION": "false"}, "enable_early_termination", False),
    ],
)
def test_knobs_are_read_from_strings(given: dict[str, str], field: str, value: object) -> None:
    assert getattr(ResearchConfig.from_strings(given), field) == value
    assert field in knob_names().values()


@pytest.mark.requirement(
    "A2",
    "A3",
    "A4",
    "A7",
    "A13",
    "A14",
    "B1",
    "B5",
    "C12",
    "C15",
    "C16",
    "C17",
    "D6",
    "E2",
    "E5",
    "E7",
    "F7",
    "settings",
)
@pytest.mark.parametrize(
    "name, default",
    [
        ("DEEP_RESEARCH_MODE", "adaptive"),
        ("ADAPTIVE_QUALITY_THRESHOLD", 7.0),
        ("ADAPTIVE_MIN_DEPTH", 1),
        ("ADAPTIVE_MAX_DEPTH", 5),
        ("MIN_IMPROVEMENT_THRESHOLD", 0.5),
        ("WEIGHT_COMPLETENESS", 0.25),
        ("WEIGHT_DEPTH", 0.25),
        ("WEIGHT_RELIABILITY", 0.25),
        ("WEIGHT_ACTIONABILITY", 0.25),
        ("TOPICS_PER_ROUND", (2, 4, 4)),
        ("DEEP_RESEARCH_BREADTH", 4),
        ("DEEP_RESEARCH_DEPTH", 2),
        ("DEEP_RESEARCH_CONCURRENCY", 4),
        ("ADAPTIVE_SOFT_DEPTH", (2, 3, 5)),
        ("MAX_RESEARCH_UNITS", 60),
        ("UNIT_TOOL_CALLS", (4, 5, 10)),
        ("RESEARCHER_SEARCH_BUDGET", 15),
        ("MAX_SEARCH_RESULTS_FOR_AGENT", 8),
        ("MAX_EVIDENCE_CLAIMS_PER_RESEARCH_UNIT", 5),
        ("MAX_SOURCE_URLS_PER_CLAIM", 5),
        ("MIN_EVIDENCE_RECORDS", None),
        ("MIN_SOURCE_DOMAINS", None),
        ("SUPERVISOR_NOTES_WORD_BUDGET", 1200),
        ("SUPERVISOR_NOTES_MAX_BULLETS", 40),
        ("ENABLE_EARLY_TERMINATION", True),
        ("MIN_NOVELTY_THRESHOLD", 0.15),
        ("DUPLICATE_TOPIC_SIMILARITY_THRESHOLD", 0.75),
        ("MAX_SECONDS", 600),
        ("MAX_LLM_CALLS", 60),
        ("MAX_TOKENS", 400_000),
        ("MAX_COST_USD", None),
        ("MAX_SEARCHES", 60),
        ("MAX_FETCHES", 120),
        ("MAX_PAGES_PER_ROUND", None),
        ("GATE_OVERVIEW_PASS_SCORE", 0.8),
        ("GATE_DEEP_PASS_SCORE", 0.7),
        ("GATE_OVERVIEW_MIN_SOURCES", 3),
        ("GATE_OVERVIEW_RELEVANCE", 0.6),
        ("ASK_WHEN_UNSURE", False),
        ("SEARCH_KIND", ("web",)),
        ("PAGE_MAX_AGE_HOURS", 24),
        ("MAX_MODEL_ATTEMPTS", 4),
        ("ENABLE_ONLINE_EVALS", False),
    ],
)
def test_what_holds_where_nothing_is_set(name: str, default: object) -> None:
    assert getattr(ResearchConfig(), knob_names()[name]) == default


def test_strings_change_a_given_config() -> None:
    base = ResearchConfig(max_searches=3, max_fetches=4)
    assert ResearchConfig.from_strings({"MAX_FETCHES": "5"}, base) == ResearchConfig(
        max_searches=3, max_fetches=5
    )


@pytest.mark.requirement("A7")
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
            "ADAPTIVE_QUALITY_THRESHOLD takes 10 or less, not '11'.",
        ),
        ({"SEARCH_KIND": "none"}, "SEARCH_KIND takes one or more of web, academic, video."),
        (
            {"SEARCH_KIND": "web,books"},
            "SEARCH_KIND takes 'web', 'academic' or 'video', not 'books'.",
        ),
        ({"UNIT_TOOL_CALLS": "many"}, "UNIT_TOOL_CALLS takes a whole number, not 'many'."),
        ({"UNIT_TOOL_CALLS": "0"}, "UNIT_TOOL_CALLS takes a number above 0, not '0'."),
        (
            {"UNIT_TOOL_CALLS": "3,5"},
            "UNIT_TOOL_CALLS takes one number, or three with commas between.",
        ),
        (
            {"UNIT_TOOL_CALLS": "none"},
            "UNIT_TOOL_CALLS takes one number, or three with commas between.",
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


@pytest.mark.requirement("A4", "C3", "C10", "D3", "D19", "E4", "E5")
@pytest.mark.parametrize(
    "complexity, expected",
    [
        (Complexity.SIMPLE, (2, 2, 4, 4, 2, 1, 1)),
        (Complexity.ORDINARY, (4, 3, 5, 8, 5, 3, 2)),
        (Complexity.COMPLEX, (4, 5, 10, 12, 8, 3, 2)),
    ],
)
def test_limits_follow_the_question(complexity: Complexity, expected: tuple[int, ...]) -> None:
    found = limits_for(ResearchConfig(), complexity)
    assert (
        found.topics_per_round,
        found.rounds,
        found.tool_calls,
        found.pages_per_round,
        found.evidence_records,
        found.independent_sites,
        found.sources_per_aspect,
    ) == expected


@pytest.mark.requirement("D19")
@pytest.mark.parametrize(
    "depth, complexity, like",
    [
        ("quick", Complexity.COMPLEX, Complexity.SIMPLE),
        ("thorough", Complexity.SIMPLE, Complexity.ORDINARY),
        ("thorough", Complexity.ORDINARY, Complexity.COMPLEX),
        ("thorough", Complexity.COMPLEX, Complexity.COMPLEX),
    ],
)
def test_a_person_may_ask_for_less_or_more_than_the_question_does(
    depth: str, complexity: Complexity, like: Complexity
) -> None:
    wished = ResearchConfig.from_strings({"RESEARCH_DEPTH": depth})
    assert limits_for(wished, complexity) == limits_for(ResearchConfig(), like)


@pytest.mark.requirement("A4", "E5")
@pytest.mark.parametrize(
    "least, most, rounds", [(1, 5, 3), (1, 2, 2), (4, 5, 4), (1, 1, 1), (5, 5, 5)]
)
def test_the_soft_end_keeps_between_minimum_and_maximum(least: int, most: int, rounds: int) -> None:
    config = ResearchConfig(adaptive_min_depth=least, adaptive_max_depth=most)
    assert limits_for(config, Complexity.ORDINARY).rounds == rounds


@pytest.mark.requirement("D3")
def test_minima_of_0_are_kept() -> None:
    config = ResearchConfig(min_evidence_records=0, min_source_domains=0)
    found = limits_for(config, Complexity.COMPLEX)
    assert (found.evidence_records, found.independent_sites) == (0, 0)


@pytest.mark.parametrize("site", ["xn--a", f"{'a' * 64}.example.org", "www.xn--a.org", "a..org"])
def test_a_site_whose_name_cannot_exist_is_refused(site: str) -> None:
    with pytest.raises(ConfigError, match="takes names of sites"):
        ResearchConfig.from_strings({"never_sites": site})


def test_a_site_may_be_named_in_any_script() -> None:
    named = ResearchConfig.from_strings({"only_sites": "bücher.example, xn--bcher-kva.example"})
    assert named.only_sites == ("bücher.example", "xn--bcher-kva.example")
