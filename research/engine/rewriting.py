"""A report written anew from the ledger: after a review, or in another shape (F4 and F12).

Nothing is searched or fetched: the gates are evaluated on what a review left, and the draft is
the only thing that a model is asked for.
"""

from __future__ import annotations

from dataclasses import replace

from research.engine import wording
from research.engine.ending import conclude
from research.engine.extractive.judging import judge
from research.engine.records import Round, Stage, Status, StopReason
from research.engine.report import compose, publish
from research.engine.run import Run
from research.engine.seed import Seed
from research.engine.shaping import BY_CODE
from research.engine.stopping import Stop
from research.engine.taking_over import EARLIER, take_over
from research.engine.verdict import close_rewriting

NOT_WRITTEN = "Not written: the model gave no usable answer, and code can't do this by itself."


async def rewrite(run: Run, seed: Seed) -> None:
    """From the seed to the report; where no evidence is left, the report says so.

    A shape that takes a model fails with it, rather than come out as something else.
    """
    run.journal.emit(seed.plan)
    await take_over(run, seed)
    run.ledger.begin_round(Round(EARLIER, Stage.REPORT))
    assessment = judge(run.ledger, run.limits)
    if seed.dimensions is not None:
        assessment = replace(assessment, dimensions=seed.dimensions)
    stop = Stop(_reason(run, seed))
    evidence_gate = await close_rewriting(run, assessment, stop)
    if not await conclude(run, stop):
        return
    text = wording.rewritten(seed, run.ledger, evidence_gate)
    run.ledger.update_round(decision=text)
    run.change(termination_text=text, verdict=text)
    written = await compose(run)
    if run.shape.form not in BY_CODE and "draft" in run.journal.meter.usage.fallbacks:
        run.change(status=Status.FAILED, termination_text=NOT_WRITTEN, verdict=NOT_WRITTEN)
        return
    await publish(run, written)


def _reason(run: Run, seed: Seed) -> StopReason:
    """Why research ended stays true, unless nothing that answers is left."""
    if not run.ledger.answered():
        return StopReason.NOTHING_FOUND
    return seed.ended or StopReason.USER_STOPPED
