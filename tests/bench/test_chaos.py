"""A few runs of the measurement whose model fails three times in ten."""

from __future__ import annotations

import asyncio

import pytest

from bench.chaos import measure
from bench.world.running import running_world

pytestmark = pytest.mark.subprocess

RUNS = 6


def test_runs_end_whole_and_honest_while_the_model_fails() -> None:
    with running_world(1, per_kind=2) as running:
        tally, outcomes, spoilt = asyncio.run(measure(running, RUNS, 0.3))
    assert tally.runs == tally.ended == tally.completed == RUNS
    assert tally.honest == tally.say_what_failed == RUNS
    assert sum(outcome.failed for outcome in outcomes) > 0 and len(spoilt) > 2
    assert sum(outcome.kept >= 0.9 for outcome in outcomes) >= RUNS - 1


def test_without_a_fault_nothing_is_done_by_code() -> None:
    with running_world(1, per_kind=1) as running:
        tally, outcomes, _ = asyncio.run(measure(running, 3, 0.0))
    assert tally.without_a_fault == 3
    assert all(outcome.fallbacks == {} and outcome.retries == 0 for outcome in outcomes)
