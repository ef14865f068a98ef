"""Worlds measured side by side, each in a process of its own with servers of its own."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from typing import TypeVar

from bench.comparison.running import Bench
from bench.world.running import running_world

Result = TypeVar("Result")
Task = Callable[[Bench], Awaitable[list[Result]]]
WORKERS = 4
"""Twice the cores of a small machine: half of a run at zero latency is waiting."""


def measured_in(
    task: Task[Result], seeds: Sequence[int], per_kind: int, label: str
) -> list[Result]:
    """What `task`, a function of a module, returns for the world of each seed, in their order."""
    with ProcessPoolExecutor(WORKERS, mp_context=get_context("spawn")) as workers:
        waiting = {workers.submit(_in_world, task, seed, per_kind): seed for seed in seeds}
        done: dict[int, list[Result]] = {}
        for future in as_completed(waiting):
            done[waiting[future]] = future.result()
            print(f"{label}: {len(done)} of {len(seeds)} worlds", file=sys.stderr, flush=True)
    return [result for seed in seeds for result in done[seed]]


def _in_world(task: Task[Result], seed: int, per_kind: int) -> list[Result]:
    return asyncio.run(_measure(task, seed, per_kind))


async def _measure(task: Task[Result], seed: int, per_kind: int) -> list[Result]:
    with running_world(seed, per_kind=per_kind) as running:
        async with Bench.open(running) as bench:
            return await task(bench)
