"""Where the stop rule ends a run, judged by a forced run that went on to the full depth.

The forced run has no early end; the rule then decides over its journal. Where that replay
would search for something else than what is recorded, the rule's own run is made.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from research.engine.config import ResearchConfig
from research.engine.journal import MemoryStore
from research.engine.tools import Tools
from research.evaluation.scoring import DEPTH, Answer, Cost, GoldFound
from research.evaluation.trace import Trace, run_once

SEED = 20260101
RESAMPLES = 2000
INTERVAL = 0.95
REPORT = "report/"


def forced(config: ResearchConfig) -> ResearchConfig:
    """The same knobs, for a run that goes to `DEPTH` whatever it has found."""
    deep = {
        "deep_research_mode": "adaptive",
        "adaptive_min_depth": DEPTH,
        "adaptive_max_depth": DEPTH,
        "adaptive_soft_depth": (DEPTH, DEPTH, DEPTH),
        "enable_early_termination": False,
    }
    return ResearchConfig.model_validate({**config.model_dump(), **deep})


async def decide_anew(
    question: str,
    config: ResearchConfig,
    tools: Tools,
    deep: Trace,
    store: MemoryStore,
    analyst: str,
) -> Trace | None:
    """The rule's run over a forced run's journal; None where the two searched differently.

    A model writes its report anew: the recorded one rests on all rounds.
    """
    copy = MemoryStore()
    copy.texts = store.texts
    copy.entries = {
        key: entry
        for key, entry in store.entries.items()
        if not (entry.kind == "model" and entry.place.startswith(REPORT))
    }
    known = set(copy.entries)
    trace = await run_once(question, config, tools if tools.model else None, copy, analyst)
    new = [place for place, _ in copy.entries.keys() - known if not place.startswith(REPORT)]
    same = all(
        trace.rounds[number].topics == deep.rounds[number].topics
        for number in range(1, trace.last_round + 1)
        if number in deep.rounds
    )
    searched = [place for place in new if not place.startswith(("clock/", "time/", "commands/"))]
    whole = trace.ended_at is None and trace.state.termination_reason is not None
    return trace if same and whole and not searched and not _differ(trace) else None


def _differ(trace: Trace) -> list[str]:
    return [place for place in trace.divergences if not place.startswith(REPORT)]


@dataclass(frozen=True)
class Stopped:
    """How the rule ended a run. `fetched` holds, for each gold page, the round or None."""

    round: int
    reason: str
    replayed: bool
    fetched: tuple[int | None, ...]
    cost: Cost
    total: Cost
    answer: Answer | None

    @property
    def recall(self) -> float:
        return sum(number is not None for number in self.fetched) / len(self.fetched)


def until(gold: Sequence[GoldFound], last: int) -> tuple[int | None, ...]:
    """The gold that was there when round `last` was over."""
    return tuple(g.fetched if g.fetched and g.fetched <= last else None for g in gold)


def verdict(gold: Sequence[GoldFound], stopped: Stopped) -> str:
    """ "premature": a later forced round fetched gold that is missing at the stop; "late": an
    earlier round had all that any round gets; else "exact"."""
    if any(deep.fetched and not there for deep, there in zip(gold, stopped.fetched, strict=True)):
        return "premature"
    return "late" if stopped.round > hindsight(stopped.fetched) else "exact"


def hindsight(fetched: Sequence[int | None]) -> int:
    """The first round after which nothing was gained any more."""
    return max((number for number in fetched if number), default=1)


@dataclass(frozen=True)
class Point:
    """One question at one depth, or at its stop."""

    cost: float
    recall: float


@dataclass(frozen=True)
class Versus:
    """Recall at the stop against a fixed depth that costs the same; the gain's interval."""

    cost: float
    recall: float
    fixed_recall: float
    gain: float
    low: float
    high: float


def versus_fixed(stops: Sequence[Point], curves: Sequence[Sequence[Point]]) -> Versus:
    """Paired: each resample draws questions, with both their stop and their curve."""
    everything = range(len(stops))
    cost, recall, fixed = _compare(stops, curves, everything)
    dice = random.Random(SEED)
    gains = []
    for _ in range(RESAMPLES):
        drawn = dice.choices(everything, k=len(stops))
        _, at_stop, at_depth = _compare(stops, curves, drawn)
        gains.append(at_stop - at_depth)
    gains.sort()
    tail = int(RESAMPLES * (1 - INTERVAL) / 2)
    return Versus(cost, recall, fixed, recall - fixed, gains[tail], gains[-1 - tail])


def _compare(
    stops: Sequence[Point], curves: Sequence[Sequence[Point]], drawn: Sequence[int]
) -> tuple[float, float, float]:
    """Mean cost and recall at the stop, and the curve's recall at that cost."""
    cost, recall = _mean([stops[i] for i in drawn])
    depths = range(len(curves[0]))
    curve = [_mean([curves[i][depth] for i in drawn]) for depth in depths]
    return cost, recall, interpolate(curve, cost)


def _mean(points: Sequence[Point]) -> tuple[float, float]:
    count = len(points)
    return sum(p.cost for p in points) / count, sum(p.recall for p in points) / count


def interpolate(curve: Sequence[tuple[float, float]], cost: float) -> float:
    """The curve's recall at a cost; beyond its ends, that of the end."""
    if cost <= curve[0][0]:
        return curve[0][1]
    for (low, before), (high, after) in pairwise(curve):
        if low < cost <= high:
            return before + (after - before) * (cost - low) / (high - low)
    return curve[-1][1]
