"""The stop rule: a pure function of the rounds' results. The first reason that applies wins.

Rules A3-A7, A10, C13-C15, E6-E9 of `docs/requirements.md`, in the order of `StopReason`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from research.engine.config import ResearchConfig
from research.engine.records import Complexity, StopReason

MOST_FAILING = 3
"""Rounds in a row that may fail."""
STILL_NEW = 0.3
"""Share of new words in a round's findings with which a broad run goes on while sub-questions are
open, however little its score has grown.
"""


@dataclass(frozen=True)
class Continue:
    """Research goes on."""


@dataclass(frozen=True)
class Stop:
    reason: StopReason


Decision = Continue | Stop


@dataclass(frozen=True)
class Situation:
    """Input of the rule after a round. `rounds` is the number of closed rounds.

    `scores` and `novelties` have one value per round, oldest first. `gates_open` means that the
    evidence gate or Gates 1-2 still ask for more that may be found. `had_news` means that the round
    closed a gap or raised a sub-question. `topics_left` counts untried topics. `wished` is the
    round that a person wants to reach, whatever the quality rules say. `bridge` means that pages
    name something that the question needs and that was not searched yet, `untried_critical` that a
    critical gap has an unsearched query. `unsearched` counts the sub-questions without an answer
    that were never searched. `is_held` means that something keeps the score below the threshold,
    whatever `scores` say. `unanswered` counts the open sub-questions of a broad run. `failed`
    rounds could read no page, the last `failing` ones in a row; they have no score and no novelty.
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
    is_held: bool = False
    unanswered: int = 0
    failing: int = 0
    failed: int = 0
    complexity: Complexity = Complexity.ORDINARY
    command: StopReason | None = None
    spent: StopReason | None = None


def decide_stop(now: Situation, config: ResearchConfig) -> Decision:
    """Return the first reason to stop that applies, or the decision to continue."""
    reason = next(stop_reasons(now, config), None)
    return Stop(reason) if reason else Continue()


def stop_reasons(now: Situation, config: ResearchConfig) -> Iterator[StopReason]:
    """Yield every reason that applies, in order."""
    yield from _hard_reasons(now, config)
    if now.rounds >= max(config.adaptive_min_depth, now.wished):
        yield from _quality_reasons(now, config)
        if config.enable_early_termination:
            yield from _early_reasons(now, config)
    if now.topics_left == 0:
        yield StopReason.STUCK


def _hard_reasons(now: Situation, config: ResearchConfig) -> Iterator[StopReason]:
    """Yield reasons that override the minimum depth.

    If nothing answers after two rounds (or the last one, or with no query left), that is the reason
    rather than the number of rounds; while a bridge is in sight, only after the last round.
    """
    yield from filter(None, (now.command, now.spent))
    if now.units >= config.max_research_units:
        yield StopReason.MAX_UNITS
    end = max(now.soft_end, now.wished)
    if _ends_unread(now, end):
        yield StopReason.PAGES_UNREADABLE
    if now.rounds >= end and now.supporting > 0:
        yield StopReason.MAX_ROUNDS
    enough = end if now.bridge else min(2, end)
    readable = now.rounds >= now.wished and now.rounds - now.failed >= enough
    tried = readable or now.rounds >= end or now.topics_left == 0
    if tried and now.supporting == 0:
        yield StopReason.NOTHING_FOUND


def _ends_unread(now: Situation, end: int) -> bool:
    """Return whether failed rounds end the run: too many in a row, or at its end, two or nothing
    found.
    """
    if not now.failing or now.topics_left == 0:
        return now.failing > 0
    is_last = now.rounds >= end and (now.failing > 1 or now.supporting == 0)
    return is_last or now.failing >= MOST_FAILING


def _quality_reasons(now: Situation, config: ResearchConfig) -> Iterator[StopReason]:
    if now.gates_open or now.bridge or now.unsearched:
        return
    good = bool(now.scores) and now.scores[-1] >= config.adaptive_quality_threshold
    if good and not now.is_held and not now.critical_gaps:
        yield StopReason.QUALITY_MET
    if now.open_gaps == 0:
        yield StopReason.NO_GAPS


def _early_reasons(now: Situation, config: ResearchConfig) -> Iterator[StopReason]:
    """Yield the three rules that `ENABLE_EARLY_TERMINATION` switches."""
    if now.had_news or now.bridge or now.untried_critical or now.unsearched or now.failing:
        return
    if min(len(now.novelties), len(now.scores)) < 2:
        return
    if now.novelties[-2:] == (0.0, 0.0):
        yield StopReason.STUCK
    if now.novelties[-1] < config.min_novelty_threshold:
        yield StopReason.NO_NOVELTY
    is_still_new = now.unanswered > 0 and now.novelties[-1] >= STILL_NEW
    if not is_still_new and now.scores[-1] - now.scores[-2] < config.min_improvement_threshold:
        yield StopReason.DIMINISHING_QUALITY
