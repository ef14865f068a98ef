"""Judging without a model: marks, gaps and directions derived from the ledger alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from research.engine import marks
from research.engine.assessment import Assessment, Missing
from research.engine.extractive.leads import find_leads
from research.engine.ledger import ANSWERING, SUPPORTS, Lead, Ledger
from research.engine.limits import Limits
from research.engine.records import Aspect, AspectState, Complexity, Dimensions
from research.engine.similarity import jaccard
from research.engine.text import term_set

MOST_ASPECTS = 9
RAISED_A_ROUND = 3
LEAD_NEEDED = 0.2
PLANNED = frozenset({"plan", "user"})


def judge(ledger: Ledger, limits: Limits) -> Assessment:
    """Marks are shares of the question's minima; actionability is nobody's to judge here."""
    aspects = list(ledger.aspects.values())
    answered = sum(_worth(ledger, aspect, limits) for aspect in aspects) / len(aspects)
    supporting = [r for r in ledger.evidence if r.relevance >= SUPPORTS]
    depth = min(1.0, len(supporting) / max(1, limits.evidence_records))
    reliable = _reliability(ledger, aspects, limits)
    open_ended = ledger.complexity is Complexity.COMPLEX
    leads = _fresh_leads(ledger) if open_ended else []
    gaps = _gaps(ledger, limits, leads)
    said = f"{marks.answered(ledger)} of {len(aspects)} answered"
    return Assessment(
        Dimensions(_mark(answered), _mark(depth), _mark(reliable)),
        None,
        f"{said}, {len(supporting)} passages that answer.",
        frozenset(a.id for a in aspects if a.state not in ANSWERING),
        gaps,
        tuple(lead.query for lead in leads[:2]),
        not gaps,
        by_model=False,
    )


def _mark(share: float) -> float:
    return round(1 + 9 * share, 2)


def _worth(ledger: Ledger, aspect: Aspect, limits: Limits) -> float:
    if aspect.state not in ANSWERING:
        return 0.0
    return 1.0 if len(ledger.keys_of(aspect.id)) >= limits.sources_per_aspect else 0.7


def _reliability(ledger: Ledger, aspects: list[Aspect], limits: Limits) -> float:
    wanted = max(1, limits.sources_per_aspect)
    shares = [min(1.0, len(ledger.keys_of(aspect.id)) / wanted) for aspect in aspects]
    disputed = sum(aspect.state is AspectState.DISPUTED for aspect in aspects)
    return max(0.0, sum(shares) / len(aspects) - 0.25 * disputed / len(aspects))


def _gaps(ledger: Ledger, limits: Limits, leads: Sequence[Lead]) -> tuple[Missing, ...]:
    gaps: list[Missing] = []
    for aspect in ledger.aspects.values():
        if aspect.searches_without_news >= 2:
            continue
        keys = len(ledger.keys_of(aspect.id))
        if aspect.state not in ANSWERING:
            critical = aspect.raised_by in PLANNED
            gaps.append(_missing(ledger, aspect, aspect.text, critical))
        elif keys < limits.sources_per_aspect:
            text = f"A second source on: {aspect.text}"
            gaps.append(_missing(ledger, aspect, text, False))
    room = min(RAISED_A_ROUND, MOST_ASPECTS - len(ledger.aspects))
    for lead in leads[: max(0, room)]:
        gaps.append(Missing(lead.text, lead.query, None, False, lead.url))
    return tuple(gaps)


def _missing(ledger: Ledger, aspect: Aspect, text: str, critical: bool) -> Missing:
    """A gap of a sub-question; in the same words it is the one that is open already."""
    known = (g.id for g in ledger.open_gaps() if (g.aspect_id, g.text) == (aspect.id, text))
    return Missing(text, aspect.query, aspect.id, critical, gap_id=next(known, None))


def without_second_sources(assessment: Assessment) -> Assessment:
    """The assessment of a question that takes two pages, each of which rests on itself: no
    other source has the whole, so that none is missing.
    """
    gaps = tuple(gap for gap in assessment.gaps if gap.critical or gap.aspect_id is None)
    return replace(assessment, gaps=gaps, ready=not gaps)


def _fresh_leads(ledger: Ledger) -> list[Lead]:
    """Leads that are strong and that no sub-question or topic covers yet, strongest first."""
    texts = (*ledger.topics, *(aspect.text for aspect in ledger.aspects.values()))
    taken = [term_set(text) for text in texts]
    fresh: list[Lead] = []
    for lead in find_leads(ledger):
        words = term_set(lead.text)
        if lead.strength >= LEAD_NEEDED and not any(_covered(words, other) for other in taken):
            taken.append(words)
            fresh.append(lead)
    return fresh


def _covered(words: frozenset[str], other: frozenset[str]) -> bool:
    return words <= other or jaccard(words, other) >= 0.5
