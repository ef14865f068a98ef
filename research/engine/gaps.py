"""The gaps from round to round: named by the assessment, closed by the evidence that fills them."""

from __future__ import annotations

from research.engine.assessment import Assessment, Missing
from research.engine.ledger import ANSWERING
from research.engine.records import Aspect, Gap
from research.engine.run import Run
from research.engine.similarity import jaccard
from research.engine.text import term_set

MOST_ASPECTS = 12
SAME_GAP = 0.6


def carry_gaps(run: Run, assessment: Assessment) -> bool:
    """Close gaps that evidence answered, open the named ones; True where either happened."""
    closed = _close(run, assessment)
    raised = [gap for gap in assessment.gaps if _open(run, gap, assessment.by_model)]
    return closed or any(gap.aspect_id is None for gap in raised)


def _close(run: Run, assessment: Assessment) -> bool:
    ledger, any_closed = run.ledger, False
    still = {_mark(gap, assessment.by_model) for gap in assessment.gaps}
    for gap in ledger.open_gaps():
        aspect = ledger.aspects.get(gap.aspect_id or "")
        named = _mark(gap, assessment.by_model) in still
        if aspect and not named and _filled(run, gap, aspect):
            ledger.close_gap(gap.id, ledger.round.number, aspect.evidence_ids)
            any_closed = True
    return any_closed


def _filled(run: Run, gap: Gap, aspect: Aspect) -> bool:
    if gap.critical or gap.text == aspect.text:
        return aspect.state in ANSWERING
    wanted = run.limits.sources_per_aspect
    return aspect.state in ANSWERING and len(run.ledger.keys_of(aspect.id)) >= wanted


def _open(run: Run, missing: Missing, by_model: bool) -> bool:
    """Open a gap that is not open yet; one without a sub-question raises one of its own."""
    ledger, number = run.ledger, run.ledger.round.number
    if any(_same(gap, missing, by_model) for gap in ledger.open_gaps()):
        return False
    aspect_id = missing.aspect_id
    if any(
        jaccard(term_set(a.text), term_set(missing.text)) >= SAME_GAP
        for a in ledger.dropped.values()
    ):
        return False
    if aspect_id is None:
        if len(ledger.aspects) >= MOST_ASPECTS:
            return False
        raised = ledger.raise_aspect(missing.text, missing.query, missing.raised_by, number)
        aspect_id = raised.id
    ledger.open_gap(
        Gap(
            ledger.next_gap_id(),
            missing.text,
            aspect_id,
            missing.critical,
            number,
            missing.query,
        )
    )
    return True


def _same(gap: Gap, missing: Missing, by_model: bool) -> bool:
    if missing.aspect_id is not None and gap.aspect_id == missing.aspect_id:
        return _mark(gap, by_model) == _mark(missing, by_model)
    return jaccard(term_set(gap.text), term_set(missing.text)) >= SAME_GAP


def _mark(gap: Gap | Missing, by_model: bool) -> tuple[str | None, object]:
    """What makes a gap the same one from round to round; a model words it anew each time."""
    return gap.aspect_id, gap.critical if by_model else gap.text
