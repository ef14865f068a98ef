"""Topics of the next round: gaps first, then directions, without near-duplicates.

Rules A8, E1-E3 and E8 of `docs/requirements.md`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from research.engine.assessment.assessment import Assessment
from research.engine.evidence.ledger import Lead, Ledger, unchecked_claims
from research.engine.limits import Limits
from research.engine.offline.leads import find_leads
from research.engine.offline.planning import query_of
from research.engine.records import Aspect, Complexity, Evidence, Gap, Skipped
from research.engine.text.similarity import find_twin
from research.engine.text.tokens import normalise_space, split_clauses, term_set, unique_texts
from research.engine.untrusted.search_words import search_words

TOP_GAPS = 3
TOP_DIRECTIONS = 2
CRITICAL_GAP = "it is still missing, and the answer would be wrong or useless without it"
OPEN_GAP = "it is still missing"
SUGGESTED = "it was suggested after the last round"
NAMED = "pages name it, and nobody looked it up yet"
DEEPER = "somebody asked for more detail"
UNREADABLE = "the pages that were found for it so far could not be read"
MORE_SOURCES = "more independent sources are needed"
DISPUTED = "sources disagree on it"
QUERY_WORDS = 10


@dataclass(frozen=True)
class Topic:
    """A unit's research topic. `queries` are alternative queries for it, preferred first.

    The next query is used if a search found nothing new, unless all of them are requested. `lead`
    is the lead that it follows; `reason` is why something that isn't in the plan is searched, as
    shown to a reading model; `things` are what it compares.
    """

    text: str
    queries: tuple[str, ...]
    aspect_id: str | None = None
    all_queries: bool = False
    lead: Lead | None = None
    reason: str = ""
    things: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Keep the significant words of each query, and drop queries without any."""
        words = unique_texts(filter(None, map(search_words, self.queries)))
        object.__setattr__(self, "queries", tuple(words) or (search_words(query_of(self.text)),))


@dataclass(frozen=True)
class Choice:
    """The topics of a round with their untried queries, and those refused as near-duplicates."""

    topics: tuple[Topic, ...]
    skipped: tuple[Skipped, ...]


def first_topics(ledger: Ledger, *, by_parts: bool, things: Sequence[str] = ()) -> list[Topic]:
    """Return one topic for each sub-question of the plan. `by_parts`, each question in it is
    searched by itself as well; one that compares `things` knows which.
    """
    return [_planned_topic(aspect, by_parts, things) for aspect in ledger.aspects.values()]


def _planned_topic(aspect: Aspect, by_parts: bool, things: Sequence[str]) -> Topic:
    parts = split_clauses(aspect.text) if by_parts else []
    named = tuple(thing for thing in things if thing.casefold() in aspect.text.casefold())
    queries = (aspect.query, *map(query_of, parts))
    compared = named if len(named) > 1 else ()
    return Topic(aspect.text, queries, aspect.id, all_queries=bool(parts), things=compared)


def unsearched_aspects(ledger: Ledger, threshold: float) -> list[Aspect]:
    """Return unanswered sub-questions that no search was made for, not even in similar words."""
    answered = [query for query, hits in ledger.queries.items() if hits]
    return [
        aspect
        for aspect in ledger.open_aspects()
        if aspect.id not in ledger.effort.searched
        and not find_twin(aspect.query, answered, threshold)
    ]


def unsearched_first(wanted: Sequence[Topic], missed: Sequence[Aspect]) -> list[Topic]:
    """Return the topics with those of sub-questions that were never searched first."""
    ids = {aspect.id for aspect in missed}
    named = {topic.aspect_id for topic in wanted}
    added = [Topic(a.text, (a.query,), a.id) for a in missed if a.id not in named]
    first = [topic for topic in wanted if topic.aspect_id in ids]
    return [*first, *added, *(topic for topic in wanted if topic.aspect_id not in ids)]


def next_topics(ledger: Ledger, assessment: Assessment) -> list[Topic]:
    """Return candidates, best first: critical gaps, other gaps, directions, leads."""
    gaps = sorted(
        (gap for gap in ledger.open_gaps() if gap.query),
        key=lambda gap: (not gap.critical, -gap.opened_round, int(gap.id[1:])),
    )
    wanted = [_of_gap(ledger, gap) for gap in gaps]
    focus = wanted[0].aspect_id if wanted else None
    most = assessment.most_directions
    wanted[TOP_GAPS:TOP_GAPS] = [
        Topic(text, (text,), focus if most <= TOP_DIRECTIONS else _nearest_aspect(ledger, text),
              reason=SUGGESTED)
        for text in map(normalise_space, assessment.directions[:most])
    ]  # fmt: skip
    follows = not assessment.by_model and ledger.complexity is not Complexity.COMPLEX
    return wanted + (lead_topics(ledger) if follows else [])


def _nearest_aspect(ledger: Ledger, text: str) -> str | None:
    """Return the sub-question that shares most words with a search; the first one of a tie."""
    said = term_set(text)
    return max(
        ledger.aspects,
        key=lambda aspect_id: len(said & term_set(ledger.aspects[aspect_id].text)),
        default=None,
    )


def _of_gap(ledger: Ledger, gap: Gap) -> Topic:
    reason = CRITICAL_GAP if gap.critical else OPEN_GAP
    return Topic(gap.text, _gap_queries(ledger, gap), gap.aspect_id, reason=reason)


def _gap_queries(ledger: Ledger, gap: Gap) -> tuple[str, ...]:
    """Return the gap's own query, then the sub-question's words, then leads."""
    ways = [gap.query]
    if gap.aspect_id in ledger.aspects:
        aspect = ledger.aspects[gap.aspect_id]
        ways.append(query_of(aspect.text))
    ways += [lead.query for lead in list(ledger.leads.values())[-3:]]
    return tuple(unique_texts(ways))


def lead_topics(ledger: Ledger) -> list[Topic]:
    """Return topics from leads of the pages read so far, best first, for the first sub-question."""
    main = next(iter(ledger.aspects))
    return [
        Topic(
            lead.text, tuple(unique_texts([lead.query, lead.text])), main, lead=lead, reason=NAMED
        )
        for lead in find_leads(ledger)
    ]


def further_topics(ledger: Ledger) -> list[Topic]:
    """Return topics with more on each sub-question, weakest sub-question first.

    Their queries are words of its best claims and its own.
    """
    topics = []
    for aspect in sorted(ledger.aspects.values(), key=lambda a: len(ledger.keys_of(a.id))):
        claims = [query_of(claim) for claim in ledger.claims_on(aspect.id, 3)]
        ways = unique_texts([aspect.query, *claims, query_of(aspect.text)])
        topics.append(Topic(aspect.text, tuple(ways), aspect.id, reason=MORE_SOURCES))
    return topics


def lacking_topics(ledger: Ledger, limits: Limits) -> list[Topic]:
    """Return topics for what the ledger lacks.

    Sub-questions with too few sources and unconfirmed claims come first; then names in pages that
    were not searched, then more on any sub-question.
    """
    topics = further_topics(ledger)
    few = {a for a in ledger.aspects if len(ledger.keys_of(a)) < limits.sources_per_aspect}
    weak = [confirming_topic(ledger, claim) for claim in unchecked_claims(ledger, limits)]
    if few or weak:
        return [*(topic for topic in topics if topic.aspect_id in few), *weak]
    named = reversed(ledger.leads.values())
    return [*(Topic(lead.query, (lead.query,), reason=NAMED) for lead in named), *topics]


def confirming_topic(ledger: Ledger, claim: Evidence) -> Topic:
    """Return the topic for other sources on a claim, or for what settles a contradiction."""
    rivals = [ledger.book.records[i] for i in claim.contradicts if i in ledger.book.records]
    ways = [claim_query(each.claim) for each in (claim, *rivals)]
    if rivals and claim.aspect_id in ledger.aspects:
        ways.append(f"{query_of(ledger.aspects[claim.aspect_id].text)} date")
    why = DISPUTED if rivals else MORE_SOURCES
    return Topic(doubt_about(ledger, claim), tuple(unique_texts(ways)), claim.aspect_id, reason=why)


def doubt_about(ledger: Ledger, claim: Evidence) -> str:
    """Return what verification should find out about a claim."""
    rival = next((ledger.book.records.get(i) for i in claim.contradicts), None)
    if rival is None:
        return f"Other sources on: {claim.claim}"
    return f"Which of the two is right, and as of when: “{claim.claim}” or “{rival.claim}”?"


def claim_query(claim: str) -> str:
    """Return a claim's own words, for a search."""
    return " ".join(query_of(claim).split()[:QUERY_WORDS])


def choose_topics(
    candidates: Sequence[Topic], ledger: Ledger, limit: int, threshold: float
) -> Choice:
    """Refuse near-duplicates of earlier searches, then keep the first `limit` topics.

    A topic is refused only if each of its queries duplicates an earlier one. A lead is never
    refused as a duplicate, since its name makes a difference in meaning, but it is refused once it
    was looked up.
    """
    chosen: list[Topic] = []
    skipped: list[Skipped] = []
    for topic in candidates:
        earlier = [*ledger.queries, *(other.queries[0] for other in chosen)]
        compared = earlier if topic.lead is None else []
        twins = [find_twin(query, compared, threshold) for query in topic.queries]
        fresh = [query for query, double in zip(topic.queries, twins, strict=True) if not double]
        if fresh and len(chosen) < limit:
            chosen.append(replace(topic, queries=tuple(fresh)))
        elif not fresh and twins[0]:
            skipped.append(replace(twins[0], topic=topic.text))
    return Choice(tuple(chosen), tuple(skipped))
