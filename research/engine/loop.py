"""The loop: intake, agreement with the person, rounds until the stop rule, report.

Read it top to bottom: `docs/how-it-decides.md` explains its rules.
"""

from __future__ import annotations

from research.engine.assessment.close_round import close_round, close_verification
from research.engine.assessment.rules import DEFAULT_RULES, Rules
from research.engine.assessment.stop_rule import Continue, Decision, Stop
from research.engine.budget.estimate import know_prices
from research.engine.budget.meter import Meter
from research.engine.budget.wind_down import record_spend
from research.engine.config import ResearchConfig
from research.engine.journal import EmptyInbox, Inbox, Journal, MemoryStore
from research.engine.llm_tasks.prompting.fences import run_secret
from research.engine.ports import Tools
from research.engine.records import Record
from research.engine.records.result import RunResult
from research.engine.report.ending import finish_research, reopen_research, should_reopen
from research.engine.report.report import compose_report, publish_report
from research.engine.rounds.fixed_tree import research_tree
from research.engine.rounds.research_round import research_round
from research.engine.rounds.verification import verification_round, weak_claims
from research.engine.run import Question, Run
from research.engine.threads.rewrite import answer_at_once, rewrite_report
from research.engine.threads.start import begin_run
from research.engine.verifier.qualification import know_verifier

PAID_TWICE = "The process ended while this model call was under way; it may be paid for twice."

__all__ = ["Question", "run_in_memory", "run_research"]


async def run_in_memory(
    question: Question,
    tools: Tools,
    config: ResearchConfig | None = None,
    *,
    rules: Rules = DEFAULT_RULES,
    store: MemoryStore | None = None,
    inbox: Inbox | None = None,
) -> RunResult:
    """Research a question with its journal in memory, and return what the run found.

    Pass the `store` of an earlier call to resume or replay that run: calls that it holds are
    answered from it. `inbox` holds the commands of people. Raises as `run_research` does.
    """
    config, records = config or ResearchConfig(), list[Record]()
    analyst = tools.model.name if tools.model else "extractive"
    journal = Journal(
        store or MemoryStore(), tools, Meter(config), records.append, inbox or EmptyInbox(), analyst
    )
    await journal.open()
    await run_research(question, config, journal, rules)
    return RunResult(tuple(records), tuple(journal.divergences))


async def run_research(
    question: Question,
    config: ResearchConfig,
    journal: Journal,
    rules: Rules = DEFAULT_RULES,
) -> None:
    """Run to the end, emitting every record to the journal's receiver.

    Raises `ParkedError` where a person has to answer first, `JournalEndsError` in a replay that
    goes further than what was recorded, `ConfigError` for a cap on money that can't be kept.
    """
    run = Run(question, config, journal, rules)
    journal.meter.reserves_report = rules.reserves_report
    for place in journal.paid_twice:
        run.trouble(place, PAID_TWICE)
    try:
        run.update_state(analyst=journal.analyst)
        await know_prices(run)
        run.began = await journal.form()
        if run.has_model:
            run.form = run.began
            run.secret = await run_secret(journal)
        await know_verifier(run)
        if question.seed is not None and question.seed.rewrites:
            await rewrite_report(run, question.seed)
            return
        await begin_run(run)
        if run.answers_at_once:
            await answer_at_once(run)
            return
        record_spend(run, await journal.elapsed("round/0"))
        stop = await (research_tree(run) if run.is_fixed else research_adaptively(run))
        await finish_run(run, stop)
    finally:
        await journal.close()


async def research_adaptively(run: Run) -> Stop:
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


async def finish_run(run: Run, stop: Stop) -> None:
    """The report, or why there is none; a draft that fails its gate reopens research once."""
    if not await finish_research(run, stop):
        return
    written = await compose_report(run)
    if await should_reopen(run, written):
        await reopen_research(run)
        if not await finish_research(run, await research_adaptively(run)):
            return
        written = await compose_report(run)
    await publish_report(run, written)
