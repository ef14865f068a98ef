"""Once, a draft that fails Gate 3 sends the run back to research, where a budget is left."""

from __future__ import annotations

from research.engine.assessment import stages
from research.engine.budget.wind_down import cost_of_a_round
from research.engine.records import StopReason
from research.engine.report.report_gate import Written
from research.engine.rounds.topics import choose_topics, further_topics
from research.engine.run import Run

FINAL = frozenset(
    {
        StopReason.CANCELLED,
        StopReason.USER_STOPPED,
        StopReason.PAGES_UNREADABLE,
        StopReason.NOTHING_FOUND,
    }
)


def should_reopen(run: Run, written: Written | None) -> bool:
    """Return whether research goes on for one round: the next round's topics are ready then."""
    if written is None or written.gate.decision != "retry" or run.is_fixed:
        return False
    if not run.rules.reopens_after_draft:
        return False
    reason = run.state.termination_reason
    full = len(run.ledger.rounds) >= run.config.adaptive_max_depth
    units_left = run.config.max_research_units > len(run.ledger.topics)
    if reason in FINAL or full or not units_left or run.journal.meter.refused:
        return False
    seconds, cost = run.marks[-1].seconds, cost_of_a_round(run, run.limits.topics_per_round)
    if run.journal.meter.short_of(cost, seconds, run.has_model):
        return False
    topics = further_topics(run.ledger)
    if not choose_topics(topics, run.ledger, 1, run.topic_threshold).topics:
        return False
    run.is_reopened, run.candidates = True, topics
    run.log("research reopens: the draft failed in %s", ", ".join(written.gate.feedback))
    return True


async def reopen_research(run: Run) -> None:
    """Go back from the report to research; the time so far was the report's."""
    await run.journal.elapsed("report")
    stage = stages.next_stage(run.state.stage, "draft_failed")
    run.update_state(stage=stage, termination_reason=None, termination_text=None)
