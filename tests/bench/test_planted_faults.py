"""Each instrument catches the fault that is planted for it, and stays quiet on all others."""

from __future__ import annotations

import asyncio

import pytest

from bench.comparison.depths import DEPTH
from bench.comparison.faults import FAULTS, Fault
from bench.comparison.instruments import FIGURES, NOISE, Judged, figures, moved
from bench.comparison.running import Bench
from bench.comparison.variant import AS_IT_IS, Variant, forced
from bench.world.running import running_world

pytestmark = pytest.mark.subprocess

SEED, PER_KIND = 41, 1
AGAIN = Variant("as it is, again")
Found = dict[str, dict[str, float]]


@pytest.fixture(scope="module")
def found() -> Found:
    """The figures of the engine as it is, and of each faulty one, by the variant's name."""
    return asyncio.run(_measure([AS_IT_IS, AGAIN, *(fault.variant for fault in FAULTS)]))


async def _measure(variants: list[Variant]) -> Found:
    with running_world(SEED, per_kind=PER_KIND) as running:
        async with Bench.open(running) as bench:
            questions = running.world.questions
            deep = [(await bench.run(q, variant=forced(DEPTH))).figures for q in questions]

            async def judged(variant: Variant) -> list[Judged]:
                runs = [(await bench.run(q, variant=variant)).figures for q in questions]
                return [Judged(*pair) for pair in zip(runs, deep, strict=True)]

            return {variant.name: figures(await judged(variant)) for variant in variants}


def test_without_a_fault_no_figure_moves(found: Found) -> None:
    assert moved(found[AS_IT_IS.name], found[AGAIN.name]) == {}


def test_the_engine_as_it_is_leaves_room_for_each_figure_to_move(found: Found) -> None:
    before = found[AS_IT_IS.name]
    for share in ("evidence recall", "citation precision", "claim precision", "quote precision"):
        assert before[share] > 0.9, share
    assert before["premature stops"] == before["repeated fetches"] == 0


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.variant.name)
def test_a_fault_moves_its_figures_and_no_others(found: Found, fault: Fault) -> None:
    changes = moved(found[AS_IT_IS.name], found[fault.variant.name])
    assert {name: changes.get(name) for name in fault.moves} == dict(fault.moves)
    assert not changes.keys() & fault.unconcerned


def test_every_fault_names_figures_that_exist() -> None:
    for fault in FAULTS:
        assert fault.moves.keys() | fault.follow <= FIGURES.keys()
        assert not fault.moves.keys() & fault.follow
    assert NOISE.keys() <= FIGURES.keys()
