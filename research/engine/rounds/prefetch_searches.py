"""Speculative searches for leads, made during the assessment.

The assessment mostly asks next for names in pages that were not searched yet. So the newest few are
searched for in parallel; later topics with nearly the same query take the results. Pages are
fetched only once a topic needs them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from research.engine.analyst import analyst_of
from research.engine.llm_tasks.assess import unsearched_leads
from research.engine.rounds.topics import Topic
from research.engine.rounds.units import request_for
from research.engine.run import Run
from research.engine.text.similarity import find_twin

MOST_SEARCHES = 2
SPARE_ROUNDS = 2
"""Rounds that the budget for searches must hold, so that none is lost to a guess."""


def begin_prefetch(run: Run) -> None:
    """Start searches for the newest names in pages that were not searched yet."""
    if not analyst_of(run).works_ahead or not _has_room(run):
        return
    ledger, number = run.ledger, run.ledger.round.number
    wanted = [ledger.leads[name].query for name in reversed(unsearched_leads(ledger))]
    for turn, query in enumerate(_distinct_queries(run, wanted)[:MOST_SEARCHES], 1):
        run.scouted[query] = place = f"round/{number}/scout/{turn}"
        run.journal.begin_search(place, request_for(run, query))


def _has_room(run: Run) -> bool:
    """Return whether another round may follow and enough searches are left."""
    left = run.config.max_searches - run.journal.meter.usage.searches
    another = run.ledger.round.number < max(run.limits.rounds, run.wished)
    round_takes = run.limits.topics_per_round * len(run.config.search_kind)
    return another and left > SPARE_ROUNDS * round_takes


def _distinct_queries(run: Run, queries: Iterable[str]) -> list[str]:
    kept: list[str] = []
    for query in queries:
        if not _find_twin(run, query, [*run.ledger.queries, *run.scouted, *kept]):
            kept.append(query)
    return kept


def _find_twin(run: Run, query: str, others: Iterable[str]) -> str:
    found = find_twin(query, others, run.config.duplicate_topic_similarity_threshold)
    return found.twin if found else ""


def use_scouted(run: Run, topics: Sequence[Topic]) -> tuple[Topic, ...]:
    """Return the topics, those that were searched for in nearly their own words with that
    search.
    """
    left, using = sorted(run.scouted), list[Topic]()
    for topic in topics:
        if made := _find_twin(run, topic.queries[0], left):
            left.remove(made)
            topic = replace(topic, queries=(made, *topic.queries[1:]))
        using.append(topic)
    return tuple(using)
