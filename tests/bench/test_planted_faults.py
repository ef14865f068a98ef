"""Each instrument catches the fault that is planted for it, and stays quiet on all others."""

from __future__ import annotations

import asyncio

import pytest

from bench.comparison.depths import DEPTH
from bench.comparison.faults import FAULTS
from bench.comparison.instruments import FIGURES, NOISE, Judged, figures, moved
from bench.comparison.running import Bench
from bench.comparison.variant import AS_IT_IS, Variant, forced
from bench.world.running import running_world

pytestmark = pytest.mark.subprocess

SEED, PER_KIND = 41, 1
AGAIN = Variant("as it is, again")


async def _measure(variants: list[Variant]) -> dict[str, dict[str, float]]:
    with running_world(SEED, per_kind=PER_KIND) as running:
        async with Bench.open(running) as bench:
            questions = running.world.questions
            deep = [(await bench.run(q, variant=forced(DEPTH))).figures for q in questions]

            async def judged(variant: Variant) -> list[Judged]:
                runs = [(await bench.run(q, variant=variant)).figures for q in questions]
                return [Judged(*pair) for pair in zip(runs, deep, strict=True)]

            return {variant.name: figures(await judged(variant)) for variant in variants}


@pytest.mark.slow
def test_each_fault_moves_its_figures_and_no_others() -> None:
    """One test, so that the runs are made once, whatever process each test would be given to."""
    variants = [AS_IT_IS, AGAIN, *(fault.variant for fault in FAULTS)]
    found = asyncio.run(_measure(variants))
    before = found[AS_IT_IS.name]
    assert moved(before, found[AGAIN.name]) == {}
    for share in ("evidence recall", "citation precision", "claim precision", "quote precision"):
        assert before[share] > 0.9, share
    assert before["premature stops"] == before["repeated fetches"] == 0
    for fault in FAULTS:
        name = fault.variant.name
        changes = moved(before, found[name])
        assert {each: changes.get(each) for each in fault.moves} == dict(fault.moves), name
        assert not changes.keys() & fault.unconcerned, name


def test_every_fault_names_figures_that_exist() -> None:
    for fault in FAULTS:
        assert fault.moves.keys() | fault.follow <= FIGURES.keys()
        assert not fault.moves.keys() & fault.follow
    assert NOISE.keys() <= FIGURES.keys()
