"""Write a report from an earlier run's ledger: again, after a review or in another format (F4 and
F12), or as the answer to a follow-up question.

Nothing is searched or fetched: the gates are evaluated on the evidence that a review left, and the
model is asked only for the draft.
"""

from __future__ import annotations

from dataclasses import replace

from research.engine.assessment.close_round import close_rewriting
from research.engine.assessment.stop_rule import Stop
from research.engine.offline.judging import judge_ledger
from research.engine.records import Round, Stage, Status, StopReason
from research.engine.report import messages
from research.engine.report.ending import finish_research
from research.engine.report.report import compose_report, publish_report
from research.engine.report.report_format import BY_CODE
from research.engine.run import Run
from research.engine.threads.load_seed import EARLIER, take_over
from research.engine.threads.seed import Seed

WRITING = frozenset({"draft", "section"})
NOT_WRITTEN = "Not written: the model gave no usable answer, and code can't do this by itself."


async def rewrite_report(run: Run, seed: Seed) -> None:
    """Write the report from the seed; if no evidence is left, the report says so.

    A format that needs a model fails without one rather than falling back to another, and so does
    a full report that the model is asked to write.
    """
    run.journal.emit(seed.plan)
    await take_over(run, seed)
    run.ledger.begin_round(Round(EARLIER, Stage.REPORT))
    assessment = judge_ledger(run.ledger, run.limits)
    if seed.dimensions is not None:
        assessment = replace(assessment, dimensions=seed.dimensions)
    stop = Stop(_stop_reason(run, seed))
    evidence_gate = await close_rewriting(run, assessment, stop)
    if not await finish_research(run, stop):
        return
    text = messages.rewrite_message(seed, run.ledger, evidence_gate)
    run.ledger.update_round(decision=text)
    run.update_state(termination_text=text, verdict=text)
    written = await compose_report(run)
    is_revised = seed.kind == "revise" and seed.shape.form == "full"
    needs_model = seed.shape.form not in BY_CODE and not is_revised
    if needs_model and WRITING & run.journal.meter.usage.fallbacks.keys():
        run.update_state(status=Status.FAILED, termination_text=NOT_WRITTEN, verdict=NOT_WRITTEN)
        return
    await publish_report(run, written)


async def answer_at_once(run: Run) -> None:
    """Write the answer to a follow-up question from the earlier findings in the ledger."""
    run.ledger.begin_round(Round(EARLIER, Stage.REPORT))
    stop = Stop(StopReason.KNOWN_BEFORE)
    await close_rewriting(run, judge_ledger(run.ledger, run.limits), stop)
    if await finish_research(run, stop):
        await publish_report(run, await compose_report(run))


def _stop_reason(run: Run, seed: Seed) -> StopReason:
    """Why research ended stays true, unless nothing that answers is left."""
    if not run.ledger.answered():
        return StopReason.NOTHING_FOUND
    return seed.ended or StopReason.USER_STOPPED
