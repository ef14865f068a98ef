"""Engines with one fault each, and the figures by which the instruments tell.

A fault is planted in the engine, never in the model: the model stays the honest oracle, and
what catches the fault is the score, against the world's own pages and the servers' own log.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from typing import Any
from unittest.mock import patch

from bench.comparison.depths import DEPTH
from bench.comparison.instruments import FIGURES, Direction
from bench.comparison.variant import Variant, forced
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


@contextmanager
def _false_claims() -> Iterator[None]:
    """Claims falsified, and the check of the report that would notice switched off."""

    def none(draft: Draft, ledger: Ledger) -> list[Faulty]:
        return []

    with _reading(_falsify), patch.object(report, "faults", none):
        yield


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
