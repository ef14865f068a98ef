"""What the dashboard's suite measures of a reader, held to its bars."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Browser

from bench.dashboard.looking import UPDATES, look

LARGEST_SHIFT = 0.02


def test_the_first_view_holds_all_and_two_hundred_updates_take_nothing_from_a_reader(
    browser: Browser, empty_state: Path
) -> None:
    """Six sub-questions with long words, at 1280 × 720 and 390 × 844; onlookers touch nothing."""
    looked = look(browser, empty_state)
    assert set().union(*looked.below.values()) == set()
    assert looked.updates >= UPDATES
    assert looked.lost == []
    assert looked.shift <= LARGEST_SHIFT, looked.moved
    assert len(looked.onlookers) == 3
    assert max(looked.onlookers.values()) <= LARGEST_SHIFT, looked.moved
