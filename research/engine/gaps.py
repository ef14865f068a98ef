"""The gaps from round to round: named by the assessment, closed by the evidence that fills them.

An open gap keeps its id for as long as it is open. An assessment names it by that id, with the
query to try next; a gap that is named without an id is new.
"""

from __future__ import annotations

from dataclasses import replace

from research.engine.assessment import Assessment, Missing
from research.engine.ledger import ANSWERING, Ledger
from research.engine.records import Aspect, Gap
from research.engine.run import Run
from research.engine.similarity import twin

MOST_ASPECTS = 12
SAME_GAP = 0.6


def carry_gaps(run: Run, assessment: Assessment) -> bool:
    """Close gaps that evidence answered, open the named ones; True where a gap was closed or a
    sub-question was raised.
    """
    closed = _close(run, {missing.gap_id for missing in assessment.gaps})
    raised = [_put(run, missing) for missing in assessment.gaps]
    return closed or any(raised)


def same_gap(ledger: Ledger, text: str, query: str, threshold: float) -> str | None:
    """The id of the open gap in the same words, or with nearly the same query; None for a new one.

    Sub-question and weight don't tell gaps apart: many gaps may belong to one sub-question.
    """
    gaps = ledger.open_gaps()
    if worded := next((gap.id for gap in gaps if gap.text == text), None):
        return worded
    alike = twin(query, [gap.query for gap in gaps], threshold)
    return next((gap.id for gap in gaps if alike and gap.query == alike.twin), None)


def has_untried_critical(run: Run) -> bool:
    """Whether a critical gap has a query that is no near-duplicate of one that was searched."""
    threshold = run.config.duplicate_topic_similarity_threshold
    critical = [gap.query for gap in run.ledger.open_gaps() if gap.critical and gap.query]
    return any(not twin(query, run.ledger.queries, threshold) for query in critical)


def _close(run: Run, still_open: set[str | None]) -> bool:
    ledger, any_closed = run.ledger, False
    for gap in ledger.open_gaps():
        aspect = ledger.aspects.get(gap.aspect_id or "")
        if gap.id not in still_open and (aspect is None or _filled(run, gap, aspect)):
            ledger.close_gap(gap.id, ledger.round.number, aspect.evidence_ids if aspect else ())
            any_closed = True
    return any_closed


def _filled(run: Run, gap: Gap, aspect: Aspect) -> bool:
    if gap.critical or gap.text == aspect.text:
        return aspect.state in ANSWERING
    wanted = run.limits.sources_per_aspect
    return aspect.state in ANSWERING and len(run.ledger.keys_of(aspect.id)) >= wanted


def _put(run: Run, missing: Missing) -> bool:
    """Renew the gap, or open a new one; True where that raises a sub-question."""
    ledger = run.ledger
    if missing.gap_id is not None:
        _renew(ledger, ledger.gaps[missing.gap_id], missing)
        return False
    if twin(missing.text, [aspect.text for aspect in ledger.dropped.values()], SAME_GAP):
        return False
    aspect_id = missing.aspect_id or _asked(run, missing.text)
    raises = aspect_id is None and len(ledger.aspects) < MOST_ASPECTS
    number = ledger.round.number
    if raises:
        aspect_id = ledger.raise_aspect(missing.text, missing.query, missing.raised_by, number).id
    gap_id = ledger.next_gap_id()
    ledger.open_gap(Gap(gap_id, missing.text, aspect_id, missing.critical, number, missing.query))
    return raises


def _renew(ledger: Ledger, gap: Gap, missing: Missing) -> None:
    renewed = replace(gap, query=missing.query, critical=missing.critical)
    if renewed != gap:
        ledger.open_gap(renewed)


def _asked(run: Run, text: str) -> str | None:
    """The sub-question that asks for nearly the same."""
    aspects = run.ledger.aspects.values()
    threshold = run.config.duplicate_topic_similarity_threshold
    alike = twin(text, [aspect.text for aspect in aspects], threshold)
    return next((a.id for a in aspects if alike and a.text == alike.twin), None)
