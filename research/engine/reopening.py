"""Once, a draft that fails Gate 3 sends the run back to research, where a budget is left."""

from __future__ import annotations

from research.engine import stages
from research.engine.records import StopReason
from research.engine.report import Written
from research.engine.run import Run
from research.engine.topics import choose, further_topics
from research.engine.wrapup import cost_of_a_round

FINAL = frozenset(
    {
        StopReason.CANCELLED,
        StopReason.USER_STOPPED,
        StopReason.PAGES_UNREADABLE,
        StopReason.NOTHING_FOUND,
    }
)


def reopens(run: Run, written: Written | None) -> bool:
    """Whether research goes on for one round: the next round's topics are ready then."""
    if written is None or written.gate.decision == "pass" or run.is_fixed:
        return False
    reason = run.state.termination_reason
    full = len(run.ledger.rounds) >= run.config.adaptive_max_depth
    units_left = run.config.max_research_units > len(run.ledger.topics)
    if reason in FINAL or full or not units_left or run.journal.meter.refused:
        return False
    seconds, cost = run.marks[-1].seconds, cost_of_a_round(run, run.limits.topics_per_round)
    if run.journal.meter.short_of(cost, seconds, run.has_model):
        return False
    threshold = run.config.duplicate_topic_similarity_threshold
    topics = further_topics(run.ledger)
    if not choose(topics, run.ledger, 1, threshold).topics:
        return False
    run.is_reopened, run.candidates = True, topics
    run.log("research reopens: the draft failed in %s", ", ".join(written.gate.feedback))
    return True


async def reopen(run: Run) -> None:
    """Go back from the report to research; the time so far was the report's."""
    await run.journal.elapsed("report")
    stage = stages.after(run.state.stage, "draft_failed")
    run.change(stage=stage, termination_reason=None, termination_text=None)
