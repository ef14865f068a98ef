"""Engines with one fault each, and the figures by which the instruments tell.

A fault is planted in the engine, never in the model: the model stays the honest oracle, and
what catches the fault is the score, against the world's own pages and the servers' own log.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field, replace
from typing import Any, Literal
from unittest.mock import patch

from bench.comparison.depths import DEPTH, hindsight
from bench.comparison.figures import Figures
from bench.comparison.variant import Variant, forced
from bench.world.score import Stopping, stopping
from research.engine import loop, report, verdict
from research.engine import round as rounds
from research.engine.config import ResearchConfig
from research.engine.draft import Draft, without
from research.engine.draft import Fault as Faulty
from research.engine.evidence import Finding
from research.engine.findings import Reading
from research.engine.ledger import Ledger
from research.engine.markdown import Rendered, render
from research.engine.records import StopReason
from research.engine.run import Run
from research.engine.stopping import Decision, Situation, Stop
from research.engine.tasks.read import read
from research.engine.text import unique
from research.engine.tools import Fetch, Page, Tools
from research.engine.verdict import close_round

SLEEP_SECONDS = 0.3
Direction = Literal["up", "down"]


# --- the figures ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Judged:
    """A run's figures beside those of the same question's run that went on to the full depth."""

    figures: Figures
    deepest: Figures

    @property
    def stopping(self) -> Stopping:
        best = self.deepest.score.evidence_recall or 0.0
        mine = self.figures.score
        return stopping(mine.rounds, hindsight((self.deepest,)), mine.evidence_recall, best)

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
NOISE: Mapping[str, float] = {"idle seconds a round": SLEEP_SECONDS / 2}
"""How far a figure may stray by itself; counts and shares not at all."""


def figures(runs: Sequence[Judged]) -> dict[str, float]:
    return {name: figure(runs) for name, figure in FIGURES.items()}


def moved(before: Mapping[str, float], after: Mapping[str, float]) -> dict[str, Direction]:
    """The figures that differ by more than their noise, and where they went."""
    found: dict[str, Direction] = {}
    for name in FIGURES:
        difference = after[name] - before[name]
        if abs(difference) > NOISE.get(name, 1e-9):
            found[name] = "up" if difference > 0 else "down"
    return found


# --- the faults -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Fault:
    """`moves` are the figures that tell; `follow` may move in their wake; all others stay."""

    variant: Variant
    moves: Mapping[str, Direction]
    follow: frozenset[str] = field(default_factory=frozenset)

    @property
    def unconcerned(self) -> frozenset[str]:
        return frozenset(FIGURES) - self.moves.keys() - self.follow


def _stop_at_once(now: Situation, config: ResearchConfig) -> Decision:
    return Stop(StopReason.MAX_ROUNDS)


def _reading(change: Callable[[Reading], None]) -> AbstractContextManager[object]:
    """The engine with every reading changed after its check."""

    async def changed(run: Run, *told: Any) -> Reading:
        result = await read(run, *told)
        change(result)
        return result

    return patch.object(rounds, "read", changed)


def _add_an_invention(reading: Reading) -> None:
    """One more finding, of a real page, with a quote that stands nowhere."""
    for first in reading.findings[:1]:
        said = f"The Unheard Lyceum settled the matter of {first.aspect_id} long ago."
        reading.findings.append(
            replace(first, claim=said, source=replace(first.source, quote=said), also=())
        )


def _falsify(reading: Reading) -> None:
    """Every number of every claim becomes the next one; the quotes stay as they are."""

    def false(finding: Finding) -> Finding:
        claim = re.sub(r"\d{7}", lambda found: str(int(found.group()) + 1), finding.claim)
        return replace(finding, claim=claim)

    reading.findings = [false(finding) for finding in reading.findings]


def _false_claims() -> AbstractContextManager[object]:
    """Claims falsified, and the check of the report that would notice switched off."""

    def none(draft: Draft, ledger: Ledger) -> list[Faulty]:
        return []

    both = ExitStack()
    both.enter_context(_reading(_falsify))
    both.enter_context(patch.object(report, "faults", none))
    return both


def _render_half(ledger: Ledger, draft: Draft, *more: Any) -> Rendered:
    """Every second thing that the report says is left out, wherever it says it."""
    cut = set(unique(statement.text for statement in draft.statements)[1::2])
    numbers = {n for n, statement in enumerate(draft.statements, 1) if statement.text in cut}
    return render(ledger, without(draft, numbers), *more)


def _render_astray(*told: Any) -> Rendered:
    """Each marker leads to the quote that another marker half the list away stands for."""
    found = render(*told)
    half = len(found.citations) // 2
    others = (*found.citations[half:], *found.citations[:half])
    pairs = zip(found.citations, others, strict=True)
    astray = tuple(replace(other, marker=right.marker) for right, other in pairs)
    return replace(found, citations=astray)


async def _close_slowly(run: Run) -> Decision:
    await asyncio.sleep(SLEEP_SECONDS)
    return await close_round(run)


@dataclass(frozen=True)
class _Twice:
    """Gets every page, and gets it again."""

    once: Fetch

    async def fetch(self, url: str) -> Page:
        await self.once.fetch(url)
        return await self.once.fetch(url)


def _fetching_twice(tools: Tools) -> Tools:
    return replace(tools, fetch=_Twice(tools.fetch))


_COSTS = frozenset({"model calls", "tokens", "searches", "fetches"})

FAULTS = (
    Fault(
        Variant("stops after one round",
                engine=lambda: patch.object(verdict, "decide", _stop_at_once)),
        {"rounds": "down", "premature stops": "up", "evidence recall": "down",
         "report recall": "down", "model calls": "down", "fetches": "down"},
        frozenset({"tokens", "searches", "sentences", "late stops"}),
    ),
    Fault(
        replace(forced(DEPTH), name="never stops before the limit"),
        {"rounds": "up", "late stops": "up", "model calls": "up", "tokens": "up",
         "searches": "up"},
        frozenset({"fetches", "sentences", "repeated searches"}),
    ),
    Fault(
        Variant("invents a quote", engine=lambda: _reading(_add_an_invention)),
        {"quote precision": "down", "citation precision": "down"},
        frozenset({"sentences", "tokens"}),
    ),
    Fault(
        Variant("puts a false claim on a true quote", engine=_false_claims),
        {"claim precision": "down", "citation precision": "down", "report recall": "down"},
    ),
    Fault(
        Variant("fetches twice", tools=_fetching_twice),
        {"fetches": "up", "repeated fetches": "up"},
    ),
    Fault(
        Variant("cites the wrong page",
                engine=lambda: patch.object(report, "render", _render_astray)),
        {"citation precision": "down"},
    ),
    Fault(
        Variant("sleeps 300 ms a round",
                engine=lambda: patch.object(loop, "close_round", _close_slowly)),
        {"idle seconds a round": "up"},
    ),
    Fault(
        Variant("cuts half its sentences",
                engine=lambda: patch.object(report, "render", _render_half)),
        {"sentences": "down", "report recall": "down"},
    ),
)  # fmt: skip
