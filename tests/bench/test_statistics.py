"""Costs at equal recall and their intervals."""

from __future__ import annotations

import pytest

from bench.comparison.statistics import (
    Point,
    bootstrap,
    cost_at,
    cost_ratio,
    known_mean,
    mean,
    percentile,
)

CURVE = [Point(4, 0.5), Point(6, 0.7), Point(8, 1.0), Point(10, 1.0)]


@pytest.mark.parametrize(
    ("recall", "cost"),
    [
        (0.3, 4),  # below the first depth
        (0.51, 4),  # equal within .01
        (0.61, 5),  # half way between two depths
        (1.0, 6 + 2 * 29 / 30),  # within .01 of the full recall, just before the third depth
    ],
)
def test_a_cost_is_read_between_the_depths(recall: float, cost: float) -> None:
    assert cost_at(CURVE, recall) == pytest.approx(cost)


def test_a_recall_that_is_never_got_costs_what_the_best_depth_does() -> None:
    assert cost_at([Point(4, 0.5), Point(6, 0.7), Point(9, 0.7)], 1.0) == 6


def test_a_curve_that_dips_is_crossed_where_it_first_rises() -> None:
    assert cost_at([Point(1, 0.5), Point(2, 0.4), Point(3, 0.8)], 0.61) == pytest.approx(2.5)


def test_the_same_costs_have_the_ratio_one_in_every_resample() -> None:
    ours = [Point(cost, 1.0) for cost in (3, 5, 9)]
    curves = [[point] for point in ours]
    assert cost_ratio(ours, curves, curves) == (1, 1, 1)


def test_a_ratio_is_of_means_and_its_interval_holds_it() -> None:
    ours = [Point(2, 1.0), Point(4, 1.0), Point(6, 1.0)] * 10
    theirs = [[Point(4, 1.0)], [Point(8, 1.0)], [Point(24, 1.0)]] * 10
    found = cost_ratio(ours, [[p] for p in ours], theirs)
    assert found.value == pytest.approx(4 / 12)
    assert found.low < found.value < found.high


def test_where_the_other_finds_less_both_are_compared_at_that() -> None:
    ours = [CURVE[2]] * 3
    assert cost_ratio(ours, [CURVE] * 3, [[Point(12, 0.71)]] * 3).value == pytest.approx(6 / 12)


def test_a_bootstrap_says_the_same_each_time_and_narrows_with_numbers() -> None:
    few, many = [float(n % 2) for n in range(10)], [float(n % 2) for n in range(1000)]

    def interval(values: list[float]) -> tuple[float, float, float]:
        return bootstrap(lambda drawn: mean(values[i] for i in drawn), len(values))

    assert interval(few) == interval(few)
    assert interval(few)[0] == interval(many)[0] == 0.5
    assert interval(many)[2] - interval(many)[1] < (interval(few)[2] - interval(few)[1]) / 5


def test_percentiles_lie_between_neighbours() -> None:
    assert percentile([3, 1, 2], 0.5) == 2
    assert percentile([1, 2], 0.95) == pytest.approx(1.95)
    assert percentile([7], 0.95) == 7


def test_what_is_not_known_has_no_share_in_a_mean() -> None:
    assert known_mean([1.0, None, 0.5]) == 0.75
    assert known_mean([None]) is None
