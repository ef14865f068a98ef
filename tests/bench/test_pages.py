"""Pages over many rows, as the dashboard's suite opens them; here over few enough for a test."""

from __future__ import annotations

import pytest

from bench.dashboard import database

pytestmark = pytest.mark.subprocess

RUNS = 40


def test_no_page_asks_the_database_more_often_for_more_runs() -> None:
    filled = database.measure_pages(RUNS, times=1)
    assert (filled.runs, filled.evidence) == (RUNS, 100 * RUNS)
    grown = {page["name"]: page for page in filled.pages if page["many"] > page["few"]}
    assert grown == {}
    assert len(filled.pages) > 25
