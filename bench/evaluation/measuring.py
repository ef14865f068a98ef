"""Measures one question of an evaluation: pages found, stopping point and every quote."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

from bench.evaluation import scoring
from bench.evaluation.cases import Case
from bench.evaluation.pool import Library
from bench.evaluation.results import Job, Outcome, case_key
from bench.evaluation.stopping_check import Decided, Stopped, decide_anew, forced
from bench.evaluation.trace import Trace, run_once
from research.engine import MemoryStore, Tools


async def measure(case: Case, job: Job, tools: Tools) -> Outcome:
    """Measure one question: a forced run, the stop rule's decisions over it, and all scores."""
    started, store = time.monotonic(), MemoryStore()
    analyst = tools.model.name if tools.model else "extractive"
    deep = await run_once(case.question, forced(job.config), tools, store, analyst)
    gold = await scoring.gold_found(case, deep, store)
    decided = await decide_anew(case.question, job.config, tools, deep, store, analyst)
    return Outcome(
        key=case_key(case),
        id=case.id,
        file=case.file,
        question=case.question,
        hops=case.hops,
        gold=gold,
        rounds=scoring.rounds_done(deep),
        forced_reason=deep.reason,
        stopped=await _stopped(case, decided, deep, gold),
        quotes=_quotes(deep, store, decided, job.library),
        seconds=round(time.monotonic() - started, 3),
    )


async def _stopped(
    case: Case, decided: Decided, deep: Trace, gold: Sequence[scoring.GoldFound]
) -> Stopped:
    rule, own = decided.trace, await scoring.gold_found(case, decided.trace, decided.store)
    last = rule.last_round
    told = deep if last <= decided.shared else rule
    return Stopped(
        round=last,
        reason=rule.reason,
        replayed=decided.replayed,
        fetched=tuple(decided.fetched(*pair) for pair in zip(gold, own, strict=True)),
        cost=scoring.Cost.of(told.usage.get(last, told.spent)),
        total=scoring.Cost.of(rule.spent),
        answer=scoring.answer_of(case, rule),
    )


def _quotes(
    deep: Trace, store: MemoryStore, decided: Decided, library: Library
) -> scoring.QuoteCheck:
    """Return the distinct quotes of both runs."""
    new = {at: each for at, each in decided.trace.quotes.items() if at not in deep.quotes}
    one = scoring.check_quotes(deep, store, library)
    other = scoring.check_quotes(replace(decided.trace, quotes=new), decided.store, library)
    return scoring.QuoteCheck(
        one.checked + other.checked, one.right + other.right, one.wrong + other.wrong
    )
