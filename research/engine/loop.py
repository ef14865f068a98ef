"""The loop: intake, agreement with the person, rounds until the stop rule, report.

Read it top to bottom: it is the diagram of `docs/architecture.md`.
"""

from __future__ import annotations

from research.engine.beginning import begin_run
from research.engine.config import ResearchConfig
from research.engine.ending import conclude
from research.engine.journal import Journal
from research.engine.prices import know_prices
from research.engine.reopening import reopen, reopens
from research.engine.report import compose, publish
from research.engine.rewriting import rewrite
from research.engine.round import research_round
from research.engine.run import Question, Run
from research.engine.stopping import Continue, Decision, Stop
from research.engine.tree import research_tree
from research.engine.verdict import close_round, close_verification
from research.engine.verification import verification_round, weak_claims
from research.engine.wrapup import mark

PAID_TWICE = "The process ended while this model call was under way; it may be paid for twice."

__all__ = ["Question", "research"]


async def research(question: Question, config: ResearchConfig, journal: Journal) -> None:
    """Run to the end, emitting every record to the journal's receiver.

    Raises `Parked` where a person has to answer first, `JournalEnds` in a replay that
    goes further than what was recorded, `ConfigError` for a cap on money that can't be kept.
    """
    run = Run(question, config, journal)
    for place in journal.paid_twice:
        run.trouble(place, PAID_TWICE)
    try:
        run.change(analyst=journal.analyst)
        await know_prices(run)
        if question.seed is not None and question.seed.rewrites:
            await rewrite(run, question.seed)
            return
        await begin_run(run)
        mark(run, await journal.elapsed("round/0"))
        stop = await (research_tree(run) if run.is_fixed else adapt(run))
        await finish(run, stop)
    finally:
        await journal.close()


async def adapt(run: Run) -> Stop:
    """Rounds until the stop rule ends them, then one for claims that nothing confirms; what a
    person asks for meanwhile leads on.
    """
    decision: Decision = Continue()
    while not isinstance(decision, Stop):
        await research_round(run)
        decision = await close_round(run)
        if isinstance(decision, Stop) and (claims := weak_claims(run, decision)):
            known = await verification_round(run, claims)
            decision = await close_verification(run, decision, claims, known)
    return decision


async def finish(run: Run, stop: Stop) -> None:
    """The report, or why there is none; a draft that fails its gate reopens research once."""
    if not await conclude(run, stop):
        return
    written = await compose(run)
    if reopens(run, written):
        await reopen(run)
        if not await conclude(run, await adapt(run)):
            return
        written = await compose(run)
    await publish(run, written)
