"""Engines with one fault each, and the figures by which the instruments tell.

A fault is planted in the engine, never in the model: the model stays the honest oracle, and
what catches the fault is the score, against the world's own pages and the servers' own log.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping
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
from research.engine.report import Written, publish
from research.engine.run import Run
from research.engine.stopping import Decision, Situation, Stop
from research.engine.tasks.read import read
from research.engine.text import unique
from research.engine.tools import Fetch, Page, Tools
from research.engine.verdict import close_round, close_verification

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


def _publishing(change: Callable[[Run, Written], Rendered]) -> AbstractContextManager[object]:
    """The engine with every report changed after its gate."""

    async def changed(run: Run, written: Written | None) -> None:
        await publish(run, written and replace(written, rendered=change(run, written)))

    return patch.object(loop, "publish", changed)


def _half(run: Run, written: Written) -> Rendered:
    """Every second thing that the report says is left out, wherever it says it."""
    draft = written.checked.draft
    cut = set(unique(statement.text for statement in draft.statements)[1::2])
    numbers = {n for n, statement in enumerate(draft.statements, 1) if statement.text in cut}
    return render(run.ledger, without(draft, numbers), run.state.termination_text or "", 0, 0)


def _astray(run: Run, written: Written) -> Rendered:
    """Each marker leads to the quote that another marker half the list away stands for."""
    citations = written.rendered.citations
    half = len(citations) // 2
    pairs = zip(citations, (*citations[half:], *citations[:half]), strict=True)
    astray = tuple(replace(other, marker=right.marker) for right, other in pairs)
    return replace(written.rendered, citations=astray)


def _sleeping() -> AbstractContextManager[object]:
    """The engine asleep before each round is closed, one of verification too."""

    def slow(step: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
        async def slept(*told: Any) -> Any:
            await asyncio.sleep(SLEEP_SECONDS)
            return await step(*told)

        return slept

    return patch.multiple(
        loop, close_round=slow(close_round), close_verification=slow(close_verification)
    )


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
        frozenset({"sentences", "tokens"}),
    ),
    Fault(
        Variant("fetches twice", tools=_fetching_twice),
        {"fetches": "up", "repeated fetches": "up"},
    ),
    Fault(
        Variant("cites the wrong page", engine=lambda: _publishing(_astray)),
        {"citation precision": "down"},
    ),
    Fault(
        Variant("sleeps 300 ms a round", engine=_sleeping),
        {"idle seconds a round": "up"},
    ),
    Fault(
        Variant("cuts half its sentences", engine=lambda: _publishing(_half)),
        {"sentences": "down", "report recall": "down"},
    ),
)  # fmt: skip
