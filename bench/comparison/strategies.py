"""Cost and findings of each way of stopping, over the same questions."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from bench.comparison.depths import DEPTH, Measured, hindsight
from bench.comparison.figures import Figures
from bench.comparison.statistics import SEED, Estimate, Point, cost_ratio, known_mean, mean
from bench.world.score import Stopping, stopping

Cost = Callable[[Figures], float]
Pick = Callable[[Measured], Figures]
FIXED = "fixed mode"
TREES = (f"{FIXED}, depth 1", FIXED)


def calls(figures: Figures) -> float:
    return figures.cost.model_calls


def tokens(figures: Figures) -> float:
    return figures.tokens


def recall(figures: Figures) -> float:
    """Of the report; a question that nothing answers has no facts to miss."""
    found = figures.score.report_recall
    return 1.0 if found is None else found


@dataclass(frozen=True)
class Strategy:
    name: str
    pick: Pick


def strategies(measured: Sequence[Measured]) -> list[Strategy]:
    """All ways of stopping; random stops are the adaptive ones, dealt out to other questions."""
    rounds = [m.adaptive.judged for m in measured]
    random.Random(SEED).shuffle(rounds)
    dealt = {m.question: number for m, number in zip(measured, rounds, strict=True)}

    def after(rounds: Callable[[Measured], int]) -> Pick:
        return lambda m: m.depths[min(rounds(m), DEPTH) - 1]

    def always(depth: int) -> Pick:
        return after(lambda m: depth)

    def tree(level: int) -> Pick:
        return lambda m: m.tree[level]

    return [
        Strategy("adaptive", lambda m: m.adaptive),
        *(Strategy(f"forced to {depth}", always(depth)) for depth in range(1, DEPTH + 1)),
        *(Strategy(name, tree(level)) for level, name in enumerate(TREES)),
        Strategy("question's words covered", after(lambda m: m.covered or DEPTH)),
        Strategy("random, same mean", after(lambda m: dealt[m.question])),
        Strategy("hindsight", after(lambda m: hindsight(m.depths))),
    ]


@dataclass(frozen=True)
class Row:
    """Means a question of one way of stopping; recall and precision over those that have any."""

    name: str
    rounds: float
    calls: float
    tokens: float
    searches: float
    fetches: float
    usd: float
    evidence_recall: float | None
    report_recall: float | None
    citation_precision: float | None


def row(name: str, runs: Sequence[Figures]) -> Row:
    return Row(
        name=name,
        rounds=mean(f.score.rounds for f in runs),
        calls=mean(map(calls, runs)),
        tokens=mean(map(tokens, runs)),
        searches=mean(f.cost.searches for f in runs),
        fetches=mean(f.cost.fetches for f in runs),
        usd=mean(f.usd or 0.0 for f in runs),
        evidence_recall=known_mean(f.score.evidence_recall for f in runs),
        report_recall=known_mean(f.score.report_recall for f in runs),
        citation_precision=known_mean(f.score.citation_precision for f in runs),
    )


# --- at equal recall --------------------------------------------------------------------------


def against_forced(measured: Sequence[Measured], cost: Cost) -> Estimate:
    """Our cost over that of a forced depth with the same recall."""
    return _ratio(measured, [m.depths for m in measured], cost)


def against(measured: Sequence[Measured], strategy: Strategy, cost: Cost) -> Estimate:
    """Our cost over another way's, at the recall that both get."""
    return _ratio(measured, [(strategy.pick(m),) for m in measured], cost)


def _ratio(
    measured: Sequence[Measured], others: Sequence[Sequence[Figures]], cost: Cost
) -> Estimate:
    def curves(runs: Iterable[Sequence[Figures]]) -> list[list[Point]]:
        return [[Point(cost(f), recall(f)) for f in each] for each in runs]

    ours = [Point(cost(m.adaptive), recall(m.adaptive)) for m in measured]
    return cost_ratio(ours, curves(m.depths for m in measured), curves(others))


# --- stopping ---------------------------------------------------------------------------------


def stopped(measured: Measured, figures: Figures) -> Stopping:
    """Return a run's stop against the hindsight round of the run that went on."""
    deepest = measured.depths[-1].score
    best = deepest.evidence_recall or 0.0
    return stopping(figures.judged, hindsight(measured.depths), figures.score.evidence_recall, best)


def stop_shares(measured: Sequence[Measured], pick: Pick) -> dict[Stopping, float]:
    found = [stopped(m, pick(m)) for m in measured]
    names: tuple[Stopping, ...] = ("exact", "premature", "late")
    return {name: mean(each == name for each in found) for name in names}
