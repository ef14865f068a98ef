"""The verification stage: one round of corroboration for unconfirmed claims.

The report would depend on claims that have one source or are disputed. The round searches for other
sources with the claims' own words: one unit, one `read`, no `assess`. It is left out if the claims
are cross-checked, if the search was tried before without success, or if a budget doesn't allow it.
"""

from __future__ import annotations

from collections.abc import Sequence

from research.engine.analyst import analyst_of
from research.engine.assessment.answer_status import is_answered_by_code
from research.engine.assessment.criteria import VERIFIED_AT_ONCE
from research.engine.assessment.effort import TRIED
from research.engine.assessment.stop_rule import Decision, Stop
from research.engine.budget.meter import Spent
from research.engine.evidence.ledger import unchecked_claims
from research.engine.records import Evidence, StopReason
from research.engine.rounds.findings import Reading
from research.engine.rounds.research_round import begin_round, choose_together, work_through
from research.engine.rounds.topics import MORE_SOURCES, Topic, confirming_topic, doubt_about
from research.engine.rounds.units import Work, host_name
from research.engine.run import Run
from research.engine.text.similarity import find_twin

CALM = frozenset({StopReason.QUALITY_MET, StopReason.NO_GAPS})
COST = Spent(calls=1, searches=VERIFIED_AT_ONCE, fetches=1)


def weak_claims(run: Run, decision: Decision) -> list[Evidence]:
    """Return the unconfirmed claims, if a verification round is due."""
    ledger, config = run.ledger, run.config
    if not isinstance(decision, Stop) or decision.reason not in CALM:
        return []
    if not run.rules.verifies_claims:
        return []
    full = len(ledger.rounds) >= config.adaptive_max_depth
    if full or len(ledger.topics) >= config.max_research_units or _is_dear(run):
        return []
    return doubtful_claims(run)


def doubtful_claims(run: Run) -> list[Evidence]:
    """Return the claims to verify.

    These are disputed claims, the best of sub-questions with too few sources, and others with a
    single source. Where all is from one work, only disputed ones are.
    """
    if run.is_verified or run.is_chained or is_answered_by_code(run.ledger):
        return []
    ledger, needed = run.ledger, run.limits.sources_per_aspect
    few = [
        best
        for aspect in ledger.aspects.values()
        if 0 < len(ledger.keys_of(aspect.id)) < needed
        and not (best := ledger.supporting(aspect.id)[0]).is_dictated
    ]
    loose = unchecked_claims(ledger, run.limits)
    disputed = [claim for claim in loose if claim.contradicts]
    alone = [] if ledger.is_one_work else [*few, *loose]
    wanted = {claim.id: claim for claim in (*disputed, *alone)}
    due = [c for c in wanted.values() if not _is_tried(run, c) and _unsearched_query(run, c)]
    return due[:VERIFIED_AT_ONCE]


def _is_tried(run: Run, claim: Evidence) -> bool:
    """Return whether its sub-question was searched without success; disputes don't count."""
    aspect = run.ledger.aspects.get(claim.aspect_id or "")
    tried = aspect is not None and aspect.searches_without_news >= TRIED
    return tried and not claim.contradicts


def _is_dear(run: Run) -> bool:
    seconds = run.marks[-1].seconds
    return run.journal.meter.short_of(COST, seconds, run.has_model) is not None


def _unsearched_query(run: Run, claim: Evidence) -> str:
    """Return the first query for other sources on a claim that has not been sent yet."""
    threshold = run.config.duplicate_topic_similarity_threshold
    ways = confirming_topic(run.ledger, claim).queries
    return next((way for way in ways if not find_twin(way, run.ledger.queries, threshold)), "")


async def verification_round(run: Run, claims: Sequence[Evidence]) -> dict[str, frozenset[str]]:
    """Search for other sources on these claims.

    Return the sources that each sub-question had before.
    """
    run.is_verified = True
    before = {aspect_id: run.ledger.keys_of(aspect_id) for aspect_id in run.ledger.aspects}
    queries = tuple(dict.fromkeys(_unsearched_query(run, claim) for claim in claims))
    text = "; ".join(doubt_about(run.ledger, claim) for claim in claims)
    topic = Topic(text, queries, claims[0].aspect_id, True, reason=MORE_SOURCES)
    wanted = [run.ledger.aspects[claim.aspect_id] for claim in claims if claim.aspect_id]

    def choose_others(run: Run, work: Sequence[Work]) -> None:
        known = {key for claim in claims for key in run.ledger.keys_of(claim.aspect_id or "")}
        for item in work:
            item.hits = tuple(hit for hit in item.hits if not _is_of(host_name(hit.url), known))
        choose_together(run, work)

    async def read_for_claims(run: Run, item: Work) -> Reading:
        return await analyst_of(run).read_pages(
            f"{item.place}/read", item.asked, item.pages, wanted
        )

    work = begin_round(run, [topic])
    await work_through(run, work, choose_others, read_for_claims)
    return before


def _is_of(site: str, keys: set[str]) -> bool:
    return any(site == key or site.endswith(f".{key}") for key in keys)
