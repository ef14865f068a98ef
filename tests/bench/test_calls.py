"""What the model is asked in the simulated world: how often, and with how long a prompt.

The oracle answers, so no call is repeated and nothing falls back on code.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest

from bench.bars import COMPLEX_CALLS, SIMPLE_CALLS
from bench.comparison.depths import PRICES
from bench.comparison.running import Bench, Ran
from bench.comparison.variant import forced
from bench.world.running import RunningWorld, running_world

pytestmark = pytest.mark.subprocess

SEED, QUESTIONS = 4, 3
ROUNDS = 10
GROWTH = 1.2
FIXED = {"deep_research_mode": "fixed"}
AMPLE = {"max_searches": 500, "max_fetches": 500, "max_llm_calls": 200, "max_tokens": 2_000_000}


@pytest.fixture(scope="module")
def running() -> Iterator[RunningWorld]:
    with running_world(SEED, per_kind=QUESTIONS) as world:
        yield world


@pytest.fixture
async def bench(running: RunningWorld) -> AsyncIterator[Bench]:
    async with Bench.open(running) as opened:
        yield opened


async def asked(bench: Bench, kind: str) -> list[dict[str, int]]:
    """The calls by task of each question; none failed, was repeated or was done by code."""
    found = []
    for question in bench.running.world.of_kind(kind):
        ran = await bench.run(question)
        usage = ran.resource["usage"]
        assert (usage["fallbacks"], usage["retries"]) == ({}, 0)
        assert usage["answers"] == usage["llm_calls_by_task"] == ran.figures.cost.calls
        found.append(usage["llm_calls_by_task"])
    assert len(found) == QUESTIONS
    return found


@pytest.mark.requirement("A18")
async def test_a_simple_question_takes_no_more_calls_than_its_bar(bench: Bench) -> None:
    for calls in await asked(bench, "simple"):
        assert (
            {"intake", "draft"} <= calls.keys() <= {"intake", "read", "assess", "draft", "verify"}
        )
        assert sum(calls.values()) <= SIMPLE_CALLS


async def test_a_complex_question_takes_no_more_calls_than_its_bar(bench: Bench) -> None:
    for calls in await asked(bench, "complex"):
        assert (calls["intake"], calls["draft"]) == (1, 1)
        assert sum(calls.values()) <= COMPLEX_CALLS


@pytest.mark.requirement("A18")
@pytest.mark.parametrize("kind, most", [("simple", 0.4), ("medium", 0.7), ("complex", 1.0)])
async def test_it_asks_less_than_a_tree_of_fixed_size_and_finds_all(
    bench: Bench, kind: str, most: float
) -> None:
    question = bench.running.world.of_kind(kind)[0]
    ours = (await bench.run(question, prices=PRICES)).figures
    tree = (await bench.run(question, FIXED, prices=PRICES)).figures
    assert tree.cost.model_calls - tree.cost.calls.get("verify", 0) >= 18
    assert ours.cost.model_calls <= most * tree.cost.model_calls
    assert ours.usd is not None and tree.usd is not None and ours.usd < tree.usd
    assert ours.score.report_recall == 1


@pytest.mark.requirement("C8")
async def test_prompts_do_not_grow_with_the_rounds(bench: Bench) -> None:
    """C8: what is shown of a run is kept short, however long it has gone on."""
    for question in bench.running.world.of_kind("complex"):
        ran = await bench.run(question, AMPLE, variant=forced(ROUNDS))
        assert len(ran.resource["rounds"]) == ROUNDS
        assert 0 < longest_prompt(ran, ROUNDS) <= GROWTH * longest_prompt(ran, 3)


def longest_prompt(ran: Ran, number: int) -> int:
    """Characters of the longest prompt of a round, its system message included."""
    return max(
        len(entry.request["system"]) + len(entry.request["prompt"])
        for entry in ran.store.entries.values()
        if entry.kind == "model" and entry.place.startswith(f"round/{number}/")
    )
