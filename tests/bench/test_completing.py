"""A few runs of the measurement that counts how many complete while nothing fails."""

from __future__ import annotations

import pytest

from bench import completing
from bench.world.running import running_world

RUNS = 5


@pytest.mark.parametrize(
    "database",
    ["sqlite", pytest.param("postgresql", marks=pytest.mark.services("postgresql"))],
)
@pytest.mark.subprocess
def test_every_run_completes_at_four_slots(database: str) -> None:
    with running_world(1, per_kind=1) as running:
        found = completing.measure(running, database, RUNS, 4)
    assert found.others == ()
    assert (found.runs, found.completed) == (RUNS, RUNS)
    assert found.calls >= 4 * RUNS
