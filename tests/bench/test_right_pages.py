"""How many right pages are found, weighted to the difficulty of other questions."""

from __future__ import annotations

import pytest

from bench.right_pages import Asked, share, share_as_hard


def asked(*places: int | None) -> list[Asked]:
    return [Asked(f"q{n}", "fresh", "check", "?", place, ()) for n, place in enumerate(places)]


def test_questions_count_by_how_hard_they_are_for_the_yardstick() -> None:
    plainly = asked(0, 0, 1, 4, 5, None)
    ours = asked(0, None, 0, 1, 0, 2)
    assert share(ours, 1) == pytest.approx(3 / 6)
    assert share_as_hard(ours, plainly, 1) == pytest.approx(0.84 / 2 + 0.12 / 2 + 0.04 / 2)
    assert share_as_hard(ours, plainly, 5) == pytest.approx(0.84 / 2 + 0.12 + 0.04)


def test_the_yardstick_itself_comes_out_as_hard_as_the_bar_says() -> None:
    plainly = asked(0, 1, 2, 3, None)
    assert share_as_hard(plainly, plainly, 1) == pytest.approx(0.84)
    assert share_as_hard(plainly, plainly, 5) == pytest.approx(0.96)
