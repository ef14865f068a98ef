"""Robustness of runs while three of ten model calls fail, in every way real servers do.

    python -m bench.chaos --runs 100 --share 0.3

Runs use the questions of the simulated world in turn, each with faults from a different seed; each
question is also asked once without faults. Counted are runs that ended, that completed, that kept
at least nine tenths of the facts of the fault-free run, that state nothing wrong, and that report
their failures.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

import httpx

from bench.faults import FaultyModel
from bench.world.facts import Question, World
from bench.world.hostile import HONEST
from bench.world.running import RunningWorld, running_world
from bench.world.score import Score, score
from research.engine import (
    Journal,
    MemoryStore,
    Meter,
    Record,
    ResearchConfig,
    Status,
    Tools,
    key_of,
    records,
    run_research,
)
from research.engine import Question as Asked
from research.extract.pool import TextPool
from research.fetch.fetch import FetchSettings, SafeFetch
from research.llm.client import ChatModel
from research.llm.settings import ModelSettings
from research.search.fallback import FallbackSearch
from research.search.providers import open_provider
from research.search.providers.base import ProviderSettings

TODAY = "2026-01-15"
TIMEOUT_SECONDS = 3.0
KEPT = 0.9


class Clock:
    def now(self) -> datetime:
        return datetime.now(UTC)

    def monotonic(self) -> float:
        return time.monotonic()


@dataclass(frozen=True)
class Outcome:
    """The result of one run.

    `failed` counts model calls that failed according to the journal; `wrong` cited sentences that
    state more than their quotes; `loose` quotes that don't occur in their page.
    """

    question: str
    seed: int
    status: str
    recall: float
    kept: float
    wrong: int
    loose: int
    failed: int
    told: int
    retries: int
    fallbacks: dict[str, int]
    calls: int

    @property
    def honest(self) -> bool:
        return not self.wrong and not self.loose

    @property
    def says_what_failed(self) -> bool:
        return self.told >= 1 or not self.failed


@dataclass
class Tally:
    runs: int = 0
    ended: int = 0
    completed: int = 0
    kept_recall: int = 0
    honest: int = 0
    say_what_failed: int = 0
    without_a_fault: int = 0

    def add(self, outcome: Outcome) -> None:
        self.runs += 1
        self.ended += outcome.status in records.ENDED
        self.completed += outcome.status == Status.COMPLETED
        self.kept_recall += outcome.kept >= KEPT
        self.honest += outcome.honest
        self.say_what_failed += outcome.says_what_failed
        self.without_a_fault += not outcome.failed


async def measure(
    running: RunningWorld, runs: int, share: float, at_once: int = 4
) -> tuple[Tally, list[Outcome], Counter[str]]:
    """Run the given number of runs with faults, using the world's questions in turn."""
    questions = [q for q in running.world.questions if q.needed]
    free = asyncio.Semaphore(at_once)
    tally, spoilt = Tally(), Counter[str]()
    with TextPool() as pool:

        async def run(question: Question, share: float, seed: int, clean: float) -> Outcome:
            async with free:
                outcome, faults = await one_run(running, pool, question, share, seed, clean)
                spoilt.update(faults)
                return outcome

        calm = await asyncio.gather(*(run(q, 0.0, 0, 1.0) for q in questions[:runs]))
        clean = [outcome.recall for outcome in calm]
        turns = [number % len(questions) for number in range(runs)]
        outcomes = await asyncio.gather(
            *(run(questions[i], share, n, clean[i]) for n, i in enumerate(turns, 1))
        )
    for outcome in outcomes:
        tally.add(outcome)
    return tally, outcomes, spoilt


async def one_run(
    running: RunningWorld, pool: TextPool, question: Question, share: float, seed: int, clean: float
) -> tuple[Outcome, Counter[str]]:
    told: dict[tuple[object, ...], Record] = {}
    hosts = frozenset(running.hosts)
    web = SafeFetch(FetchSettings(allow_private_hosts=hosts), pool)
    async with FaultyModel(running.model, share, seed) as faulty, httpx.AsyncClient() as client:
        settings = ModelSettings(
            HONEST, base_url=faulty.url, timeout_seconds=TIMEOUT_SECONDS,
            first_token_seconds=TIMEOUT_SECONDS,
        )  # fmt: skip
        model = ChatModel(settings)
        search = open_provider("searxng", ProviderSettings({"SEARXNG_URL": running.search}), client)
        tools = Tools(FallbackSearch([search]), web, Clock(), model)
        store, config = MemoryStore(), ResearchConfig()
        journal = Journal(
            store, tools, Meter(config), lambda r: told.update({key_of(r): r}), analyst=HONEST
        )
        try:
            await journal.open()
            await run_research(Asked(question.text, TODAY, agreed=True), config, journal)
        finally:
            await model.aclose()
            await web.aclose()
    return _outcome(running.world, question, seed, list(told.values()), store, clean), faulty.spoilt


def _outcome(
    world: World,
    question: Question,
    seed: int,
    told: Sequence[Record],
    store: MemoryStore,
    clean: float,
) -> Outcome:
    run = as_run(told)
    found: Score = score(world, question, run, {"entries": []})
    recall = found.report_recall or 0.0
    right = round((found.citation_precision or 0.0) * found.cited_sentences)
    usage = run["usage"]
    by_code = {task: sum(causes.values()) for task, causes in usage.fallbacks.items()}
    failed = [e for e in store.entries.values() if e.kind == "model" and e.status == "failed"]
    return Outcome(
        question=question.id,
        seed=seed,
        status=run["status"],
        recall=recall,
        kept=recall / clean if clean else 1.0,
        wrong=found.cited_sentences - right - found.cited_in_vain,
        loose=sum(
            store.texts[s["text_sha256"]][s["start"] : s["end"]] != s["quote"]
            for e in run["evidence"]
            for s in e["sources"]
        ),
        failed=len(failed),
        told=usage.retries + sum(by_code.values()),
        retries=usage.retries,
        fallbacks=by_code,
        calls=usage.llm_calls,
    )


def as_run(told: Sequence[Record]) -> dict[str, Any]:
    """Return the input of the score, from the records of a run."""

    def of(kind: type) -> list[Any]:
        return [asdict(record) for record in told if isinstance(record, kind)]  # type: ignore[call-overload]

    [state] = [r for r in told if isinstance(r, records.RunState)]
    [usage] = [r for r in told if isinstance(r, records.Usage)]
    report = (of(records.Report) or [{"markdown": "", "citations": ()}])[-1]
    evidence = of(records.Evidence)
    for record in evidence:
        for source in record["sources"]:
            source["fetched_at"] = source["fetched_at"].isoformat()
    gates = [{**gate, "at": gate["at"].isoformat()} for gate in of(records.GateResult)]
    return {
        "status": state.status,
        "termination_reason": state.termination_reason,
        "rounds": of(records.Round),
        "gates": gates,
        "evidence": evidence,
        "report_markdown": report["markdown"],
        "citations": report["citations"],
        "usage": usage,
    }


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench.chaos", description=__doc__)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--share", type=float, default=0.3, help="of the calls that fail, 0-1")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--at-once", type=int, default=4, help="runs side by side")
    parser.add_argument("--each", action="store_true", help="print every run")
    options = parser.parse_args()
    with running_world(options.seed) as running:
        tally, outcomes, spoilt = asyncio.run(
            measure(running, options.runs, options.share, options.at_once)
        )
    if options.each:
        for outcome in outcomes:
            print(json.dumps(asdict(outcome)))
    calls, failed = sum(o.calls for o in outcomes), sum(o.failed for o in outcomes)
    by_code: Counter[str] = Counter()
    for outcome in outcomes:
        by_code.update(outcome.fallbacks)
    print(json.dumps({**asdict(tally), "calls": calls, "failed_calls": failed,
                      "retries": sum(o.retries for o in outcomes), "by_code": dict(by_code),
                      "spoilt": dict(spoilt)}, indent=1))  # fmt: skip


if __name__ == "__main__":
    main()
