"""One question of an evaluation, measured: what was found, where the rule stops, every quote."""

from __future__ import annotations

import time

from research.engine.journal import MemoryStore
from research.engine.tools import Tools
from research.evaluation import scoring
from research.evaluation.cases import Case
from research.evaluation.results import Job, Outcome, case_key
from research.evaluation.stopping_check import Stopped, decide_anew, forced, until
from research.evaluation.trace import Trace, run_once


async def measure(case: Case, job: Job, tools: Tools) -> Outcome:
    """One question: the forced run, the rule's decision over it, and all scores."""
    started, store = time.monotonic(), MemoryStore()
    analyst = tools.model.name if tools.model else "extractive"
    deep = await run_once(case.question, forced(job.config), tools, store, analyst)
    gold = await scoring.gold_found(case, deep, store)
    quotes = scoring.check_quotes(deep, store, job.library)
    rule = await decide_anew(case.question, job.config, tools, deep, store, analyst)
    if rule is not None:
        stopped = _stopped(case, rule, deep, until(gold, rule.last_round), True)
    else:
        store = MemoryStore()
        rule = await run_once(case.question, job.config, tools, store, analyst)
        own = await scoring.gold_found(case, rule, store)
        stopped = _stopped(case, rule, rule, until(own, rule.last_round), False)
        quotes = _both(quotes, scoring.check_quotes(rule, store, job.library))
    return Outcome(
        key=case_key(case),
        id=case.id,
        file=case.file,
        question=case.question,
        hops=case.hops,
        gold=gold,
        rounds=scoring.rounds_done(deep),
        forced_reason=deep.reason,
        stopped=stopped,
        quotes=quotes,
        seconds=round(time.monotonic() - started, 3),
    )


def _stopped(
    case: Case, rule: Trace, rounds: Trace, fetched: tuple[int | None, ...], replayed: bool
) -> Stopped:
    last = rule.last_round
    return Stopped(
        round=last,
        reason=rule.reason,
        replayed=replayed,
        fetched=fetched,
        cost=scoring.Cost.of(rounds.usage.get(last, rounds.spent)),
        total=scoring.Cost.of(rule.spent),
        answer=scoring.answer_of(case, rule),
    )


def _both(one: scoring.QuoteCheck, other: scoring.QuoteCheck) -> scoring.QuoteCheck:
    return scoring.QuoteCheck(
        one.checked + other.checked, one.right + other.right, one.wrong + other.wrong
    )
