"""The runner and the comparison in a small world, with the product's own tools."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from bench.comparison.depths import DEPTH, at_depth, measure
from bench.comparison.running import EXTRACTIVE, Bench
from bench.comparison.shards import measured_in
from bench.comparison.variant import Variant, forced
from bench.world.facts import KINDS
from bench.world.running import RunningWorld, running_world
from research.engine import Page, Tools

pytestmark = pytest.mark.subprocess

SEED = 4


@pytest.fixture(scope="module")
def running() -> Any:
    with running_world(SEED, per_kind=1) as world:
        yield world


@pytest.fixture
async def bench(running: RunningWorld) -> AsyncIterator[Bench]:
    async with Bench.open(running) as opened:
        yield opened


@pytest.mark.parametrize("kind", KINDS)
async def test_a_question_is_measured_under_every_way_of_stopping(bench: Bench, kind: Any) -> None:
    question = bench.running.world.of_kind(kind)[0]
    found = await measure(bench, question)
    assert found.same and len(found.depths) == DEPTH
    assert [f.score.rounds for f in found.depths] == [1, 2, 3, 4, 5]
    calls = [f.cost.model_calls for f in found.depths]
    assert calls == sorted(calls) and calls[0] < calls[-1]
    assert found.tree[-1].cost.searches == 12
    assert found.tree[-1].cost.calls["tree_queries"] == 5
    for figures in (found.adaptive, *found.depths, *found.tree):
        assert figures.quotes_right == figures.quotes
        assert figures.statements_cited == figures.statements
        assert figures.status == "completed" and figures.speculative == 0
    if question.needed:
        recall = [f.score.report_recall for f in found.depths]
        assert recall == sorted(recall) and recall[-1] == 1


@pytest.mark.parametrize("depth", [1, 3])
async def test_a_lower_depth_is_the_beginning_of_a_deeper_run(bench: Bench, depth: int) -> None:
    question = bench.running.world.of_kind("complex")[0]
    deep = await bench.run(question, variant=forced(DEPTH))
    replayed, same = await at_depth(bench, question, deep, depth)
    live = await bench.run(question, variant=forced(depth))
    assert same
    for key in ("report_markdown", "citations", "termination_reason"):
        assert replayed.resource[key] == live.resource[key]
    assert _quotes(replayed.resource) == _quotes(live.resource)
    for name in ("calls", "prompt_tokens", "completion_tokens", "searches", "fetches"):
        assert getattr(replayed.figures.cost, name) == getattr(live.figures.cost, name)


async def test_nothing_follows_the_rounds_of_a_forced_run(bench: Bench) -> None:
    """One round finds a part of a chain only, and neither a weak claim nor a draft adds one."""
    question = bench.running.world.of_kind("complex")[0]
    ran = (await bench.run(question, variant=forced(1))).figures
    assert ran.score.rounds == 1 and ran.score.report_recall < 1
    rules = forced(1).rules
    assert not rules.verifies_claims and not rules.reopens_after_draft
    assert not rules.drafts_ahead and not rules.searches_ahead


def _quotes(resource: Any) -> list[Any]:
    return [(e["id"], s["url"], s["start"]) for e in resource["evidence"] for s in e["sources"]]


async def test_the_log_and_the_engines_own_meter_agree(bench: Bench) -> None:
    ran = await bench.run(bench.running.world.of_kind("medium")[0])
    usage, cost = ran.resource["usage"], ran.figures.cost
    assert cost.calls == usage["llm_calls_by_task"]
    assert (cost.searches, cost.fetches) == (usage["searches"], usage["fetches"])
    assert ran.figures.tokens == usage["prompt_tokens"] + usage["completion_tokens"]


async def test_a_variant_may_wrap_the_tools(bench: Bench) -> None:
    class Twice:
        def __init__(self, tools: Tools) -> None:
            self.fetch_once = tools.fetch.fetch

        async def fetch(self, url: str) -> Page:
            await self.fetch_once(url)
            return await self.fetch_once(url)

    def wrapped(tools: Tools) -> Tools:
        return Tools(tools.search, Twice(tools), tools.clock, tools.model)

    question = bench.running.world.of_kind("simple")[0]
    plain = (await bench.run(question)).figures
    twice = (await bench.run(question, variant=Variant("twice", tools=wrapped))).figures
    assert plain.cost.repeated_fetches == 0 < twice.cost.repeated_fetches <= plain.cost.fetches
    assert twice.score.report_recall == plain.score.report_recall


async def test_without_a_model_code_is_the_analyst(bench: Bench) -> None:
    ran = await bench.run(bench.running.world.of_kind("simple")[0], model=EXTRACTIVE)
    assert ran.figures.cost.model_calls == 0 and ran.figures.quotes > 0


async def asked(bench: Bench) -> list[str]:
    return [question.id for question in bench.running.world.questions]


def test_worlds_are_measured_in_processes_of_their_own_and_stay_in_order() -> None:
    found = measured_in(asked, (2, 1), 1, "questions")
    assert found == [f"{kind}-0" for kind in KINDS] * 2
