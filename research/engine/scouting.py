"""Searches for what pages named, made while the round is judged.

What a page names and nobody looked up is what the assessment mostly asks for next. So it is
searched for meanwhile, a few things at most; the topics of later rounds take the results that
are theirs. Pages are only fetched once a topic wants them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from research.engine.run import Run
from research.engine.similarity import twin
from research.engine.tasks.assess import unsearched_leads
from research.engine.topics import Topic
from research.engine.units import request_for

MOST_SEARCHES = 2
SPARE_ROUNDS = 2
"""Rounds that the budget for searches must hold, so that none is lost to a guess."""


def scout(run: Run) -> None:
    """Begin to search for the newest things that pages named and nobody looked up."""
    if not run.has_model or run.is_small or not _has_room(run):
        return
    ledger, number = run.ledger, run.ledger.round.number
    wanted = [ledger.leads[name].query for name in reversed(unsearched_leads(ledger))]
    for turn, query in enumerate(_distinct(run, wanted)[:MOST_SEARCHES], 1):
        run.scouted[query] = place = f"round/{number}/scout/{turn}"
        run.journal.begin_search(place, request_for(run, query))


def _has_room(run: Run) -> bool:
    """Whether another round may follow, and searches are not short."""
    left = run.config.max_searches - run.journal.meter.usage.searches
    another = run.ledger.round.number < max(run.limits.rounds, run.wished)
    round_takes = run.limits.topics_per_round * len(run.config.search_kind)
    return another and left > SPARE_ROUNDS * round_takes


def _distinct(run: Run, queries: Iterable[str]) -> list[str]:
    kept: list[str] = []
    for query in queries:
        if not _twin(run, query, [*run.ledger.queries, *run.scouted, *kept]):
            kept.append(query)
    return kept


def _twin(run: Run, query: str, others: Iterable[str]) -> str:
    found = twin(query, others, run.config.duplicate_topic_similarity_threshold)
    return found.twin if found else ""


def use_scouted(run: Run, topics: Sequence[Topic]) -> tuple[Topic, ...]:
    """The topics, those that were searched for in nearly their own words with that search."""
    left, using = sorted(run.scouted), list[Topic]()
    for topic in topics:
        if made := _twin(run, topic.queries[0], left):
            left.remove(made)
            topic = replace(topic, queries=(made, *topic.queries[1:]))
        using.append(topic)
    return tuple(using)
