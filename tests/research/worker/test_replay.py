"""A finished run decided anew with other settings, from its journal alone."""

from __future__ import annotations

import asyncio
from io import StringIO

import pytest
from django.contrib.auth.models import AbstractUser
from django.core.management import call_command

from research.models import Run
from research.worker.replay import Cost, replay_run
from tests.engine.scripted import CHAIN, harbour
from tests.research.test_threads import asked

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.requirement("F3")
def test_other_limits_tell_what_they_would_have_changed(ada: AbstractUser) -> None:
    world = harbour(CHAIN)
    run = asked(ada, world, CHAIN.question, min_evidence_records=3)
    searched, entries = len(world.web.searched), run.journal.count()
    shorter = asyncio.run(replay_run(run, {"ADAPTIVE_MAX_DEPTH": "1"}))
    assert shorter.changed == {"ADAPTIVE_MAX_DEPTH": 1}
    assert (run.termination_reason, run.rounds.count()) == ("quality_met", 4)
    assert (shorter.termination_reason, len(shorter.rounds)) == ("max_rounds", 1)
    assert not shorter.identical
    assert (len(world.web.searched), run.journal.count()) == (searched, entries)


@pytest.mark.requirement("F3")
def test_other_limits_that_lead_on_end_where_the_record_does(ada: AbstractUser) -> None:
    run = asked(ada, harbour(CHAIN), CHAIN.question, adaptive_max_depth=1)
    longer = asyncio.run(replay_run(run, {"ADAPTIVE_MAX_DEPTH": "5"}))
    assert longer.journal_ends is not None and longer.journal_ends.startswith("round/1/")
    assert longer.termination_reason is None and not longer.identical


@pytest.mark.requirement("F3")
def test_a_replay_tells_what_it_used_beside_what_the_run_used(ada: AbstractUser) -> None:
    world = harbour(CHAIN)
    assert world.model is not None
    run = asked(ada, world, CHAIN.question, min_evidence_records=3)
    calls, (prompt, answer) = len(world.model.requests), world.model.tokens
    same = asyncio.run(replay_run(run, {}))
    assert same.used == same.run_used
    assert (same.used.llm_calls, same.used.tokens) == (calls, calls * (prompt + answer))
    assert same.used.cost_usd == pytest.approx(calls * 0.001)
    assert same.used.searches == len(world.web.searched)
    shorter = asyncio.run(replay_run(run, {"ADAPTIVE_MAX_DEPTH": "1"}))
    assert shorter.run_used == same.used
    assert 0 < shorter.used.llm_calls < calls and 0 < (shorter.used.cost_usd or 0) < calls * 0.001
    assert shorter.as_dict()["used"]["llm_calls"] == shorter.used.llm_calls


@pytest.mark.requirement("F3")
def test_the_command_prints_both_costs(ada: AbstractUser) -> None:
    run = asked(ada, harbour(CHAIN), CHAIN.question, min_evidence_records=3)
    *_, used, before = printed(run)
    calls = run.usage["llm_calls"]
    assert before.startswith(f"Used by the run as it was: {calls} model calls, {calls * 150:,} tok")
    assert before.endswith(" pages.") and f"${calls * 0.001:.4f}, " in before
    assert used == "Used: " + before.split(": ")[1]
    *_, used, again = printed(run, "--set", "ADAPTIVE_MAX_DEPTH=1")
    assert used.startswith("Used up to there: ") and again == before
    assert used.split(": ")[1] != before.split(": ")[1]


def printed(run: Run, *options: str) -> list[str]:
    out = StringIO()
    call_command("replay", run.public_id, *options, stdout=out)
    return out.getvalue().splitlines()


def test_a_price_that_nobody_knows_is_said_to_be_unknown() -> None:
    said = "1 model call, 1,200 tokens, price unknown, 2 searches, 1 page"
    assert str(Cost(1, 1200, None, 2, 1)) == said
