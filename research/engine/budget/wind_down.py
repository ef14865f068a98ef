"""Near the end of a budget: one last broad search if it fits, then the report. Rule C12."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from research.engine.assessment.stop_rule import Continue, Decision, Stop
from research.engine.budget.meter import Spent
from research.engine.offline.planning import query_of
from research.engine.rounds.topics import Topic, choose_topics
from research.engine.run import Run

LAST = "a budget is nearly spent, and this is the last search"
LAST_SHARE = 0.5
"""A last broad search is one unit and its assessment: about half of a round."""


def record_spend(run: Run, seconds: float) -> None:
    """Note what is spent at a boundary; `seconds` are a journaled reading of the clock."""
    run.marks.append(run.journal.meter.so_far(seconds))


def cost_of_a_round(run: Run, topics: int) -> Spent:
    """Return the highest cost of a round with this number of topics, by the most expensive so far.

    A round reads once a topic and is assessed once: the cost of model calls scales with that, time
    doesn't. Searches and pages are limited to what is left.
    """
    spent = [later.since(earlier) for earlier, later in pairwise(run.marks)]
    latest_first = zip(reversed(spent), reversed(run.ledger.rounds), strict=False)
    cost = Spent.most(
        _scale_spend(each, (topics + 1) / (len(made.topics) + 1)) for each, made in latest_first
    )
    return replace(cost, searches=min(cost.searches, 1), fetches=min(cost.fetches, 1))


def _scale_spend(spent: Spent, share: float) -> Spent:
    """Of a round with fewer topics the same, not more: a reading may well be short."""
    less = spent.times(min(1.0, share))
    return replace(spent, calls=less.calls, tokens=less.tokens, dollars=less.dollars)


def another_round_fits(run: Run) -> Decision:
    """Go on where another round like the dearest so far fits, else wind up."""
    if not run.rules.foresees_next_round:
        return Continue()
    meter, seconds, most = run.journal.meter, run.marks[-1].seconds, run.limits.topics_per_round
    fresh = choose_topics(run.candidates, run.ledger, most, run.topic_threshold).topics
    round_cost = cost_of_a_round(run, len(fresh))
    short = meter.short_of(round_cost, seconds, run.has_model)
    if short is None:
        return Continue()
    last = replace(round_cost.times(LAST_SHARE), searches=1)
    broad = _broad_topic(run) if run.rules.searches_broadly_last else None
    if broad is None or meter.short_of(last, seconds, run.has_model):
        return Stop(short)
    run.candidates, run.last = [broad], short
    run.log("one last broad search before %s", short)
    return Continue()


def _broad_topic(run: Run) -> Topic | None:
    """Return the question as a whole, by words that were not searched yet."""
    ledger = run.ledger
    missing = ledger.open_aspects()
    named = " ".join(query_of(aspect.text) for aspect in missing[:2])
    ways = tuple(dict.fromkeys(filter(None, (query_of(ledger.question), named))))
    topic = Topic(ledger.question, ways, missing[0].id if missing else None, reason=LAST)
    return topic if choose_topics([topic], ledger, 1, run.topic_threshold).topics else None
