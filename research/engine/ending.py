"""The end of research: why it ended, what stays open, and whether a report follows."""

from __future__ import annotations

from research.engine import stages, wording
from research.engine.records import AspectState, Status, StopReason
from research.engine.run import Run
from research.engine.stopping import Stop
from research.engine.topics import unsearched


async def conclude(run: Run, stop: Stop) -> bool:
    """Write down why it ended; True where a report is to be written."""
    ledger = run.ledger
    threshold = run.config.duplicate_topic_similarity_threshold
    missed = [] if run.is_fixed else unsearched(ledger, threshold)
    for aspect in ledger.open_aspects():
        state = AspectState.NOT_SEARCHED if aspect in missed else AspectState.NOT_FOUND
        ledger.set_aspect(aspect.id, state=state)
    text = wording.stopped(stop.reason, ledger, run.config, run.earned)
    if stop.reason is StopReason.CANCELLED:
        run.change(status=Status.CANCELLED, termination_reason=stop.reason, termination_text=text)
        return False
    if _everything_failed(run) and stop.reason is not StopReason.BUDGET_TIME:
        run.change(status=Status.FAILED, verdict=wording.FAILED, quality_score=None)
        return False
    run.change(stage=stages.after(run.state.stage, "early_end"))
    run.change(
        status=Status.WRITING, termination_reason=stop.reason, termination_text=text, verdict=text
    )
    return True


def _everything_failed(run: Run) -> bool:
    """Nothing was found because no search, page or model answered at all."""
    return not run.ledger.evidence and run.journal.all_failed()
