"""What each rule is worth: the table names every rule, and counts what changed."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from bench.comparison import begun
from bench.comparison.ablation import Ablated, Ablation, Outcome, Setting, ablate, rows
from bench.comparison.begun import Begun, Spent
from bench.comparison.rules import ABLATIONS
from bench.comparison.running import Bench
from bench.suites.ablation import idle
from bench.world.running import running_world
from research.engine import StopReason

pytestmark = pytest.mark.subprocess

KEPT = Outcome("quality_met", "completed", 2, 7, 4, 12, 8, 1.0, 8.0, "a")


def test_every_reason_to_stop_is_taken_out_once() -> None:
    """Without one: only follow-up questions have it, and no rule decides on it."""
    named = [a.rule.removeprefix("stop: ") for a in ABLATIONS if a.rule.startswith("stop: ")]
    assert sorted(named) == sorted({*StopReason} - {StopReason.KNOWN_BEFORE})


def test_every_gate_is_taken_out_once() -> None:
    rules = [ablation.rule for ablation in ABLATIONS]
    for gate in (
        "gate 1, overview",
        "gate 2, deep research",
        "evidence gate",
        "gate 3, ready for the report",
        "draft gate",
    ):
        assert rules.count(gate) == 1
    assert len(set(rules)) == len(rules)


async def test_the_engine_decides_by_the_rules_of_a_variant() -> None:
    """A rule that the engine doesn't look at could be replaced, and nothing would come of it."""
    looked_at = ("what a gate lacks is looked for", "cap: sub-questions",
                 "a round that does not fit is not begun")  # fmt: skip
    names = (*looked_at, "stop: budget_searches", "stop: cancelled", "gate 1, overview")
    chosen = [a for a in ABLATIONS if a.rule in names]
    again = Ablation("nothing is taken out", (Setting(),))
    with running_world(3, per_kind=1) as running:
        async with Bench.open(running) as bench:
            found = {row.rule: row for row in rows(await ablate(bench, [*chosen, again]))}
    assert "gate 1, overview" not in found, "its condition is another web"
    assert found["stop: budget_searches"].changed
    assert "recall +" in found["stop: budget_searches"].how
    assert "cancelled → completed (4)" in found["stop: cancelled"].how
    assert not found["nothing is taken out"].changed
    assert idle([found[rule] for rule in looked_at]) == []


def test_on_a_web_of_lone_pages_gate_1_asks_for_more() -> None:
    [gate] = [a for a in ABLATIONS if a.rule == "gate 1, overview"]

    async def measured() -> list[Ablated]:
        with running_world(141, per_kind=1, supply="lone pages") as running:
            async with Bench.open(running) as bench:
                return await ablate(bench, [gate])

    [row] = rows(asyncio.run(measured()))
    assert row.changed == 1
    assert "rounds -1.0" in row.how


def test_a_row_says_what_changed_and_no_more() -> None:
    def row(**changes: object) -> str:
        lost = replace(KEPT, **changes)  # type: ignore[arg-type]
        same = Ablated("a rule", Setting(), KEPT, KEPT)
        [found] = rows([same, Ablated("a rule", Setting(), KEPT, lost)])
        assert (found.questions, found.changed) == (2, 1)
        return found.how

    assert row(reason="no_gaps", rounds=1) == "quality_met → no_gaps (1); rounds -1.0"
    assert row(recall=0.75, report="b") == "recall -0.25"
    assert row(report="b") == "only what the report says"


def test_a_rule_is_idle_where_none_of_its_conditions_changes_anything() -> None:
    other = Setting(supply="copied")
    lost = replace(KEPT, rounds=3)
    found = [
        Ablated("acts", Setting(), KEPT, KEPT),
        Ablated("acts", other, KEPT, lost),
        Ablated("idle", Setting(), KEPT, KEPT),
    ]
    assert idle(list(rows(found))) == ["idle"]


def test_a_condition_is_named_by_what_is_not_ordinary() -> None:
    tight = Setting("oracle-always-stop", {"topics_per_round": (1, 1, 1)}, "lone pages", ("stop",))
    assert str(tight) == "always stop; lone pages; topics_per_round 1/1/1; told to stop"
    assert (str(Setting()), str(Setting(""))) == ("oracle", "no model")


def test_what_is_begun_ahead_is_set_against_waiting() -> None:
    fast = Spent({begun.REPORT: 1}, 8.0, 4, 110, 2, 0.02)
    slow = Spent({begun.REPORT: 0}, 10.0, 4, 100, 1, 0.01)
    [row] = begun.rows([Begun(begun.REPORT, "oracle", "simple", fast, slow)])
    assert row.begun == 1
    assert (row.seconds, row.calls, row.tokens, row.searches, row.usd) == (0.8, 0, 1.1, 1, 2.0)


async def test_each_question_is_timed_with_and_without() -> None:
    with running_world(3, per_kind=1) as running:
        async with Bench.open(running) as bench:
            found = await begun.time_begun(bench)
    assert len(found) == 2 * len(running.world.questions)
    for what in begun.WITHOUT:
        of = [each for each in found if each.what == what]
        assert any(each.ahead.begun[what] for each in of)
        assert not any(each.waiting.begun[what] for each in of)
