"""Near the end of a budget: one last broad search where it fits, then the report. Rule C12."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from research.engine.budget import Spent
from research.engine.extractive.planning import query_of
from research.engine.run import Run
from research.engine.stopping import Continue, Decision, Stop
from research.engine.topics import Topic, choose

LAST = "a budget is nearly spent, and this is the last search"
LAST_SHARE = 0.5
"""A last broad search is one unit and its assessment: about half of a round."""


def mark(run: Run, seconds: float) -> None:
    """Note what is spent at a boundary; `seconds` are a journaled reading of the clock."""
    run.marks.append(run.journal.meter.so_far(seconds))


def cost_of_a_round(run: Run, topics: int) -> Spent:
    """What a round of so many topics costs at most, by the dearest so far. A round reads once a
    topic and is judged once: what model calls take goes by that, time does not. Searches and pages
    are cut to what is left.
    """
    spent = [later.since(earlier) for earlier, later in pairwise(run.marks)]
    latest_first = zip(reversed(spent), reversed(run.ledger.rounds), strict=False)
    cost = Spent.most(
        _scaled(each, (topics + 1) / (len(made.topics) + 1)) for each, made in latest_first
    )
    return replace(cost, searches=min(cost.searches, 1), fetches=min(cost.fetches, 1))


def _scaled(spent: Spent, share: float) -> Spent:
    """Of a round with fewer topics the same, not more: a reading may well be short."""
    less = spent.times(min(1.0, share))
    return replace(spent, calls=less.calls, tokens=less.tokens, dollars=less.dollars)


def foresee(run: Run) -> Decision:
    """Go on where another round like the dearest so far fits, else wind up."""
    meter, seconds = run.journal.meter, run.marks[-1].seconds
    most, threshold = run.limits.topics_per_round, run.config.duplicate_topic_similarity_threshold
    fresh = choose(run.candidates, run.ledger, most, threshold).topics
    round_cost = cost_of_a_round(run, len(fresh))
    short = meter.short_of(round_cost, seconds, run.has_model)
    if short is None:
        return Continue()
    last = replace(round_cost.times(LAST_SHARE), searches=1)
    broad = _broad(run)
    if broad is None or meter.short_of(last, seconds, run.has_model):
        return Stop(short)
    run.candidates, run.last = [broad], short
    run.log("one last broad search before %s", short)
    return Continue()


def _broad(run: Run) -> Topic | None:
    """The question as a whole, by words that were not searched yet."""
    ledger = run.ledger
    missing = ledger.open_aspects()
    named = " ".join(query_of(aspect.text) for aspect in missing[:2])
    ways = tuple(dict.fromkeys(filter(None, (query_of(ledger.question), named))))
    topic = Topic(ledger.question, ways, missing[0].id if missing else None, reason=LAST)
    threshold = run.config.duplicate_topic_similarity_threshold
    return topic if choose([topic], ledger, 1, threshold).topics else None
