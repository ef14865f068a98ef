"""The gaps from round to round: named by the assessment, closed by the evidence that fills them.

An open gap keeps its id for as long as it is open. An assessment names it by that id, with what is
still missing of it and the query to try next; a gap that is named without an id is new.
"""

from __future__ import annotations

from dataclasses import replace

from research.engine.assessment.assessment import Assessment, MissingInfo
from research.engine.evidence.ledger import ANSWERING, Ledger
from research.engine.records import Aspect, Gap
from research.engine.run import Run
from research.engine.text.similarity import find_twin
from research.engine.untrusted.order_words import content_terms

SAME_GAP = 0.6
FOREIGN = "No sub-question was made of “{text}”: it has no word of the question or its plan."


def carry_gaps(run: Run, assessment: Assessment) -> bool:
    """Close gaps that evidence answered and open the named ones.

    Return whether a gap was closed or a sub-question was raised.
    """
    closed = _close_filled(run, {missing.gap_id for missing in assessment.gaps})
    raised = [_put_gap(run, missing) for missing in assessment.gaps]
    return closed or any(raised)


def same_gap(ledger: Ledger, text: str, query: str, threshold: float) -> str | None:
    """Return the id of the open gap with the same words or nearly the same query; None for a new
    one.

    Sub-question and weight don't identify a gap: many gaps may belong to one sub-question.
    """
    gaps = ledger.open_gaps()
    if worded := next((gap.id for gap in gaps if gap.text == text), None):
        return worded
    alike = find_twin(query, [gap.query for gap in gaps], threshold)
    return next((gap.id for gap in gaps if alike and gap.query == alike.twin), None)


def has_untried_critical(run: Run) -> bool:
    """Return whether a critical gap has a query that is no near-duplicate of a searched one."""
    threshold = run.config.duplicate_topic_similarity_threshold
    critical = [gap.query for gap in run.ledger.open_gaps() if gap.critical and gap.query]
    return any(not find_twin(query, run.ledger.queries, threshold) for query in critical)


def _close_filled(run: Run, still_open: set[str | None]) -> bool:
    ledger, any_closed = run.ledger, False
    for gap in ledger.open_gaps():
        aspect = ledger.aspects.get(gap.aspect_id or "")
        if gap.id not in still_open and (aspect is None or _is_filled(run, gap, aspect)):
            ledger.close_gap(gap.id, ledger.round.number, aspect.evidence_ids if aspect else ())
            any_closed = True
    return any_closed


def _is_filled(run: Run, gap: Gap, aspect: Aspect) -> bool:
    if run.is_chained:
        return True
    if gap.critical or gap.text == aspect.text:
        return aspect.state in ANSWERING
    wanted = run.limits.sources_per_aspect
    return aspect.state in ANSWERING and len(run.ledger.keys_of(aspect.id)) >= wanted


def _put_gap(run: Run, missing: MissingInfo) -> bool:
    """Renew a gap or open a new one; return whether that raises a sub-question."""
    ledger = run.ledger
    if missing.gap_id is not None:
        _renew_gap(ledger, ledger.gaps[missing.gap_id], missing)
        return False
    if find_twin(missing.text, [aspect.text for aspect in ledger.dropped.values()], SAME_GAP):
        return False
    aspect_id = missing.aspect_id or _find_similar_aspect(run, missing.text)
    if aspect_id is None and run.has_model and not _belongs(run, missing):
        run.trouble("assessment", FOREIGN.format(text=missing.text))
        return False
    raises = aspect_id is None and len(ledger.aspects) < run.rules.most_aspects
    number = ledger.round.number
    if raises:
        aspect_id = ledger.raise_aspect(missing.text, missing.query, missing.raised_by, number).id
    gap_id = ledger.next_gap_id()
    ledger.open_gap(Gap(gap_id, missing.text, aspect_id, missing.critical, number, missing.query))
    return raises


def _belongs(run: Run, missing: MissingInfo) -> bool:
    """Return whether a new sub-question shares a word with what a person asked or approved: page
    text reaches the assessment, and must not change the subject of the research.
    """
    plan = run.ledger.plan
    parts = (part.text for part in plan.aspects)
    asked = (run.question.text, plan.brief, *parts, *run.ledger.instructions)
    named = content_terms(f"{missing.text} {missing.query}")
    return not named or bool(named & content_terms(" ".join(asked)))


def _renew_gap(ledger: Ledger, gap: Gap, missing: MissingInfo) -> None:
    text = missing.text if missing.is_reworded else gap.text
    renewed = replace(gap, text=text, query=missing.query, critical=missing.critical)
    if renewed != gap:
        ledger.open_gap(renewed)


def _find_similar_aspect(run: Run, text: str) -> str | None:
    """Return the sub-question that asks for nearly the same."""
    aspects = run.ledger.aspects.values()
    threshold = run.config.duplicate_topic_similarity_threshold
    alike = find_twin(text, [aspect.text for aspect in aspects], threshold)
    return next((a.id for a in aspects if alike and a.text == alike.twin), None)
