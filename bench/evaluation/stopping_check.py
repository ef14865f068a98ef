"""Compares the end of a run by the stop rule with a forced run that went to the full depth.

The forced run cannot stop early; the stop rule then decides over its journal. Calls that only the
rule's run makes, such as those of its verification and report, are executed live.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from bench.evaluation.scoring import DEPTH, Answer, Cost, GoldFound
from bench.evaluation.trace import Trace, run_once
from research.engine import MemoryStore, ResearchConfig, Stage, Tools

SEED = 20260101
RESAMPLES = 2000
INTERVAL = 0.95
_ROUND = re.compile(r"(?:[a-z]+/)?round/(\d+)(?:/|$)")  # "enough/round/2", "round/2/gates"


def forced(config: ResearchConfig) -> ResearchConfig:
    """Return the same knobs for a run that continues to `DEPTH` regardless of its findings."""
    deep = {
        "deep_research_mode": "adaptive",
        "adaptive_min_depth": DEPTH,
        "adaptive_max_depth": DEPTH,
        "adaptive_soft_depth": (DEPTH, DEPTH, DEPTH),
        "enable_early_termination": False,
    }
    return ResearchConfig.model_validate({**config.model_dump(), **deep})


@dataclass(frozen=True)
class Decided:
    """The rule's run with its journal.

    `shared` is the number of rounds that it has in common with the forced run, which were replayed;
    `replayed` is True if it ended its research with the last of them.
    """

    trace: Trace
    store: MemoryStore
    shared: int

    @property
    def replayed(self) -> bool:
        later = (made for number, made in self.trace.rounds.items() if number > self.shared)
        return all(made.stage is Stage.VERIFICATION for made in later)

    def fetched(self, deep: GoldFound, own: GoldFound) -> int | None:
        """Return the round in which a gold page was fetched, which a replay doesn't record."""
        if deep.fetched and deep.fetched <= self.shared:
            return deep.fetched
        return own.fetched and max(own.fetched, self.shared + 1)


async def decide_anew(
    question: str,
    config: ResearchConfig,
    tools: Tools,
    deep: Trace,
    store: MemoryStore,
    analyst: str,
) -> Decided:
    """Run the stop rule: replay the forced run's journal up to the first difference, then live."""
    alone = await run_once(question, config, None, _copy(store, DEPTH), analyst)
    shared = _rounds_in_common(alone, deep)
    known = _copy(store, shared)
    return Decided(await run_once(question, config, tools, known, analyst), known, shared)


def _rounds_in_common(alone: Trace, deep: Trace) -> int:
    """Return the number of replayed rounds with the same searches and fetches as the forced run."""
    strayed = min(map(round_of, alone.divergences), default=DEPTH + 1)
    for number in range(1, DEPTH + 1):
        one, other = alone.rounds.get(number), deep.rounds.get(number)
        same = one and other and one.closed and one.topics == other.topics
        if not same or number >= strayed:
            return number - 1
    return DEPTH


def round_of(place: str) -> int:
    """Return the round of a journal place; 0 before the first round."""
    found = _ROUND.match(place)
    return int(found[1]) if found else 0


def _copy(store: MemoryStore, rounds: int) -> MemoryStore:
    """Copy the journal up to the end of these rounds; the report is written again."""
    copy = MemoryStore()
    copy.texts = store.texts
    for key, entry in store.entries.items():
        if entry.place.startswith("report/") or round_of(entry.place) > rounds:
            break
        copy.entries[key] = entry
    return copy


@dataclass(frozen=True)
class Stopped:
    """The end of a run by the rule. `fetched` maps each gold page to its round or None."""

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


def verdict(gold: Sequence[GoldFound], stopped: Stopped) -> str:
    """Judge a stop as "premature", "late" or "exact".

    Premature: a later forced round fetched gold that is missing at the stop. Late: an earlier round
    had everything that any round reaches.
    """
    if any(deep.fetched and not there for deep, there in zip(gold, stopped.fetched, strict=True)):
        return "premature"
    return "late" if stopped.round > hindsight(stopped.fetched) else "exact"


def hindsight(fetched: Sequence[int | None]) -> int:
    """Return the first round after which nothing was gained."""
    return max((number for number in fetched if number), default=1)


@dataclass(frozen=True)
class Point:
    """Cost and recall of one question at one depth, or at its stop."""

    cost: float
    recall: float


@dataclass(frozen=True)
class Versus:
    """Recall at the stop and at a fixed depth of the same cost.

    `low` and `high` are the confidence interval of the `gain`.
    """

    cost: float
    recall: float
    fixed_recall: float
    gain: float
    low: float
    high: float


def versus_fixed(stops: Sequence[Point], curves: Sequence[Sequence[Point]]) -> Versus:
    """Compare by paired bootstrap: each resample draws questions with both stop and curve."""
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
    """Return mean cost and recall at the stop, and the curve's recall at that cost."""
    cost, recall = _mean([stops[i] for i in drawn])
    depths = range(len(curves[0]))
    curve = [_mean([curves[i][depth] for i in drawn]) for depth in depths]
    return cost, recall, interpolate(curve, cost)


def _mean(points: Sequence[Point]) -> tuple[float, float]:
    count = len(points)
    return sum(p.cost for p in points) / count, sum(p.recall for p in points) / count


def interpolate(curve: Sequence[tuple[float, float]], cost: float) -> float:
    """Return the curve's recall at a cost, clamped to its ends."""
    if cost <= curve[0][0]:
        return curve[0][1]
    for (low, before), (high, after) in pairwise(curve):
        if low < cost <= high:
            return before + (after - before) * (cost - low) / (high - low)
    return curve[-1][1]
