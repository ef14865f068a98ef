"""The engine suite over the simulated world: cost, recall, stopping and errors."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from bench.comparison import hostile
from bench.comparison.depths import Measured, measure
from bench.comparison.figures import Figures
from bench.comparison.hostile import Tried, share, try_all
from bench.comparison.overhead import TIMED, Timed, time_all
from bench.comparison.running import Bench
from bench.comparison.shards import measured_in
from bench.comparison.statistics import known_mean, mean, percentile
from bench.comparison.strategies import (
    FIXED,
    against,
    calls,
    recall,
    stop_shares,
    strategies,
)
from bench.world.hostile import TYING

Values = dict[str, float | None]


@dataclass(frozen=True)
class Size:
    """The size of a measurement: seeds of worlds, questions of each kind per world."""

    seeds: tuple[int, ...]
    per_kind: int
    hostile_seeds: tuple[int, ...]
    hostile_per_kind: int
    timed_seed: int
    timed_per_kind: int


FULL = Size(tuple(range(101, 111)), 10, (121, 122), 5, 131, 3)
QUICK = Size((4, 11), 3, (5,), 1, 12, 1)


@dataclass(frozen=True)
class Results:
    measured: tuple[Measured, ...]
    tried: tuple[Tried, ...]
    timed: tuple[Timed, ...]

    def of_kind(self, kind: str) -> list[Measured]:
        return [m for m in self.measured if m.kind == kind]

    @property
    def answerable(self) -> list[Measured]:
        return [m for m in self.measured if m.kind != "unanswerable"]


def run(size: Size = FULL) -> Results:
    """Measure counts first, on all cores; then times, without parallel work."""
    measured = measured_in(every_depth, size.seeds, size.per_kind, "depths")
    tried = measured_in(try_all, size.hostile_seeds, size.hostile_per_kind, "analysts")
    timed = asyncio.run(time_all(size.timed_seed, size.timed_per_kind))
    return Results(tuple(measured), tuple(tried), tuple(timed))


async def every_depth(bench: Bench) -> list[Measured]:
    return [await measure(bench, question) for question in bench.running.world.questions]


# --- against the bars -------------------------------------------------------------------------


def values(results: Results) -> Values:
    """Return the figures of `bench.bars.ENGINE`."""
    honest = [m.adaptive for m in results.measured]
    simple = [m.adaptive for m in results.of_kind("simple")]
    stops = stop_shares(results.answerable, lambda m: m.adaptive)
    tied = [t.figures for t in results.tried if t.analyst == TYING]
    lying = [t.figures for t in results.tried
             if (t.analyst, t.mode) == (hostile.FALSE_CLAIMS, "adaptive")]  # fmt: skip
    return {
        **_saved(results),
        "simple_calls": max((calls(f) for f in simple if not f.disputed), default=None),
        "simple_most": max(map(calls, simple)),
        "medium_calls": max((calls(m.adaptive) for m in results.of_kind("medium")), default=None),
        "complex_calls": max(calls(m.adaptive) for m in results.of_kind("complex")),
        "complex_recall": mean(recall(m.adaptive) for m in results.of_kind("complex")),
        "tied_recall": mean(map(recall, tied)) if tied else None,
        "tied_calls": max(map(calls, tied), default=None),
        "mix_cost": share(_usd(honest), _usd([m.tree[-1] for m in results.measured])),
        "exact": stops["exact"],
        "premature": stops["premature"],
        "nothing_found": mean(_nothing(m.adaptive) for m in results.of_kind("unanswerable")),
        **_times(results.timed),
        "same": mean(m.same for m in results.measured),
        "tree": mean(_whole_tree(m.tree[-1]) for m in results.measured),
        "repeated_fetches": float(sum(f.cost.repeated_fetches for f in _all_runs(results))),
        "quote_precision": _quote_precision(results),
        "statements_cited": _share_of(honest, "statements_cited", "statements"),
        "false_claims": hostile.row("", lying).false_claims_reported if lying else None,
        "key_claims": _share_of(honest, "key_claims_cited", "key_claims"),
        "ledger_facts": _ledger_facts(honest),
        "contradiction_precision": known_mean(f.score.contradiction_precision for f in honest),
        "contradiction_recall": known_mean(f.score.contradiction_recall for f in honest),
    }


def _saved(results: Results) -> Values:
    """Return 1 − our model calls ÷ those of fixed mode, by kind."""
    fixed = next(s for s in strategies(results.measured) if s.name == FIXED)
    return {
        f"{kind}_saved": 1 - against(results.of_kind(kind), fixed, calls).value
        for kind in ("simple", "medium", "complex")
    }


def _usd(runs: Sequence[Figures]) -> float:
    return sum(figures.usd or 0.0 for figures in runs)


def _nothing(figures: Figures) -> bool:
    """Return whether a run without any answer ended correctly: soon, completed, without claims."""
    score = figures.score
    ended = figures.status == "completed" and score.reason == "nothing_found"
    return ended and score.rounds <= 3 and not score.cited_sentences


def _whole_tree(figures: Figures) -> bool:
    """Return whether fixed mode made all calls: 12 searches, 5 query generations, 1 report.

    Extractions depend on how many searches returned pages.
    """
    counted = figures.cost.calls
    right = (figures.cost.searches, counted.get("tree_queries", 0)) == (12, 5)
    return right and counted.get("tree_extract", 0) <= 12 and counted.get("draft", 0) <= 1


def _times(timed: Sequence[Timed]) -> Values:
    if not timed:
        return {}
    over_bare = {kind: [t.over_bare for t in timed if t.kind == kind] for kind in TIMED}
    tokens = [t.tokens_over_bare for t in timed if t.kind == "complex"]
    return {
        **{f"{kind}_wall": percentile(ratios, 0.5) for kind, ratios in over_bare.items()},
        "complex_tokens": percentile(tokens, 0.5),
        "busy_p50": percentile((t.over_busy for t in timed), 0.5),
        "busy_p95": percentile((t.over_busy for t in timed), 0.95),
    }


def _quote_precision(results: Results) -> float | None:
    return _share_of(_all_runs(results), "quotes_right", "quotes")


def _all_runs(results: Results) -> list[Figures]:
    """Return every run: all depths, the fixed mode, all analysts."""
    runs = [f for m in results.measured for f in (m.adaptive, *m.depths, *m.tree)]
    return [*runs, *(t.figures for t in results.tried)]


def _share_of(runs: Sequence[Figures], part: str, whole: str) -> float | None:
    return share(sum(getattr(f, part) for f in runs), sum(getattr(f, whole) for f in runs))


def _ledger_facts(runs: Sequence[Figures]) -> float | None:
    found = [(f.score.report_recall, f.score.evidence_recall) for f in runs]
    return known_mean(report / ledger if report is not None and ledger else None
                  for report, ledger in found)  # fmt: skip
