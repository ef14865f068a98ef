import random
from statistics import median

import pytest

from bench.fitting import BEST, ORDINARY, Asked, fitted


def asked(seed: int) -> Asked:
    """Twenty passages of which the one with the most of the second sign is right."""
    rolled = random.Random(seed)
    rows = [[rolled.random(), rolled.random(), 0.5] for _ in range(20)]
    best = max(rows, key=lambda row: row[1])
    return rows, [row is best for row in rows]


def test_the_sign_that_marks_right_passages_gets_the_weight() -> None:
    _, weights = fitted([asked(seed) for seed in range(30)])
    assert weights[1] > 5 * abs(weights[0])
    assert weights[2] == pytest.approx(0)


def test_scores_are_scaled_to_the_range_of_the_thresholds() -> None:
    every = [asked(seed) for seed in range(30)]
    base, weights = fitted(every)

    def score(row: list[float]) -> float:
        return base + sum(w * x for w, x in zip(weights, row, strict=True))

    scores = [[score(row) for row in rows] for rows, _ in every]
    assert median(map(max, scores)) == pytest.approx(BEST)
    assert median(map(median, scores)) == pytest.approx(ORDINARY)
