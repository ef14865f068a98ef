"""What the next round looks for: gaps first, then directions, near-duplicates refused.

Rules A8, E1-E3 and E8 of `docs/requirements.md`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from research.engine.assessment import Assessment
from research.engine.extractive.leads import find_leads
from research.engine.extractive.planning import query_of
from research.engine.ledger import Lead, Ledger
from research.engine.limits import Limits
from research.engine.records import Aspect, Complexity, Evidence, Gap, Skipped
from research.engine.similarity import twin
from research.engine.text import normalise, unique
from research.engine.unchecked import unchecked

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
    """What one unit researches. `queries` are ways to search for it, preferred first.

    The next way is for a search that named nothing new, unless all are to be asked. `lead` is
    the lead that it follows, `reason` why it is looked for, as a reader is told.
    """

    text: str
    queries: tuple[str, ...]
    aspect_id: str | None = None
    all_queries: bool = False
    lead: Lead | None = None
    reason: str = "the plan asks for it"


@dataclass(frozen=True)
class Choice:
    """The topics of a round with ways untried so far, and those refused as near-duplicates."""

    topics: tuple[Topic, ...]
    skipped: tuple[Skipped, ...]


def first_topics(ledger: Ledger) -> list[Topic]:
    """One topic for each sub-question of the plan."""
    return [Topic(a.text, (a.query,), a.id) for a in ledger.aspects.values()]


def unsearched(ledger: Ledger, threshold: float) -> list[Aspect]:
    """The sub-questions without an answer that no search was made for, nor for nearly the same
    words.
    """
    answered = [query for query, hits in ledger.queries.items() if hits]
    return [
        aspect
        for aspect in ledger.open_aspects()
        if aspect.id not in ledger.effort.searched and not twin(aspect.query, answered, threshold)
    ]


def unsearched_first(wanted: Sequence[Topic], missed: Sequence[Aspect]) -> list[Topic]:
    """The topics, those of sub-questions that were never searched before all others."""
    ids = {aspect.id for aspect in missed}
    named = {topic.aspect_id for topic in wanted}
    added = [Topic(a.text, (a.query,), a.id) for a in missed if a.id not in named]
    first = [topic for topic in wanted if topic.aspect_id in ids]
    return [*first, *added, *(topic for topic in wanted if topic.aspect_id not in ids)]


def next_topics(ledger: Ledger, assessment: Assessment) -> list[Topic]:
    """Candidates for the next round, best first: critical gaps, other gaps, directions, leads."""
    gaps = sorted(
        (gap for gap in ledger.open_gaps() if gap.query),
        key=lambda gap: (not gap.critical, -gap.opened_round, int(gap.id[1:])),
    )
    wanted = [_of_gap(ledger, gap) for gap in gaps]
    focus = wanted[0].aspect_id if wanted else None
    directions = [normalise(d) for d in assessment.directions[:TOP_DIRECTIONS]]
    wanted[TOP_GAPS:TOP_GAPS] = [
        Topic(text, (text,), focus, reason=SUGGESTED) for text in directions
    ]
    follows = not assessment.by_model and ledger.complexity is not Complexity.COMPLEX
    return wanted + (lead_topics(ledger) if follows else [])


def _of_gap(ledger: Ledger, gap: Gap) -> Topic:
    reason = CRITICAL_GAP if gap.critical else OPEN_GAP
    return Topic(gap.text, _ways(ledger, gap), gap.aspect_id, reason=reason)


def _ways(ledger: Ledger, gap: Gap) -> tuple[str, ...]:
    """The gap's own query, then the sub-question's words, and leads."""
    ways = [gap.query]
    if gap.aspect_id in ledger.aspects:
        aspect = ledger.aspects[gap.aspect_id]
        ways.append(query_of(aspect.text))
    ways += [lead.query for lead in list(ledger.leads.values())[-3:]]
    return tuple(unique(ways))


def lead_topics(ledger: Ledger) -> list[Topic]:
    """What the pages read so far lead to, best first, for the question's first sub-question."""
    main = next(iter(ledger.aspects))
    return [
        Topic(lead.text, tuple(unique([lead.query, lead.text])), main, lead=lead, reason=NAMED)
        for lead in find_leads(ledger)
    ]


def further_topics(ledger: Ledger) -> list[Topic]:
    """More on each sub-question, by the words of its best claims and its own, weakest first."""
    topics = []
    for aspect in sorted(ledger.aspects.values(), key=lambda a: len(ledger.keys_of(a.id))):
        claims = [query_of(record.claim) for record in ledger.supporting(aspect.id)[:3]]
        ways = unique([aspect.query, *claims, query_of(aspect.text)])
        topics.append(Topic(aspect.text, tuple(ways), aspect.id, reason=MORE_SOURCES))
    return topics


def lacking_topics(ledger: Ledger, limits: Limits) -> list[Topic]:
    """What the ledger lacks: more on the sub-questions with too few sources, other sources on
    claims that nothing confirms; where all have them, what pages named and nobody looked up,
    then more on any.
    """
    topics = further_topics(ledger)
    few = {a for a in ledger.aspects if len(ledger.keys_of(a)) < limits.sources_per_aspect}
    weak = [confirming(ledger, claim) for claim in unchecked(ledger, limits)]
    if few or weak:
        return [*(topic for topic in topics if topic.aspect_id in few), *weak]
    named = reversed(ledger.leads.values())
    return [*(Topic(lead.query, (lead.query,), reason=NAMED) for lead in named), *topics]


def confirming(ledger: Ledger, claim: Evidence) -> Topic:
    """Other sources on a claim, or what settles it where others contradict it."""
    rivals = [ledger.book.records[i] for i in claim.contradicts if i in ledger.book.records]
    ways = [claim_query(each.claim) for each in (claim, *rivals)]
    if rivals and claim.aspect_id in ledger.aspects:
        ways.append(f"{query_of(ledger.aspects[claim.aspect_id].text)} date")
    why = DISPUTED if rivals else MORE_SOURCES
    return Topic(doubt(ledger, claim), tuple(unique(ways)), claim.aspect_id, reason=why)


def doubt(ledger: Ledger, claim: Evidence) -> str:
    """What verification is to find out about a claim."""
    rival = next((ledger.book.records.get(i) for i in claim.contradicts), None)
    if rival is None:
        return f"Other sources on: {claim.claim}"
    return f"Which of the two is right, and as of when: “{claim.claim}” or “{rival.claim}”?"


def claim_query(claim: str) -> str:
    """A claim's own words, for a search."""
    return " ".join(query_of(claim).split()[:QUERY_WORDS])


def choose(candidates: Sequence[Topic], ledger: Ledger, limit: int, threshold: float) -> Choice:
    """Refuse near-duplicates of what was searched, then keep the first `limit`.

    A topic is refused only where each way to search for it is a twin of an earlier query. A
    lead is none: its name is a difference in meaning, and one that was looked up is no lead.
    """
    chosen: list[Topic] = []
    skipped: list[Skipped] = []
    for topic in candidates:
        earlier = [*ledger.queries, *(other.queries[0] for other in chosen)]
        compared = earlier if topic.lead is None else []
        twins = [twin(query, compared, threshold) for query in topic.queries]
        fresh = [query for query, double in zip(topic.queries, twins, strict=True) if not double]
        if fresh and len(chosen) < limit:
            chosen.append(replace(topic, queries=tuple(fresh)))
        elif not fresh and twins[0]:
            skipped.append(replace(twins[0], topic=topic.text))
    return Choice(tuple(chosen), tuple(skipped))
