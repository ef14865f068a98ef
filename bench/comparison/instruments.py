"""The instruments: what a set of runs shows, figure by figure, and which figures moved."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from bench.comparison.depths import hindsight
from bench.comparison.figures import Figures
from bench.world.score import Stopping, stopping

Direction = Literal["up", "down"]
BUSY_MACHINE_SECONDS = 0.25


@dataclass(frozen=True)
class Judged:
    """A run's figures beside those of the same question's run that went on to the full depth."""

    figures: Figures
    deepest: Figures

    @property
    def stopping(self) -> Stopping:
        best = self.deepest.score.evidence_recall or 0.0
        mine = self.figures.score
        return stopping(self.figures.judged, hindsight((self.deepest,)), mine.evidence_recall, best)

    @property
    def idle_seconds_a_round(self) -> float:
        """Time without any request in flight."""
        idle = self.figures.wall_seconds - self.figures.cost.busy_seconds
        return idle / max(1, self.figures.score.rounds)


Figure = Callable[[Sequence[Judged]], float]


def _sum(of: Callable[[Figures], float]) -> Figure:
    return lambda runs: sum(of(run.figures) for run in runs)


def _mean(of: Callable[[Figures], float | None]) -> Figure:
    def mean(runs: Sequence[Judged]) -> float:
        known = [share for run in runs if (share := of(run.figures)) is not None]
        return sum(known) / len(known)

    return mean


def _share(part: Callable[[Figures], float], whole: Callable[[Figures], float]) -> Figure:
    return lambda runs: _sum(part)(runs) / _sum(whole)(runs)


def _stops(kind: Stopping) -> Figure:
    return lambda runs: sum(run.stopping == kind for run in runs)


FIGURES: dict[str, Figure] = {
    "rounds": _sum(lambda f: f.score.rounds),
    "premature stops": _stops("premature"),
    "late stops": _stops("late"),
    "evidence recall": _mean(lambda f: f.score.evidence_recall),
    "report recall": _mean(lambda f: f.score.report_recall),
    "citation precision": _mean(lambda f: f.score.citation_precision),
    "claim precision": _mean(lambda f: f.score.claim_precision),
    "quote precision": _share(lambda f: f.quotes_right, lambda f: f.quotes),
    "sentences": _sum(lambda f: f.statements),
    "sentences cited": _share(lambda f: f.statements_cited, lambda f: f.statements),
    "model calls": _sum(lambda f: f.cost.model_calls),
    "tokens": _sum(lambda f: f.tokens),
    "searches": _sum(lambda f: f.cost.searches),
    "fetches": _sum(lambda f: f.cost.fetches),
    "repeated searches": _sum(lambda f: f.cost.repeated_searches),
    "repeated fetches": _sum(lambda f: f.cost.repeated_fetches),
    # The least of all questions: a busy machine delays some runs, a sleep delays each.
    "idle seconds a round": lambda runs: min(run.idle_seconds_a_round for run in runs),
}
NOISE: Mapping[str, float] = {"idle seconds a round": BUSY_MACHINE_SECONDS}
"""How far a figure may stray by itself; counts and shares not at all."""


def figures(runs: Sequence[Judged]) -> dict[str, float]:
    return {name: figure(runs) for name, figure in FIGURES.items()}


def moved(before: Mapping[str, float], after: Mapping[str, float]) -> dict[str, Direction]:
    """Return the figures that differ by more than their noise, and where they went."""
    found: dict[str, Direction] = {}
    for name in FIGURES:
        difference = after[name] - before[name]
        if abs(difference) > NOISE.get(name, 1e-9):
            found[name] = "up" if difference > 0 else "down"
    return found
