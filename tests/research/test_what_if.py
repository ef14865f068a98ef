"""Replays under other thresholds: beside one run, and stored for many."""

from __future__ import annotations

import asyncio
from io import StringIO

import pytest
from django.contrib.auth.models import AbstractUser
from django.core.exceptions import PermissionDenied
from django.core.management import call_command

from research.models import Run, WhatIf
from research.services import ServiceError, what_if
from research.services.what_if import THRESHOLDS, store_replays, threshold_effects
from research.worker.replay import replay_run
from tests.engine.scripted import CHAIN, World, harbour
from tests.research.test_threads import asked

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.requirement("F3")]


@pytest.fixture
def world() -> World:
    return harbour(CHAIN)


@pytest.fixture
def chain(ada: AbstractUser, world: World) -> Run:
    """A run of four rounds."""
    return asked(ada, world, CHAIN.question, min_evidence_records=3)


def test_a_shorter_replay_names_the_evidence_that_it_lost(chain: Run, world: World) -> None:
    searched = len(world.web.searched)
    same = asyncio.run(replay_run(chain, {}))
    assert (same.run_evidence, same.evidence_lost) == (chain.evidence.count(), [])
    shorter = asyncio.run(replay_run(chain, {"ADAPTIVE_MAX_DEPTH": "1"}))
    later = chain.evidence.filter(round__gt=1).values_list("claim", flat=True)
    assert set(shorter.evidence_lost) == set(later) != set()
    assert len(world.web.searched) == searched


def test_the_command_shows_both_side_by_side(chain: Run) -> None:
    out = StringIO()
    call_command("replay", chain.public_id, "--set", "ADAPTIVE_MAX_DEPTH=1", stdout=out)
    lines = out.getvalue().splitlines()
    assert lines[0] == "Rounds: 1, in the run as it was: 4."
    lost = [line for line in lines if line.startswith("Evidence lost: ")]
    total = chain.evidence.count()
    assert f"Evidence kept: {total - len(lost)} of {total} records." in lines


def test_only_finished_research_is_replayed(ada: AbstractUser, bob: AbstractUser, run: Run) -> None:
    with pytest.raises(ServiceError):
        what_if.replay_with(ada, run, {})
    with pytest.raises(PermissionDenied):
        what_if.replay_with(bob, run, {})


def test_replays_of_many_runs_are_stored_once(staff: AbstractUser, chain: Run) -> None:
    assert store_replays(staff, 10) == 0
    rows = WhatIf.objects.filter(run=chain)
    assert [row.threshold for row in rows] == list(THRESHOLDS)
    assert {row.run_calls for row in rows} == {
        sum(chain.usage[name] for name in ("llm_calls", "searches", "fetches"))
    }
    before = list(rows.values_list("pk", flat=True))
    store_replays(staff, 10)
    assert list(rows.values_list("pk", flat=True)) == before
    rows.update(engine_version="older")
    assert what_if.missing_runs(10) == [chain] and threshold_effects(10) == []


def test_replays_stop_when_their_time_is_up(
    staff: AbstractUser, chain: Run, ada: AbstractUser, world: World
) -> None:
    newer = asked(ada, harbour(), "When was the Harrow Point lighthouse first lit?")
    now = iter((0.0, 0.5, 2.0))
    assert store_replays(staff, 10, seconds=1, clock=lambda: next(now)) == 1
    assert set(WhatIf.objects.values_list("run", flat=True)) == {newer.pk}


def test_only_admins_replay_the_runs_of_all(ada: AbstractUser) -> None:
    with pytest.raises(PermissionDenied):
        store_replays(ada, 10)


def made(run: Run, threshold: float, **columns: object) -> None:
    usual = {
        **{"run": run, "threshold": threshold, "engine_version": what_if.ENGINE_VERSION},
        **{"is_complete": True, "rounds": 1, "run_rounds": 2, "calls": 6, "run_calls": 10},
        **{"cost_usd": 0.06, "run_cost_usd": 0.1, "evidence_lost": 1, "run_evidence": 4},
    }
    WhatIf.objects.create(**usual | columns)


@pytest.fixture
def three_runs(ada: AbstractUser) -> list[Run]:
    from research.services import runs

    made_runs = [runs.ask_question(ada, f"Why {number}?") for number in range(3)]
    Run.objects.update(status="completed")
    return made_runs


def test_shares_are_of_the_sums_over_complete_replays(three_runs: list[Run]) -> None:
    one, two, three = three_runs
    made(one, 6.5)
    made(two, 6.5, cost_usd=0.9, run_cost_usd=0.9, evidence_lost=0, calls=30, run_calls=30)
    made(three, 6.5, is_complete=False, cost_usd=0.0)
    [effect] = threshold_effects(10)
    assert (effect.runs, effect.left_out) == (2, 1)
    assert effect.cost_saved == pytest.approx(0.04)
    assert effect.calls_saved == pytest.approx(0.1)
    assert effect.evidence_lost == pytest.approx(1 / 8)


def test_a_price_that_is_unknown_leaves_the_calls(three_runs: list[Run]) -> None:
    made(three_runs[0], 6.5)
    made(three_runs[1], 6.5, cost_usd=None)
    [effect] = threshold_effects(10)
    assert effect.cost_saved is None and effect.calls_saved == pytest.approx(0.4)


def test_the_command_prints_a_line_for_each_threshold(chain: Run) -> None:
    out = StringIO()
    call_command("what_if", "--last", "5", stdout=out)
    lines = out.getvalue().splitlines()
    assert len(lines) == len(THRESHOLDS) + 2
    assert lines[0].split()[:3] == ["threshold", "runs", "left"]
