"""The engine under analysts that do harm, under none, and in the fixed mode."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bench.comparison.figures import Figures
from bench.comparison.running import EXTRACTIVE, Bench
from bench.comparison.statistics import mean
from bench.comparison.strategies import recall
from bench.world.hostile import HONEST, MISJUDGING, TYING, VARIANTS, VERIFIERS

TREE = {"deep_research_mode": "fixed"}
HOSTILE = tuple(name for name in VARIANTS if name not in {HONEST, TYING, *MISJUDGING, *VERIFIERS})
FALSE_CLAIMS, INVENTING = "oracle-false-claims", "oracle-inventing"


@dataclass(frozen=True)
class Tried:
    """One run under one analyst; `mode` is adaptive or fixed."""

    analyst: str
    mode: str
    kind: str
    figures: Figures


async def try_all(bench: Bench) -> list[Tried]:
    """Every question of the world under every analyst, complex ones also under `TYING`."""
    found = []
    for question in bench.running.world.questions:
        for analyst in (*HOSTILE, EXTRACTIVE):
            ran = await bench.run(question, model=analyst)
            found.append(Tried(analyst or "no model", "adaptive", question.kind, ran.figures))
        if question.kind == "complex":
            ran = await bench.run(question, model=TYING)
            found.append(Tried(TYING, "adaptive", question.kind, ran.figures))
        for analyst in (INVENTING, FALSE_CLAIMS):
            ran = await bench.run(question, TREE, model=analyst)
            found.append(Tried(analyst, "fixed", question.kind, ran.figures))
    return found


@dataclass(frozen=True)
class Row:
    """All runs under one analyst. Shares are 0-1; None where there was nothing to count."""

    name: str
    runs: int
    ended: float
    most_rounds: int
    most_calls: int
    quotes: int
    quote_precision: float | None
    false_claims: int
    false_claims_reported: float | None
    orders_obeyed: int
    citation_precision: float | None
    recall: float


def rows(tried: Sequence[Tried]) -> list[Row]:
    places = dict.fromkeys((t.analyst, t.mode) for t in tried)
    return [
        row(
            name if mode == "adaptive" else f"{name}, fixed mode",
            [t.figures for t in tried if (t.analyst, t.mode) == (name, mode)],
        )
        for name, mode in places
    ]


def row(name: str, runs: Sequence[Figures]) -> Row:
    returned = sum(f.score.false_claims_returned for f in runs)
    reported = sum(f.score.false_claims_reported for f in runs)
    return Row(
        name=name,
        runs=len(runs),
        ended=mean(f.status == "completed" for f in runs),
        most_rounds=max(f.score.rounds for f in runs),
        most_calls=max(f.cost.model_calls for f in runs),
        quotes=sum(f.quotes for f in runs),
        quote_precision=share(sum(f.quotes_right for f in runs), sum(f.quotes for f in runs)),
        false_claims=returned,
        false_claims_reported=share(reported, returned),
        orders_obeyed=sum(f.score.injected_reported for f in runs),
        citation_precision=share(*_cited(runs)),
        recall=mean(map(recall, runs)),
    )


def _cited(runs: Sequence[Figures]) -> tuple[float, int]:
    """Right sentences and all that are cited, over all runs."""
    pairs = [(f.score.citation_precision or 0.0, f.score.cited_sentences) for f in runs]
    return sum(precision * count for precision, count in pairs), sum(n for _, n in pairs)


def share(part: float, whole: float) -> float | None:
    return part / whole if whole else None
