"""Ahead of the verdict: the report is begun while the last assessment is still being made.

Assessing and drafting are the two longest calls of a round, and where a run ends they follow each
other. Where the ledger alone would end it, the draft is asked for beside the assessment. What
the assessment says still holds: if the run goes on, or the report would rest on anything else,
the draft is given up, and what it took is counted.
"""

from __future__ import annotations

from research.engine.analyst import analyst_of
from research.engine.assessment import gates
from research.engine.assessment.stop_rule import Decision, Stop
from research.engine.llm_tasks.assess import unsearched_leads
from research.engine.llm_tasks.compare import compares_findings
from research.engine.llm_tasks.draft import begin_pending_draft, drop_draft
from research.engine.records import StopReason
from research.engine.rounds.research_round import begin_prefetch
from research.engine.rounds.verification import doubtful_claims
from research.engine.run import Run
from research.engine.verifier.check_ahead import begin_check, drop_check


async def begin_ahead(run: Run) -> None:
    """Begin what most likely follows the assessment: the report, or searches for leads."""
    if run.rules.drafts_ahead:
        await begin_draft(run)
    if run.begun is None and run.rules.searches_ahead:
        begin_prefetch(run)


async def begin_draft(run: Run) -> None:
    """Ask for the draft now where only the assessment could still find something missing."""
    if analyst_of(run).works_ahead and nothing_is_missing(run) and _is_affordable(run):
        await begin_pending_draft(run, f"round/{run.ledger.round.number}/draft")
        if run.begun is not None:
            await begin_check(run, f"round/{run.ledger.round.number}/verify")


def nothing_is_missing(run: Run) -> bool:
    """Return whether only the assessment could still ask for more.

    One draft is the report, something is answered, the gates ask for nothing, no claim is left to
    verification, every lead was searched, and nobody asked for more rounds.
    """
    ledger = run.ledger
    wished = max(run.config.adaptive_min_depth, run.wished, run.limits.least_rounds)
    return (
        run.limits.sections == 1
        and ledger.round.number >= wished
        and ledger.answered() > 0
        and not gates.ask_for_more(ledger, run.limits, run.config, run.rules)
        and not doubtful_claims(run)
        and not unsearched_leads(ledger)
        and not compares_findings(run)
    )


def _is_affordable(run: Run) -> bool:
    return run.journal.meter.holds_two_reports(run.marks[-1].seconds)


async def settle_ahead(run: Run, decision: Decision) -> None:
    """Keep the draft and its verification where the run ends with a report, else drop them."""
    if not isinstance(decision, Stop) or decision.reason is StopReason.CANCELLED:
        await drop_draft(run)
        await drop_check(run)
