"""One more search for each point that a report leaves open; its pages belong to the last round.

What first results tell should not be left open, but it isn't worth a round: the model reads nothing
here and judges nothing. The last look of the report goes over the pages.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from research.engine.records import OpenPoint, StopReason
from research.engine.rounds.findings import Reading
from research.engine.rounds.merge import Merger
from research.engine.rounds.research_round import (
    FIRST_HITS,
    dispatch_units,
    fetches_left,
    run_wave,
)
from research.engine.rounds.topics import Topic
from research.engine.rounds.units import Work
from research.engine.run import Run

PAGES_OF_A_POINT = 2
GOES_ON: Final = frozenset({
    StopReason.MAX_ROUNDS, StopReason.QUALITY_MET, StopReason.NO_GAPS, StopReason.STUCK,
    StopReason.NO_NOVELTY, StopReason.DIMINISHING_QUALITY,
})  # fmt: skip
"""Ends of research after which there may be more searches: no person and no budget ended it."""


async def look_up(run: Run, points: Sequence[OpenPoint]) -> None:
    """Search for each point as far as the budgets allow, and take in the pages among the first
    results that were not tried before. Failed searches and pages are noted like those of a round.
    """
    config, used = run.config, run.journal.meter.usage
    left = (config.max_searches - used.searches) // len(config.search_kind)
    room = min(left, config.max_research_units - len(run.ledger.topics))
    if run.is_fixed or run.state.termination_reason not in GOES_ON or room <= 0:
        return
    topics = [_topic(point) for point in points[:room]]
    work = dispatch_units(run, topics)
    merger = Merger(run)
    await run_wave(run, work, _choose_first, _read_later)
    await merger.add(work)
    run.tell_usage()


def _topic(point: OpenPoint) -> Topic:
    query = point.words or point.text
    return Topic(point.text, (query,), point.aspect_id, reason="the report leaves it open")


def _choose_first(run: Run, work: Sequence[Work]) -> None:
    """Choose the first results of each search that no unit has tried."""
    most = fetches_left(run)
    for item in work:
        fresh = [hit.url for hit in item.hits[:FIRST_HITS] if hit.url not in run.tried]
        chosen = fresh[: min(PAGES_OF_A_POINT, most)]
        item.urls += chosen
        run.tried.update(chosen)
        most -= len(chosen)


async def _read_later(run: Run, item: Work) -> Reading:
    return Reading()
