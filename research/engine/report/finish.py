"""The end of research: why it ended, what stays open, and whether a report follows."""

from __future__ import annotations

from research.engine.assessment import stages
from research.engine.assessment.stop_rule import Stop
from research.engine.records import AspectState, Status, StopReason
from research.engine.report import messages
from research.engine.rounds.topics import unsearched_aspects
from research.engine.run import Run


async def finish_research(run: Run, stop: Stop) -> bool:
    """Write down why it ended; True where a report is to be written."""
    ledger = run.ledger
    missed = [] if run.is_fixed else unsearched_aspects(ledger, run.topic_threshold)
    for aspect in ledger.open_aspects():
        state = AspectState.NOT_SEARCHED if aspect in missed else AspectState.NOT_FOUND
        ledger.set_aspect(aspect.id, state=state)
    text = messages.stop_message(stop.reason, ledger, run.config, run.earned)
    if stop.reason is StopReason.CANCELLED:
        run.update_state(
            status=Status.CANCELLED, termination_reason=stop.reason, termination_text=text
        )
        return False
    if _everything_failed(run) and stop.reason is not StopReason.BUDGET_TIME:
        run.update_state(status=Status.FAILED, verdict=messages.FAILED, quality_score=None)
        return False
    run.update_state(stage=stages.next_stage(run.state.stage, "early_end"))
    run.update_state(
        status=Status.WRITING, termination_reason=stop.reason, termination_text=text, verdict=text
    )
    return True


def _everything_failed(run: Run) -> bool:
    """Nothing was found because no search, page or model answered at all."""
    return not run.ledger.evidence and run.journal.all_failed()
