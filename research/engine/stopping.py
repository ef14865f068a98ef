"""The stop rule: a pure function of what the rounds showed. The first reason that holds wins.

Rules A3-A7, A10, C13-C15, E6-E9 of `docs/requirements.md`, in the order of `StopReason`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from research.engine.config import ResearchConfig
from research.engine.records import Complexity, StopReason

MOST_FAILING = 3
"""Rounds in a row that may fail."""


@dataclass(frozen=True)
class Continue:
    """Research goes on."""


@dataclass(frozen=True)
class Stop:
    reason: StopReason


Decision = Continue | Stop


@dataclass(frozen=True)
class Situation:
    """What the rule looks at after a round. `rounds` is the number of rounds closed.

    `scores` and `novelties` hold one value a round, oldest first. `gates_open` says that the
    evidence gate or Gates 1-2 still ask for more that is to be had. `had_news` says that the
    round closed a gap or raised a sub-question. `topics_left` counts untried topics. `wished`
    is the round that a person wants to see, whatever the rules of quality say. `bridge` says
    that pages name what the question needs and nobody looked up yet, `untried_critical` that a
    critical gap has a query that was not searched. `unsearched` counts the sub-questions without
    an answer that no search was made for. `failed` rounds could read no page, the last `failing`
    ones in a row; they have no score and no novelty.
    """

    rounds: int
    soft_end: int
    scores: tuple[float, ...]
    novelties: tuple[float, ...]
    supporting: int
    open_gaps: int
    critical_gaps: int
    gates_open: bool
    had_news: bool
    topics_left: int
    units: int
    wished: int = 0
    bridge: bool = False
    untried_critical: bool = False
    unsearched: int = 0
    failing: int = 0
    failed: int = 0
    complexity: Complexity = Complexity.ORDINARY
    command: StopReason | None = None
    spent: StopReason | None = None


def decide(now: Situation, config: ResearchConfig) -> Decision:
    """Go on, or stop for the first reason that holds."""
    reason = next(reasons(now, config), None)
    return Stop(reason) if reason else Continue()


def reasons(now: Situation, config: ResearchConfig) -> Iterator[StopReason]:
    """Every reason that holds, in order."""
    yield from _hard(now, config)
    if now.rounds >= max(config.adaptive_min_depth, now.wished):
        yield from _quality(now, config)
        if config.enable_early_termination:
            yield from _early(now, config)
    if now.topics_left == 0:
        yield StopReason.STUCK


def _hard(now: Situation, config: ResearchConfig) -> Iterator[StopReason]:
    """Reasons that override the minimum depth. Where nothing answers after two rounds (or the
    last one, or with no way left to ask), that is the reason, not the number of rounds; while
    a bridge is in sight, only the last one tells."""
    yield from filter(None, (now.command, now.spent))
    if now.units >= config.max_research_units:
        yield StopReason.MAX_UNITS
    end = max(now.soft_end, now.wished)
    if _unreadable(now, end):
        yield StopReason.PAGES_UNREADABLE
    if now.rounds >= end and now.supporting > 0:
        yield StopReason.MAX_ROUNDS
    enough = end if now.bridge else min(2, end)
    readable = now.rounds >= now.wished and now.rounds - now.failed >= enough
    tried = readable or now.rounds >= end or now.topics_left == 0
    if tried and now.supporting == 0:
        yield StopReason.NOTHING_FOUND


def _unreadable(now: Situation, end: int) -> bool:
    """Whether failed rounds end the run: too many in a row, or at its end, two or nothing found."""
    if not now.failing or now.topics_left == 0:
        return now.failing > 0
    is_last = now.rounds >= end and (now.failing > 1 or now.supporting == 0)
    return is_last or now.failing >= MOST_FAILING


def _quality(now: Situation, config: ResearchConfig) -> Iterator[StopReason]:
    if now.gates_open or now.bridge or now.unsearched:
        return
    good = bool(now.scores) and now.scores[-1] >= config.adaptive_quality_threshold
    if good and not now.critical_gaps:
        yield StopReason.QUALITY_MET
    if now.open_gaps == 0:
        yield StopReason.NO_GAPS


def _early(now: Situation, config: ResearchConfig) -> Iterator[StopReason]:
    """The three rules that `ENABLE_EARLY_TERMINATION` switches."""
    if now.had_news or now.bridge or now.untried_critical or now.unsearched or now.failing:
        return
    if min(len(now.novelties), len(now.scores)) < 2:
        return
    if now.novelties[-2:] == (0.0, 0.0):
        yield StopReason.STUCK
    if now.novelties[-1] < config.min_novelty_threshold:
        yield StopReason.NO_NOVELTY
    if now.scores[-1] - now.scores[-2] < config.min_improvement_threshold:
        yield StopReason.DIMINISHING_QUALITY
