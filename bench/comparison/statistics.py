"""Means, intervals, and costs at equal recall."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

SEED = 20260101
RESAMPLES = 1000
INTERVAL = 0.95
EQUAL_RECALL = 0.01


class Point(NamedTuple):
    """What a way of stopping costs, and the recall that it gets, 0-1."""

    cost: float
    recall: float


class Estimate(NamedTuple):
    """A value with its 95 % interval."""

    value: float
    low: float
    high: float


def mean(values: Iterable[float]) -> float:
    """0 of nothing."""
    numbers = list(values)
    return sum(numbers) / len(numbers) if numbers else 0.0


def known_mean(values: Iterable[float | None]) -> float | None:
    """Over the values that are known; None where none is."""
    known = [value for value in values if value is not None]
    return mean(known) if known else None


def percentile(values: Iterable[float], share: float) -> float:
    """With linear interpolation between neighbours; `share` 0-1. 0 of nothing."""
    ordered = sorted(values)
    if not ordered:
        return 0.0
    place = share * (len(ordered) - 1)
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


def bootstrap(statistic: Callable[[Sequence[int]], float], count: int) -> Estimate:
    """Return a statistic over the numbers 0…count-1 of questions, resampled with repetition.

    Paired: whatever the statistic compares, it compares on the same questions.
    """
    dice, everything = random.Random(SEED), range(count)
    drawn = sorted(statistic(dice.choices(everything, k=count)) for _ in range(RESAMPLES))
    tail = int(RESAMPLES * (1 - INTERVAL) / 2)
    return Estimate(statistic(everything), drawn[tail], drawn[-1 - tail])


def cost_at(curve: Sequence[Point], recall: float) -> float:
    """Return what a curve, in the order of its depths, costs where it first gets a recall, within
    .01.

    Between two depths the cost is interpolated. Below the first depth it is that of the first;
    where the recall is never got, that of the depth with the most.
    """
    wanted = recall - EQUAL_RECALL
    if curve[0].recall >= wanted:
        return curve[0].cost
    for before, after in pairwise(curve):
        if before.recall < wanted <= after.recall:
            share = (wanted - before.recall) / (after.recall - before.recall)
            return before.cost + share * (after.cost - before.cost)
    return max(curve, key=lambda point: (point.recall, -point.cost)).cost


def cost_ratio(
    ours: Sequence[Point], curves: Sequence[Sequence[Point]], theirs: Sequence[Sequence[Point]]
) -> Estimate:
    """Our mean cost over theirs at equal mean recall; one curve a question.

    Equal is the lower of what both get. `curves` are our own depths: where we find more than
    they ever do, our cost is that of the depth that finds as much, if it is the lower.
    """

    def ratio(drawn: Sequence[int]) -> float:
        cost, recall = centre([ours[i] for i in drawn])
        other = _curve(theirs, drawn)
        best = max(point.recall for point in other)
        if best < recall - EQUAL_RECALL:
            cost, recall = min(cost, cost_at(_curve(curves, drawn), best)), best
        return cost / cost_at(other, recall)

    return bootstrap(ratio, len(ours))


def _curve(curves: Sequence[Sequence[Point]], drawn: Sequence[int]) -> list[Point]:
    return [centre([curves[i][depth] for i in drawn]) for depth in range(len(curves[0]))]


def centre(points: Sequence[Point]) -> Point:
    return Point(mean(p.cost for p in points), mean(p.recall for p in points))
