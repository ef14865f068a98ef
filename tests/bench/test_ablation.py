"""What each rule is worth: the table names every rule, and counts what changed."""

from __future__ import annotations

from bench.comparison.ablation import ABLATIONS, Ablation, Setting, ablate, rows
from bench.comparison.running import Bench
from bench.world.running import running_world
from research.engine.records import StopReason

BY_PEOPLE = {StopReason.CANCELLED, StopReason.USER_STOPPED}
OF_MONEY_OR_MODE = {StopReason.BUDGET_COST, StopReason.TREE_COMPLETE}


def test_every_reason_to_stop_is_taken_out_once() -> None:
    """But for what people say, a cap on money (nothing costs any here) and the fixed mode's end."""
    named = {a.rule.removeprefix("stop: ") for a in ABLATIONS if a.rule.startswith("stop: ")}
    assert named == set(StopReason) - BY_PEOPLE - OF_MONEY_OR_MODE


def test_every_gate_is_taken_out_once() -> None:
    rules = [ablation.rule for ablation in ABLATIONS]
    for gate in ("gate 1, overview", "gate 2, deep research", "evidence gate", "draft gate"):
        assert rules.count(gate) == 1


async def test_a_rule_that_acts_changes_an_outcome() -> None:
    chosen = [a for a in ABLATIONS if a.rule in {"stop: budget_searches", "minimum depth"}]
    again = Ablation("nothing is taken out", settings=(Setting("oracle"),))
    with running_world(3, per_kind=1) as running:
        async with Bench.open(running) as bench:
            found = {row.rule: row for row in rows(await ablate(bench, [*chosen, again]))}
    assert found["stop: budget_searches"].changed
    assert found["stop: budget_searches"].recall > 0
    assert found["minimum depth"].changed
    assert not found["nothing is taken out"].changed
