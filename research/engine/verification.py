"""The verification stage: one round of corroboration for claims that rest on one source.

The report would lean on them, so other sources are looked for by the claims' own words. One
unit, one `read`, no `assess`; none where the question's minima are met, where the search was
tried in vain already, or where a budget does not allow it.
"""

from __future__ import annotations

from collections.abc import Sequence

from research.engine.budget import Spent
from research.engine.extractive.planning import query_of
from research.engine.findings import Reading
from research.engine.gates import TRIED, VERIFIED_AT_ONCE
from research.engine.records import Evidence, StopReason
from research.engine.round import begin, choose_together, work_through
from research.engine.run import Run
from research.engine.similarity import twin
from research.engine.stopping import Decision, Stop
from research.engine.tasks.read import read
from research.engine.topics import MORE_SOURCES, Topic
from research.engine.units import Work, host

CALM = frozenset({StopReason.QUALITY_MET, StopReason.NO_GAPS})
QUERY_WORDS = 10
COST = Spent(calls=1, searches=VERIFIED_AT_ONCE, fetches=1)


def weak_claims(run: Run, decision: Decision) -> list[Evidence]:
    """The best claims of sub-questions with too few sources, where a round for them is due."""
    ledger, config = run.ledger, run.config
    if not isinstance(decision, Stop) or decision.reason not in CALM or run.is_verified:
        return []
    full = len(ledger.rounds) >= config.adaptive_max_depth
    vain = any(
        result.round == ledger.round.number and result.decision == "not_to_be_had"
        for result in ledger.gates
    )
    if full or vain or len(ledger.topics) >= config.max_research_units or _is_dear(run):
        return []
    weak = []
    for aspect in ledger.aspects.values():
        found = ledger.supporting(aspect.id)
        few = 0 < len(ledger.keys_of(aspect.id)) < run.limits.sources_per_aspect
        if few and aspect.searches_without_news < TRIED and _query(run, found[0]):
            weak.append(found[0])
    return weak[:VERIFIED_AT_ONCE]


def _is_dear(run: Run) -> bool:
    seconds = run.marks[-1].seconds
    return run.journal.meter.short_of(COST, seconds, run.has_model) is not None


def _query(run: Run, claim: Evidence) -> str:
    """The claim's own words, unless they were searched for."""
    query = " ".join(query_of(claim.claim).split()[:QUERY_WORDS])
    threshold = run.config.duplicate_topic_similarity_threshold
    return "" if twin(query, run.ledger.queries, threshold) else query


async def verification_round(run: Run, claims: Sequence[Evidence]) -> None:
    """Look for other sources on these claims."""
    run.is_verified = True
    queries = tuple(dict.fromkeys(_query(run, claim) for claim in claims))
    text = "Other sources on: " + "; ".join(claim.claim for claim in claims)
    topic = Topic(text, queries, claims[0].aspect_id, True, reason=MORE_SOURCES)
    wanted = [run.ledger.aspects[claim.aspect_id] for claim in claims if claim.aspect_id]

    def choose_others(run: Run, work: Sequence[Work]) -> None:
        known = {key for claim in claims for key in run.ledger.keys_of(claim.aspect_id or "")}
        for item in work:
            item.hits = tuple(hit for hit in item.hits if not _is_of(host(hit.url), known))
        choose_together(run, work)

    async def read_for_claims(run: Run, item: Work) -> Reading:
        return await read(run, f"{item.place}/read", item.asked, item.pages, wanted)

    work = begin(run, [topic])
    await work_through(run, work, choose_others, read_for_claims)


def _is_of(site: str, keys: set[str]) -> bool:
    return any(site == key or site.endswith(f".{key}") for key in keys)
