"""The engine's own steps stay within a generous multiple of their bounds, and grow slowly."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from bench import speed

GENEROUS = 5


@pytest.mark.requirement("E10")
@pytest.mark.parametrize(
    "figure", (speed.duplicate_check, speed.novelty, speed.novelty_from_scratch)
)
def test_a_step_on_words_is_quick(figure: Callable[[int], speed.Timed]) -> None:
    found = figure(20)
    assert found.median_ms <= GENEROUS * found.bound_ms


@pytest.mark.requirement("E10")
@pytest.mark.slow
def test_closing_a_round_is_quick_on_a_full_ledger_and_grows_no_faster_than_it() -> None:
    """Merging, the gates and the stop rule look at each record a fixed number of times."""
    small, full = speed.close_of_a_round(500, 10), speed.close_of_a_round(5_000, 10)
    assert full.median_ms <= GENEROUS * full.bound_ms
    assert full.median_ms <= 15 * small.median_ms
