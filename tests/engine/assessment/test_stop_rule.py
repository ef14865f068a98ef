from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from research.engine.assessment.stop_rule import Continue, Situation, Stop, decide_stop
from research.engine.config import ResearchConfig
from research.engine.records import Complexity, StopReason

GOING_ON = Situation(
    rounds=2,
    soft_end=5,
    scores=(4.0, 5.0),
    novelties=(1.0, 0.5),
    supporting=3,
    open_gaps=2,
    critical_gaps=0,
    gates_open=True,
    had_news=False,
    topics_left=3,
    units=6,
)
DONE = {"gates_open": False, "scores": (4.0, 8.0)}


def reason(config: ResearchConfig | None = None, **changes: Any) -> StopReason | None:
    decision = decide_stop(replace(GOING_ON, **changes), config or ResearchConfig())
    return decision.reason if isinstance(decision, Stop) else None


TABLE: list[tuple[dict[str, Any], StopReason | None]] = [
    ({}, None),
    ({"command": StopReason.CANCELLED}, StopReason.CANCELLED),
    ({"command": StopReason.USER_STOPPED}, StopReason.USER_STOPPED),
    ({"spent": StopReason.BUDGET_TIME}, StopReason.BUDGET_TIME),
    ({"spent": StopReason.BUDGET_CALLS}, StopReason.BUDGET_CALLS),
    ({"spent": StopReason.BUDGET_TOKENS}, StopReason.BUDGET_TOKENS),
    ({"spent": StopReason.BUDGET_COST}, StopReason.BUDGET_COST),
    ({"spent": StopReason.BUDGET_SEARCHES}, StopReason.BUDGET_SEARCHES),
    ({"spent": StopReason.BUDGET_FETCHES}, StopReason.BUDGET_FETCHES),
    ({"units": 60}, StopReason.MAX_UNITS),
    ({"units": 59}, None),
    ({"soft_end": 2}, StopReason.MAX_ROUNDS),
    ({"soft_end": 3}, None),
    ({"supporting": 0}, StopReason.NOTHING_FOUND),
    ({"supporting": 0, "rounds": 1}, None),
    ({"supporting": 0, "rounds": 1, "soft_end": 1}, StopReason.NOTHING_FOUND),
    ({"supporting": 0, "rounds": 1, "topics_left": 0}, StopReason.NOTHING_FOUND),
    ({"failing": 1, "failed": 1, "supporting": 0}, None),
    ({"failing": 1, "failed": 1, "topics_left": 0}, StopReason.PAGES_UNREADABLE),
    ({"failing": 2, "failed": 2}, None),
    ({"failing": 2, "failed": 2, "soft_end": 2}, StopReason.PAGES_UNREADABLE),
    ({"failing": 1, "failed": 1, "soft_end": 2}, StopReason.MAX_ROUNDS),
    (
        {"failing": 1, "failed": 1, "soft_end": 2, "supporting": 0},
        StopReason.PAGES_UNREADABLE,
    ),
    ({"failing": 3, "failed": 3, "rounds": 3}, StopReason.PAGES_UNREADABLE),
    ({"failed": 1, "supporting": 0}, None),
    ({"failed": 1, "supporting": 0, "soft_end": 2}, StopReason.NOTHING_FOUND),
    ({"failed": 1, "supporting": 0, "rounds": 3}, StopReason.NOTHING_FOUND),
    ({"failing": 1, "failed": 1, "novelties": (0.0, 0.0)}, None),
    ({"failing": 1, "failed": 1, "novelties": (1.0, 0.1)}, None),
    ({"failing": 1, "failed": 1, "scores": (4.0, 4.0)}, None),
    (DONE, StopReason.QUALITY_MET),
    ({"gates_open": False, "scores": (4.0, 7.0)}, StopReason.QUALITY_MET),
    ({"gates_open": False, "scores": (4.0, 6.99)}, None),
    ({"scores": (4.0, 9.0)}, None),
    ({"gates_open": False, "open_gaps": 0}, StopReason.NO_GAPS),
    ({"open_gaps": 0}, None),
    ({**DONE, "critical_gaps": 1}, None),
    ({"novelties": (0.0, 0.0)}, StopReason.STUCK),
    ({"topics_left": 0}, StopReason.STUCK),
    ({"novelties": (1.0, 0.14)}, StopReason.NO_NOVELTY),
    ({"novelties": (1.0, 0.15)}, None),
    ({"scores": (4.0, 4.49)}, StopReason.DIMINISHING_QUALITY),
    ({"scores": (4.0, 4.5)}, None),
    ({"scores": (4.0, 3.0)}, StopReason.DIMINISHING_QUALITY),
    ({"scores": (4.0, 4.0), "unanswered": 1, "novelties": (1.0, 0.3)}, None),
    (
        {"scores": (4.0, 4.0), "unanswered": 1, "novelties": (1.0, 0.29)},
        StopReason.DIMINISHING_QUALITY,
    ),
    ({"novelties": (0.0, 0.0), "had_news": True}, None),
    ({"novelties": (1.0, 0.1), "had_news": True}, None),
    ({"scores": (4.0, 4.0), "had_news": True}, None),
    ({"novelties": (0.0, 0.0), "untried_critical": True}, None),
    ({"novelties": (1.0, 0.1), "untried_critical": True}, None),
    ({"scores": (4.0, 4.0), "untried_critical": True}, None),
    ({"soft_end": 2, "untried_critical": True}, StopReason.MAX_ROUNDS),
    ({"spent": StopReason.BUDGET_CALLS, "untried_critical": True}, StopReason.BUDGET_CALLS),
    ({**DONE, "bridge": True}, None),
    ({**DONE, "unsearched": 1}, None),
    ({**DONE, "is_held": True}, None),
    ({**DONE, "is_held": True, "open_gaps": 0}, StopReason.NO_GAPS),
    ({"gates_open": False, "open_gaps": 0, "unsearched": 1}, None),
    ({"novelties": (0.0, 0.0), "unsearched": 1}, None),
    ({"soft_end": 2, "unsearched": 1}, StopReason.MAX_ROUNDS),
    ({"novelties": (0.0, 0.0), "bridge": True}, None),
    ({"supporting": 0, "bridge": True}, None),
    ({"supporting": 0, "bridge": True, "rounds": 5}, StopReason.NOTHING_FOUND),
    ({"soft_end": 2, "bridge": True}, StopReason.MAX_ROUNDS),
]


@pytest.mark.requirement("A3", "A4", "A5", "A6", "C4", "C13", "C14", "E6")
@pytest.mark.parametrize("changes, expected", TABLE)
def test_the_decision_table(changes: dict[str, Any], expected: StopReason | None) -> None:
    assert reason(**changes) is expected


def test_the_table_holds_every_reason_of_the_adaptive_mode() -> None:
    others = {StopReason.TREE_COMPLETE, StopReason.KNOWN_BEFORE}
    assert {stop for _, stop in TABLE} == {*StopReason, None} - others


# Each pair holds at once; the first named wins.
ORDER: list[tuple[dict[str, Any], StopReason]] = [
    ({"command": StopReason.CANCELLED, "spent": StopReason.BUDGET_TIME}, StopReason.CANCELLED),
    ({"command": StopReason.USER_STOPPED, "units": 60, **DONE}, StopReason.USER_STOPPED),
    ({"spent": StopReason.BUDGET_FETCHES, "units": 60}, StopReason.BUDGET_FETCHES),
    ({"units": 60, "soft_end": 2}, StopReason.MAX_UNITS),
    ({"units": 60, "supporting": 0}, StopReason.MAX_UNITS),
    ({"units": 60, "failing": 3, "failed": 3}, StopReason.MAX_UNITS),
    ({"soft_end": 2, "failing": 2, "failed": 2}, StopReason.PAGES_UNREADABLE),
    ({"soft_end": 2, "failing": 1, "failed": 1, "supporting": 0}, StopReason.PAGES_UNREADABLE),
    ({"soft_end": 2, **DONE}, StopReason.MAX_ROUNDS),
    ({"soft_end": 2, "supporting": 0}, StopReason.NOTHING_FOUND),
    ({"supporting": 0, **DONE}, StopReason.NOTHING_FOUND),
    ({**DONE, "open_gaps": 0}, StopReason.QUALITY_MET),
    ({**DONE, "novelties": (0.0, 0.0)}, StopReason.QUALITY_MET),
    ({"gates_open": False, "open_gaps": 0, "topics_left": 0}, StopReason.NO_GAPS),
    ({"novelties": (0.0, 0.0), "scores": (4.0, 4.0)}, StopReason.STUCK),
    ({"novelties": (1.0, 0.1), "scores": (4.0, 4.0)}, StopReason.NO_NOVELTY),
    ({"scores": (4.0, 4.0), "topics_left": 0}, StopReason.DIMINISHING_QUALITY),
]


@pytest.mark.parametrize("changes, first", ORDER)
def test_of_two_reasons_the_first_in_order_wins(changes: dict[str, Any], first: StopReason) -> None:
    assert reason(**changes) is first


# --- minimum depth --------------------------------------------------------------------------

DEEP = ResearchConfig(adaptive_min_depth=3)


@pytest.mark.requirement("A6", "A7", "C14")
@pytest.mark.parametrize(
    "changes",
    [
        DONE,
        {"gates_open": False, "open_gaps": 0},
        {"novelties": (0.0, 0.0)},
        {"novelties": (1.0, 0.1)},
        {"scores": (4.0, 4.0)},
    ],
)
def test_no_rule_of_quality_ends_a_run_before_its_minimum_depth(changes: dict[str, Any]) -> None:
    assert reason(**changes) is not None
    assert reason(DEEP, **changes) is None
    assert reason(ResearchConfig(adaptive_min_depth=2), **changes) is not None


@pytest.mark.requirement("A7")
@pytest.mark.parametrize(
    "changes",
    [
        {"command": StopReason.USER_STOPPED},
        {"spent": StopReason.BUDGET_TIME},
        {"units": 60},
        {"supporting": 0},
        {"topics_left": 0},
    ],
)
def test_budgets_people_and_dead_ends_override_the_minimum_depth(changes: dict[str, Any]) -> None:
    assert reason(DEEP, **changes) is not None


@pytest.mark.requirement("E7", "E14")
@pytest.mark.parametrize(
    "changes", [{"novelties": (0.0, 0.0)}, {"novelties": (1.0, 0.1)}, {"scores": (4.0, 4.0)}]
)
def test_early_ends_can_be_switched_off(changes: dict[str, Any]) -> None:
    off = ResearchConfig(enable_early_termination=False)
    assert reason(off, **changes) is None
    assert reason(off, **changes, **{k: v for k, v in DONE.items() if k not in changes}) in {
        StopReason.QUALITY_MET,
        None,
    }
    assert reason(off, topics_left=0) is StopReason.STUCK


@pytest.mark.requirement("A6")
def test_nothing_ends_early_after_the_first_round() -> None:
    first = {"rounds": 1, "scores": (2.0,), "novelties": (0.0,)}
    assert reason(**first) is None


# --- for all situations ---------------------------------------------------------------------

SITUATIONS = st.integers(1, 6).flatmap(
    lambda rounds: st.builds(
        Situation,
        rounds=st.just(rounds),
        soft_end=st.integers(1, 6),
        scores=st.tuples(*[st.floats(1, 10)] * rounds),
        novelties=st.tuples(*[st.sampled_from([0.0, 0.1, 0.15, 0.5, 1.0])] * rounds),
        supporting=st.integers(0, 3),
        open_gaps=st.integers(0, 2),
        critical_gaps=st.integers(0, 2),
        gates_open=st.booleans(),
        had_news=st.booleans(),
        topics_left=st.integers(0, 2),
        units=st.integers(1, 61),
        untried_critical=st.booleans(),
        complexity=st.sampled_from(Complexity),
        command=st.sampled_from([None, StopReason.CANCELLED, StopReason.USER_STOPPED]),
        spent=st.sampled_from([None, StopReason.BUDGET_TIME]),
    )
)


@given(SITUATIONS, st.floats(1, 10), st.floats(1, 10), st.booleans())
def test_a_higher_threshold_never_stops_earlier(
    now: Situation, one: float, other: float, early: bool
) -> None:
    low, high = (
        ResearchConfig(adaptive_quality_threshold=value, enable_early_termination=early)
        for value in sorted((one, other))
    )
    if isinstance(decide_stop(now, high), Stop):
        assert isinstance(decide_stop(now, low), Stop)


@given(SITUATIONS, st.integers(1, 5), st.integers(1, 5))
def test_a_higher_minimum_depth_never_stops_earlier(now: Situation, one: int, other: int) -> None:
    low, high = (ResearchConfig(adaptive_min_depth=value) for value in sorted((one, other)))
    if isinstance(decide_stop(now, high), Stop):
        assert isinstance(decide_stop(now, low), Stop)


@pytest.mark.requirement("A4", "E5")
@given(SITUATIONS)
def test_a_run_always_ends_at_its_soft_end(now: Situation) -> None:
    if now.rounds >= now.soft_end:
        assert isinstance(decide_stop(now, ResearchConfig()), Stop)


@given(SITUATIONS)
def test_going_on_means_that_there_is_something_to_look_for(now: Situation) -> None:
    if isinstance(decide_stop(now, ResearchConfig()), Continue):
        assert now.topics_left > 0
        assert now.units < ResearchConfig().max_research_units
        assert not now.command and not now.spent


# --- a higher threshold ---------------------------------------------------------------------

ROUNDS = st.lists(
    st.fixed_dictionaries(
        {
            "score": st.floats(1, 10),
            "novelty": st.floats(0, 1),
            "supporting": st.integers(0, 3),
            "open_gaps": st.integers(0, 2),
            "critical_gaps": st.integers(0, 1),
            "gates_open": st.booleans(),
            "had_news": st.booleans(),
            "topics_left": st.integers(0, 2),
        }
    ),
    min_size=1,
    max_size=6,
)


def stops_at(history: list[dict[str, Any]], config: ResearchConfig) -> int:
    """The first round after which the rule ends this history; one more than it has, if none."""
    for number in range(1, len(history) + 1):
        past = history[:number]
        last = {k: v for k, v in past[-1].items() if k not in {"score", "novelty"}}
        now = replace(
            GOING_ON,
            rounds=number,
            scores=tuple(each["score"] for each in past),
            novelties=tuple(each["novelty"] for each in past),
            **last,
        )
        if isinstance(decide_stop(now, config), Stop):
            return number
    return len(history) + 1


@given(ROUNDS, st.floats(1, 10), st.floats(1, 10), st.booleans())
def test_a_higher_threshold_never_ends_a_history_earlier(
    history: list[dict[str, Any]], one: float, other: float, early: bool
) -> None:
    low, high = (
        stops_at(
            history, ResearchConfig(adaptive_quality_threshold=t, enable_early_termination=early)
        )
        for t in sorted((one, other))
    )
    assert low <= high


def test_a_person_s_wish_for_more_rounds_holds_off_all_but_hard_limits() -> None:
    assert reason(**DONE, wished=3) is None
    assert reason(**DONE, wished=2) is StopReason.QUALITY_MET
    assert reason(soft_end=2, wished=3) is None
    assert reason(novelties=(0.0, 0.0), wished=3) is None
    assert reason(supporting=0, wished=3) is None
    assert reason(wished=3, spent=StopReason.BUDGET_TIME) is StopReason.BUDGET_TIME
    assert reason(wished=3, topics_left=0) is StopReason.STUCK
