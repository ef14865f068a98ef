"""Ways of stopping, read off hand-made traces."""

from __future__ import annotations

from typing import Any

import pytest

from bench.bars import BARS, QUICK, Bar, bars_table
from bench.comparison.depths import covered_round, hindsight
from bench.comparison.strategies import (
    FIXED,
    Strategy,
    against,
    against_forced,
    calls,
    row,
    stop_shares,
    stopped,
    strategies,
)
from bench.suites import engine
from tests.bench.made import figures, measured

RISING = (0.5, 0.75, 1.0, 1.0, 1.0)
EARLY, LATE = measured("a", RISING, 3, stopped=2), measured("b", RISING, 3, stopped=4)
RIGHT = measured("c", RISING, 3, stopped=3, covered=1)


def named(name: str, *questions: Any) -> Strategy:
    return next(s for s in strategies(questions) if s.name == name)


def test_hindsight_is_the_first_complete_round() -> None:
    assert hindsight(RIGHT.depths) == 3


def test_without_a_complete_round_hindsight_is_the_first_with_the_most() -> None:
    assert hindsight(measured("a", (0.5, 0.75, 0.75, 0.75, 0.75), None, 1).depths) == 2
    assert hindsight(measured("a", (0.0,) * 5, None, 1).depths) == 1


def test_minima_that_come_later_than_the_facts_hold_hindsight_back() -> None:
    assert hindsight(measured("a", (1.0,) * 5, 2, 1).depths) == 2


@pytest.mark.parametrize(
    ("question", "said"), [(EARLY, "premature"), (RIGHT, "exact"), (LATE, "late")]
)
def test_a_stop_is_judged_by_the_run_that_went_on(question: Any, said: str) -> None:
    assert stopped(question, question.adaptive) == said


def test_shares_of_stops_add_up() -> None:
    shares = stop_shares([EARLY, RIGHT, LATE, RIGHT], lambda m: m.adaptive)
    assert shares == {"exact": 0.5, "premature": 0.25, "late": 0.25}


def test_the_naive_rule_stops_where_the_words_are_covered_or_at_the_end() -> None:
    naive = named("question's words covered", RIGHT)
    assert naive.pick(RIGHT).score.rounds == 1
    assert naive.pick(EARLY).score.rounds == 5


def test_random_stops_have_the_same_rounds_dealt_out_anew() -> None:
    questions = [measured(str(n), RISING, 3, stopped=1 + n % 5) for n in range(50)]
    way = named("random, same mean", *questions)
    own = [m.adaptive.score.rounds for m in questions]
    dealt = [way.pick(m).score.rounds for m in questions]
    assert sorted(own) == sorted(dealt) and own != dealt


def test_our_cost_is_measured_against_the_depth_that_finds_as_much() -> None:
    questions = [RIGHT, RIGHT]
    assert against_forced(questions, calls).value == pytest.approx(8 / (6 + 2 * 0.24 / 0.25))
    at_three_quarters = 4 + 2 * 0.24 / 0.25
    fixed = against(questions, named(FIXED, *questions), calls)
    assert fixed.value == pytest.approx(at_three_quarters / 18)


def test_a_row_leaves_out_what_is_not_known() -> None:
    found = row("x", [figures(calls=4, recall=None), figures(calls=6, recall=0.5)])
    assert (found.calls, found.evidence_recall) == (5, 0.5)
    assert row("x", [figures(recall=None)]).report_recall is None


def test_words_are_covered_by_the_quotes_up_to_a_round() -> None:
    ends = ("2026-05-01T10:01:00+00:00", "2026-05-01T10:02:00+00:00")
    quotes = [("2026-05-01T10:00:30+00:00", "The tower has a depth."),
              ("2026-05-01T10:01:30+00:00", "A survey of the harbour stands.")]  # fmt: skip
    run = {
        "evidence": [{"sources": [{"fetched_at": at, "quote": q}]} for at, q in quotes],
        "gates": [{"round": n, "gate": "evidence", "at": at} for n, at in enumerate(ends, 1)],
    }
    assert covered_round("Which tower has a depth?", run) == 1
    assert covered_round("Which survey, and which tower?", run) == 2
    assert covered_round("Which lighthouse, and which tower?", run) is None


# --- bars -------------------------------------------------------------------------------------


@pytest.mark.requirement("A18")
def test_values_hold_every_bar_of_the_engine_that_needs_no_clock() -> None:
    questions = [measured(k, RISING, 3, 3) for k in ("simple", "medium", "complex")]
    for question, kind in zip(questions, ("simple", "medium", "complex"), strict=True):
        object.__setattr__(question, "kind", kind)
    nothing = measured("none", (0.0,) * 5, None, 2)
    object.__setattr__(nothing, "kind", "unanswerable")
    values = engine.values(engine.Results((*questions, nothing), (), ()))
    timed = {"simple_wall", "medium_wall", "complex_wall", "complex_tokens", "busy_p50", "busy_p95"}
    assert {bar.key for bars in (BARS["engine"], QUICK) for bar in bars} - set(values) == timed
    assert (values["exact"], values["simple_calls"]) == (1, 8)


@pytest.mark.parametrize(
    ("compare", "below", "at", "above"),
    [("≥", False, True, True), ("≤", True, True, False), ("=", False, True, False),
     (">", False, False, True)],
)  # fmt: skip
def test_a_bar_is_reached_as_it_compares(compare: Any, below: bool, at: bool, above: bool) -> None:
    bar = Bar("x", "x", compare, 0.5)
    assert [bar.reached(value) for value in (0.4, 0.5, 0.6)] == [below, at, above]
    assert not bar.reached(None)


@pytest.mark.requirement("A18")
@pytest.mark.parametrize("bars", [BARS["engine"], QUICK], ids=["engine", "quick"])
def test_both_sizes_have_the_same_bars_of_calls(bars: tuple[Bar, ...]) -> None:
    limits = {bar.key: bar.limit for bar in bars if bar.key.endswith(("_calls", "_most"))}
    assert limits == {
        "simple_calls": 5, "simple_most": 5, "medium_calls": 8,
        "complex_calls": 15, "tied_calls": 15,
    }  # fmt: skip


def test_the_table_says_what_was_not_reached() -> None:
    bars = (Bar("a", "first", "≥", 0.5), Bar("b", "second", "≤", 3, ".0f"))
    rows = bars_table(bars, {"a": 0.25})
    assert rows == [
        ["first", "≥ 0.50", "0.25", "**not reached**"],
        ["second", "≤ 3", "–", "**not reached**"],
    ]
