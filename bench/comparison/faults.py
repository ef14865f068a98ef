"""Engines with one fault each, and the figures by which the instruments tell.

A fault is planted in the engine, never in the model: the model stays the honest oracle, and
what catches the fault is the score, against the world's own pages and the servers' own log.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from bench.comparison.depths import DEPTH
from bench.comparison.instruments import FIGURES, Direction
from bench.comparison.variant import Variant, forced
from research.engine import (
    Aspect,
    Clock,
    Decision,
    Fetch,
    Page,
    ResearchConfig,
    Rules,
    Situation,
    Stop,
    StopReason,
    Tools,
)
from research.engine.evidence.ledger import Ledger
from research.engine.evidence.store import Finding
from research.engine.llm_tasks.prompting.prompt_pages import NumberedSentence
from research.engine.report.draft import Draft, put_instead
from research.engine.report.draft import Fault as Faulty
from research.engine.report.rendering.markdown import USUAL, Rendered, render_report
from research.engine.report.report_format import Layout
from research.engine.rounds.findings import Reading, check_finding
from research.engine.text.tokens import unique_texts

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


def _changing(change: Callable[[Finding, bool], Sequence[Finding]]) -> Rules:
    """Change every finding after its check; `change` also learns whether it is its unit's first."""

    def changed(
        reading: Reading,
        said: str,
        lines: Sequence[NumberedSentence],
        aspect: Aspect,
        question: str,
        most_quotes: int,
        **more: Any,
    ) -> None:
        known = len(reading.findings)
        check_finding(reading, said, lines, aspect, question, most_quotes, **more)
        for finding in reading.findings[known:]:
            reading.findings[known:] = change(finding, known == 0)

    return Rules(check_finding=changed)


def _add_an_invention(finding: Finding, is_first: bool) -> Sequence[Finding]:
    """One more finding for each unit, of a real page, with a quote that the page does not hold."""
    if not is_first:
        return [finding]
    said = f"The Unheard Lyceum settled the matter of {finding.aspect_id} long ago."
    source = replace(finding.source, quote=said)
    return [finding, replace(finding, claim=said, source=source, also=())]


def _falsify(finding: Finding, is_first: bool) -> Sequence[Finding]:
    """Every number of the claim becomes the next one; the quote stays as it is."""
    claim = re.sub(r"\d{7}", lambda found: str(int(found.group()) + 1), finding.claim)
    return [replace(finding, claim=claim)]


def _find_nothing(draft: Draft, ledger: Ledger) -> list[Faulty]:
    """Return the check of the report that would notice a false claim, switched off."""
    return []


def _half(
    ledger: Ledger, draft: Draft, ended: str, cut: int, by_code: int, layout: Layout = USUAL
) -> Rendered:
    """Every second thing that the report says is left out, wherever it says it."""
    dropped = set(unique_texts(statement.text for statement in draft.statements)[1::2])
    left = put_instead(draft, {said: None for said in draft.statements if said.text in dropped})
    return render_report(ledger, left, ended, cut, by_code, layout)


def _astray(
    ledger: Ledger, draft: Draft, ended: str, cut: int, by_code: int, layout: Layout = USUAL
) -> Rendered:
    """Each marker leads to the quote of another marker, half the list away."""
    rendered = render_report(ledger, draft, ended, cut, by_code, layout)
    citations = rendered.citations
    half = len(citations) // 2
    pairs = zip(citations, (*citations[half:], *citations[:half]), strict=True)
    astray = tuple(replace(other, marker=right.marker) for right, other in pairs)
    return replace(rendered, citations=astray)


@dataclass(frozen=True)
class _SlowClock:
    """A clock that keeps the engine waiting at each round's gates, for which it asks the date."""

    exact: Clock

    def now(self) -> datetime:
        time.sleep(SLEEP_SECONDS)
        return self.exact.now()

    def monotonic(self) -> float:
        return self.exact.monotonic()


def _with_slow_clock(tools: Tools) -> Tools:
    return replace(tools, clock=_SlowClock(tools.clock))


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
        Variant("stops after one round", rules=Rules(decide_stop=_stop_at_once)),
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
        Variant("invents a quote", rules=_changing(_add_an_invention)),
        {"quote precision": "down", "citation precision": "down"},
        frozenset({"sentences", "tokens"}),
    ),
    Fault(
        Variant("puts a false claim on a true quote",
                rules=replace(_changing(_falsify), find_faults=_find_nothing,
                              verifies_statements=False)),
        {"claim precision": "down", "citation precision": "down", "report recall": "down"},
        frozenset({"sentences", "tokens", "model calls"}),
    ),
    Fault(
        Variant("fetches twice", tools=_fetching_twice),
        {"fetches": "up", "repeated fetches": "up"},
    ),
    Fault(
        Variant("cites the wrong page", rules=Rules(render_report=_astray)),
        {"citation precision": "down"},
    ),
    Fault(
        Variant("sleeps 300 ms a round", tools=_with_slow_clock),
        {"idle seconds a round": "up"},
    ),
    Fault(
        Variant("cuts half its sentences",
                rules=Rules(render_report=_half, reopens_after_draft=False)),
        {"sentences": "down", "report recall": "down"},
    ),
)  # fmt: skip
