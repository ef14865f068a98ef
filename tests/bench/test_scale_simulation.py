"""The simulation of many runs against what queueing theory says."""

from __future__ import annotations

import pytest

from bench.scale_simulation import Costs, Site, simulate, table

COSTS = Costs(
    cpu_seconds=0.1, statements=10, statement_seconds=0.001, model_calls=2, model_seconds=1.0,
    searches=1, search_seconds=0.5, pages=4, pages_at_once=4, page_seconds=0.5,
)  # fmt: skip
ALONE = 0.1 + 0.01 + 2.0 + 0.5 + 0.5


def test_a_run_alone_takes_the_sum_of_its_steps() -> None:
    found = simulate(COSTS, Site(1, 1, 4), seconds=2_000)
    assert found.runs_a_minute == pytest.approx(60 / ALONE, rel=0.06)
    assert found.bottleneck == "none"


@pytest.mark.parametrize(
    ("site", "bottleneck", "a_minute"),
    [
        (Site(60, 1, 200), "processes", 60 / 0.1),
        (Site(60, 8, 4), "model", 4 * 60 / 2.0),
        (Site(40, 20, 80, database_cores=1), "none", 40 * 60 / ALONE),
    ],
)
def test_throughput_is_that_of_the_bottleneck(site: Site, bottleneck: str, a_minute: float) -> None:
    found = simulate(COSTS, site, seconds=60)
    assert found.bottleneck == bottleneck
    assert found.runs_a_minute == pytest.approx(a_minute, rel=0.1)


def test_it_is_repeatable_and_prints_a_row_for_each_site() -> None:
    sites = [Site(5, 1, 2), Site(10, 2, 2)]
    first, second = ([simulate(COSTS, site, seconds=20) for site in sites] for _ in range(2))
    assert first == second
    assert len(table(first).splitlines()) == 4
