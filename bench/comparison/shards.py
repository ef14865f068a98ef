"""Measures worlds in parallel, each in a separate process with its own servers."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from typing import TypeVar

from bench.comparison.running import Bench
from bench.world.running import running_world
from bench.world.supply import AMPLE

Result = TypeVar("Result")
Task = Callable[[Bench], Awaitable[list[Result]]]
WORKERS = 4
"""Twice the cores of a small machine: half of a run at zero latency is waiting."""


def measured_in(
    task: Task[Result],
    seeds: Sequence[int],
    per_kind: int,
    label: str,
    supplies: Sequence[str] = (AMPLE,),
    latency: bool = False,
) -> list[Result]:
    """What `task`, a function of a module, returns for the worlds of each supply and seed, in
    their order.
    """
    worlds = [(seed, supply) for supply in supplies for seed in seeds]
    with ProcessPoolExecutor(WORKERS, mp_context=get_context("spawn")) as workers:
        waiting = {
            workers.submit(_in_world, task, seed, per_kind, supply, latency): (seed, supply)
            for seed, supply in worlds
        }
        done: dict[tuple[int, str], list[Result]] = {}
        for future in as_completed(waiting):
            done[waiting[future]] = future.result()
            print(f"{label}: {len(done)} of {len(worlds)} worlds", file=sys.stderr, flush=True)
    return [result for world in worlds for result in done[world]]


def _in_world(
    task: Task[Result], seed: int, per_kind: int, supply: str, latency: bool
) -> list[Result]:
    return asyncio.run(_measure(task, seed, per_kind, supply, latency))


async def _measure(
    task: Task[Result], seed: int, per_kind: int, supply: str, latency: bool
) -> list[Result]:
    with running_world(seed, latency=latency, per_kind=per_kind, supply=supply) as running:
        async with Bench.open(running) as bench:
            return await task(bench)
