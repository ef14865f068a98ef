"""Time at full latency: one run after the other, each beside the bare loop on its question.

The ideal has no overhead and knows where to look: plan + hops × (search + page + one call) +
report, with calls as long as the bare loop's on the same question.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bench import bare_loop
from bench.comparison.figures import Figures
from bench.comparison.running import Bench
from bench.comparison.statistics import mean
from bench.world.facts import KINDS, Question
from bench.world.hostile import HONEST
from bench.world.running import RunningWorld, running_world
from bench.world.score import busy_seconds
from bench.world.search import SEARCH_SECONDS
from bench.world.web import PAGE_SECONDS
from research.extract.pool import TextPool

TIMED = tuple(kind for kind in KINDS if kind != "unanswerable")


@dataclass(frozen=True)
class Bare:
    """One run of the bare loop; `recall` is of the needed facts in its report."""

    wall_seconds: float
    busy_seconds: float
    ideal_seconds: float
    calls: int
    tokens: int
    recall: float


@dataclass(frozen=True)
class Timed:
    """One question: the product's run and the bare loop's."""

    kind: str
    run: Figures
    bare: Bare

    @property
    def over_ideal(self) -> float:
        return self.run.wall_seconds / self.bare.ideal_seconds

    @property
    def over_busy(self) -> float:
        return self.run.wall_seconds / self.run.score.cost.busy_seconds

    @property
    def over_bare(self) -> float:
        return self.run.wall_seconds / self.bare.wall_seconds

    @property
    def tokens_over_bare(self) -> float:
        return self.run.tokens / self.bare.tokens


async def time_all(seed: int, per_kind: int) -> list[Timed]:
    """Return the world's questions but those that nothing answers; the first is run once to warm
    up.
    """
    with running_world(seed, latency=True, per_kind=per_kind) as running, TextPool() as pool:
        async with Bench.open(running, pool=pool) as bench:
            questions = [q for q in running.world.questions if q.kind in TIMED]
            await _time(bench, questions[0])
            found = []
            for number, question in enumerate(questions, 1):
                found.append(await _time(bench, question))
                print(f"time: {number} of {len(questions)}", file=sys.stderr, flush=True)
            return found


async def _time(bench: Bench, question: Question) -> Timed:
    ran = await bench.run(question)
    return Timed(question.kind, ran.figures, await _bare(bench.running, question))


async def _bare(running: RunningWorld, question: Question) -> Bare:
    running.reset()
    said = await bare_loop.run(question.text, running.model, running.search, HONEST)
    entries = running.log()["entries"]
    codes = [running.world.facts[fact].code for fact in question.needed]
    return Bare(
        wall_seconds=said["seconds"],
        busy_seconds=busy_seconds([(e["start"], e["end"]) for e in entries]),
        ideal_seconds=ideal_seconds(entries, len(question.hops)),
        calls=said["calls"],
        tokens=said["tokens"],
        recall=mean(code in said["report"] for code in codes),
    )


def ideal_seconds(entries: Sequence[Mapping[str, Any]], hops: int) -> float:
    """From the log of a bare run."""

    def took(task: str) -> float:
        return mean(e["end"] - e["start"] for e in entries if e.get("task") == task)

    hop = SEARCH_SECONDS + PAGE_SECONDS + took("bare_read")
    return took("bare_plan") + hops * hop + took("bare_report")
