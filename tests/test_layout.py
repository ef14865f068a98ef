"""Modules stay few, of a readable size, and in rooms that aren't crowded (`scripts/layout.py`)."""

from __future__ import annotations

import pytest

from scripts.layout import LARGE, ROOM, SMALL, Layout, measure

TOO_LARGE = {
    "dashboard/contexts/run.py",
    "dashboard/stored_texts.py",  # a list of sentences
    "dashboard/words.py",
    "research/engine/assessment/close_round.py",
}
MOST_SMALL, MOST_IMPORTED_ONCE = 20, 89
"""These, and the names above, may only become fewer."""


@pytest.fixture(scope="module")
def layout() -> Layout:
    return measure()


def test_a_small_module_is_part_of_its_neighbour(layout: Layout) -> None:
    assert len(layout.small) <= MOST_SMALL, f"under {SMALL} lines: {layout.small}"


def test_a_module_with_one_importer_is_part_of_it(layout: Layout) -> None:
    assert len(layout.imported_once) <= MOST_IMPORTED_ONCE, layout.imported_once


def test_no_package_is_crowded(layout: Layout) -> None:
    assert layout.crowded == [], f"more than {ROOM} modules"


def test_no_other_module_is_too_large(layout: Layout) -> None:
    assert {*layout.large} <= TOO_LARGE, f"above {LARGE} lines"


def test_importers_of_names_and_of_modules_are_counted(layout: Layout) -> None:
    assert layout.importers["research/fetch/robots.py"] == {"research/fetch/fetch.py"}
    assert "research/services/runs.py" in layout.importers["research/services/sites.py"]
    assert "research/fetch/fetch.py" not in layout.importers["research/fetch/fetch.py"]
