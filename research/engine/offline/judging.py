"""Judging without a model: marks, gaps and directions derived from the ledger alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from research.engine.assessment import answer_status
from research.engine.assessment.assessment import Assessment, MissingInfo
from research.engine.evidence.ledger import ANSWERING, Lead, Ledger
from research.engine.limits import Limits
from research.engine.offline.leads import find_leads
from research.engine.records import Aspect, AspectState, Complexity, Dimensions
from research.engine.text.similarity import jaccard
from research.engine.text.tokens import term_set

MOST_ASPECTS = 9
RAISED_A_ROUND = 3
LEAD_NEEDED = 0.2
PLANNED = frozenset({"plan", "user"})


def judge_ledger(ledger: Ledger, limits: Limits) -> Assessment:
    """Return the probability of an answer as the only mark; if a model read the pages, shares of
    the question's minima.
    """
    aspects = list(ledger.aspects.values())
    answered = sum(_aspect_worth(ledger, aspect, limits) for aspect in aspects) / len(aspects)
    supporting = answer_status.supporting(ledger)
    depth = min(1.0, supporting / max(1, limits.evidence_records))
    reliable = _reliability_share(ledger, aspects, limits)
    open_ended = ledger.complexity is Complexity.COMPLEX
    leads = _fresh_leads(ledger) if open_ended else []
    gaps = _find_gaps(ledger, limits, leads)
    said = f"{answer_status.count_answered(ledger)} of {len(aspects)} answered"
    value = answer_status.stated_score(ledger)
    stated = None if value is None else Dimensions(value)
    return Assessment(
        stated
        or Dimensions(
            _mark_from_share(answered), _mark_from_share(depth), _mark_from_share(reliable)
        ),
        None,
        f"{said}, {supporting} passages that may answer.",
        frozenset(a.id for a in aspects if a.state not in ANSWERING),
        gaps,
        tuple(lead.query for lead in leads[:2]),
        not gaps,
        by_model=False,
    )


def _mark_from_share(share: float) -> float:
    return round(1 + 9 * share, 2)


def _aspect_worth(ledger: Ledger, aspect: Aspect, limits: Limits) -> float:
    if aspect.state not in ANSWERING:
        return 0.0
    return 1.0 if len(ledger.keys_of(aspect.id)) >= limits.sources_per_aspect else 0.7


def _reliability_share(ledger: Ledger, aspects: list[Aspect], limits: Limits) -> float:
    wanted = max(1, limits.sources_per_aspect)
    shares = [min(1.0, len(ledger.keys_of(aspect.id)) / wanted) for aspect in aspects]
    disputed = sum(aspect.state is AspectState.DISPUTED for aspect in aspects)
    return max(0.0, sum(shares) / len(aspects) - 0.25 * disputed / len(aspects))


def _find_gaps(ledger: Ledger, limits: Limits, leads: Sequence[Lead]) -> tuple[MissingInfo, ...]:
    gaps: list[MissingInfo] = []
    by_code = answer_status.is_judged_by_code(ledger)
    for aspect in ledger.aspects.values():
        if aspect.searches_without_news >= 2:
            continue
        keys = len(ledger.keys_of(aspect.id))
        if aspect.state not in ANSWERING:
            critical = aspect.raised_by in PLANNED
            gaps.append(_missing_info(ledger, aspect, aspect.text, critical))
        elif keys < limits.sources_per_aspect and not by_code:
            text = f"A second source on: {aspect.text}"
            gaps.append(_missing_info(ledger, aspect, text, False))
    room = min(RAISED_A_ROUND, MOST_ASPECTS - len(ledger.aspects))
    for lead in leads[: max(0, room)]:
        gaps.append(MissingInfo(lead.text, lead.query, None, False, lead.url))
    return tuple(gaps)


def _missing_info(ledger: Ledger, aspect: Aspect, text: str, critical: bool) -> MissingInfo:
    """Return a gap of a sub-question; in the same words it is the one that is open already."""
    known = (g.id for g in ledger.open_gaps() if (g.aspect_id, g.text) == (aspect.id, text))
    return MissingInfo(text, aspect.query, aspect.id, critical, gap_id=next(known, None))


def without_second_sources(assessment: Assessment) -> Assessment:
    """Return the assessment of a question that takes two pages, each of which rests on itself: no
    other source has the whole, so that none is missing.
    """
    gaps = tuple(gap for gap in assessment.gaps if gap.aspect_id is None)
    return replace(assessment, gaps=gaps, ready=not gaps)


def _fresh_leads(ledger: Ledger) -> list[Lead]:
    """Leads that are strong and that no sub-question or topic covers yet, strongest first."""
    texts = (*ledger.topics, *(aspect.text for aspect in ledger.aspects.values()))
    taken = [term_set(text) for text in texts]
    fresh: list[Lead] = []
    for lead in find_leads(ledger):
        words = term_set(lead.text)
        if lead.strength >= LEAD_NEEDED and not any(_is_covered(words, other) for other in taken):
            taken.append(words)
            fresh.append(lead)
    return fresh


def _is_covered(words: frozenset[str], other: frozenset[str]) -> bool:
    return words <= other or jaccard(words, other) >= 0.5
