"""Binomial tails and bounds of a proportion."""

from __future__ import annotations

from math import comb

CONFIDENCE = 0.95
_STEPS = 60


def upper_tail(count: int, trials: int, rate: float) -> float:
    """Return the probability of at least `count` events in `trials`, each with this rate."""
    return sum(
        comb(trials, k) * rate**k * (1 - rate) ** (trials - k) for k in range(count, trials + 1)
    )


def least_proportion(count: int, trials: int, confidence: float = CONFIDENCE) -> float:
    """Return the one-sided lower bound of a proportion by Clopper and Pearson (1934).

    0 for no trials. The bound is the rate at which `count` or more events would have the
    probability 1 - confidence; it is found by bisection.
    """
    if not count:
        return 0.0
    low, high = 0.0, 1.0
    for _ in range(_STEPS):
        middle = (low + high) / 2
        if upper_tail(count, trials, middle) < 1 - confidence:
            low = middle
        else:
            high = middle
    return low


def expected_rate(count: int, trials: int) -> float:
    """Return the rate to expect after `count` events in `trials`, by Laplace's rule."""
    return (count + 1) / (trials + 2)
