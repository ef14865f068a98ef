"""Replay: executes a finished run from its journal, without outside calls and without writing."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from asgiref.sync import sync_to_async

from research.engine.budget.meter import Meter
from research.engine.config import ResearchConfig
from research.engine.journal import Journal, JournalEndsError, ParkedError
from research.engine.loop import Question, run_research
from research.engine.records import Evidence, Record, Report, Round, RunState, Usage
from research.engine.report.messages import count_noun
from research.models import Run
from research.runtime.source_choices import documents_alone
from research.threads.seeds import seed_of
from research.worker.journal_store import RecordedStore, config_at_start


@dataclass(frozen=True)
class Cost:
    """Calls and cost; `cost_usd` is None if a price is unknown."""

    llm_calls: int = 0
    tokens: int = 0
    cost_usd: float | None = 0.0
    searches: int = 0
    fetches: int = 0

    def __str__(self) -> str:
        dollars = "price unknown" if self.cost_usd is None else f"${self.cost_usd:.4f}"
        model = f"{count_noun(self.llm_calls, 'model call')}, {self.tokens:,} tokens, {dollars}"
        return f"{model}, {count_noun(self.searches, 'search')}, {count_noun(self.fetches, 'page')}"


@dataclass
class Replay:
    """Outcome of a replay under some configuration.

    `journal_ends` is the first place that the recorded run never reached; None if the replay
    finished. `identical` compares decisions, stop reason and report with the recorded ones.
    `used` is the cost of the replayed calls, `run_used` that of the recorded run; `evidence_lost`
    are claims that only the recorded run has, of `run_evidence`. `divergences` are places whose
    recorded answer was given to another request.
    """

    run: str
    changed: dict[str, Any]
    rounds: list[dict[str, Any]] = field(default_factory=list)
    termination_reason: str | None = None
    termination_text: str | None = None
    journal_ends: str | None = None
    replayed: int = 0
    divergences: list[str] = field(default_factory=list)
    used: Cost = Cost()
    run_used: Cost = Cost()
    run_evidence: int = 0
    evidence_lost: list[str] = field(default_factory=list)
    identical: bool = False

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


async def replay_run(run: Run, changes: dict[str, str]) -> Replay:
    """Replay `run` with some knobs changed.

    Raise `ConfigError` for an invalid knob, `EarlierFormError` for a run of an earlier version.
    """
    recorded = await sync_to_async(config_at_start)(run)
    config = ResearchConfig.from_strings(changes, recorded) if changes else recorded
    records: list[Record] = []
    meter = Meter(config)
    journal = Journal(RecordedStore(run), None, meter, records.append, analyst=run.analyst)
    await journal.open()
    seed = await sync_to_async(seed_of)(run)
    documents = documents_alone(run.sources)
    day = run.today.isoformat()
    question = Question(run.question, day, run.agreed, seed, documents=documents)
    result = Replay(run.public_id, _difference(recorded, config))
    try:
        await run_research(question, config, journal)
    except JournalEndsError as end:
        result.journal_ends = end.place
    except ParkedError as parked:
        result.journal_ends = f"person/{parked.waiting_for}"
    _fill_result(result, records)
    result.replayed, result.divergences = journal.replayed, journal.divergences
    result.used = _cost(meter.snapshot())
    result.run_used = _cost(Usage(**run.usage))
    result.identical = await _same(run, result, records)
    await _compare_evidence(run, result, records)
    return result


async def _compare_evidence(run: Run, result: Replay, records: list[Record]) -> None:
    """Compare by claims: ids depend on the order in which evidence was found."""
    found = {record.claim for record in records if isinstance(record, Evidence)}
    recorded = [row.claim async for row in run.evidence.order_by("pk").only("claim")]
    result.run_evidence = len(recorded)
    result.evidence_lost = [claim for claim in recorded if claim not in found]


def _cost(usage: Usage) -> Cost:
    tokens = usage.prompt_tokens + usage.completion_tokens
    return Cost(usage.llm_calls, tokens, usage.cost_usd, usage.searches, usage.fetches)


def _difference(recorded: ResearchConfig, config: ResearchConfig) -> dict[str, Any]:
    before, after = recorded.model_dump(mode="json"), config.model_dump(mode="json")
    return {name.upper(): value for name, value in after.items() if before[name] != value}


def _fill_result(result: Replay, records: list[Record]) -> None:
    rounds = {r.number: r for r in records if isinstance(r, Round) and r.closed}
    result.rounds = [
        {"number": r.number, "score": r.score, "topics": list(r.topics), "decision": r.decision}
        for r in rounds.values()
    ]
    states = [r for r in records if isinstance(r, RunState)]
    if states and states[-1].termination_reason:
        result.termination_reason = states[-1].termination_reason.value
        result.termination_text = states[-1].termination_text


async def _same(run: Run, result: Replay, records: list[Record]) -> bool:
    stored = [
        r
        async for r in run.rounds.order_by("number").values("number", "score", "topics", "decision")
    ]
    reports = [r.markdown for r in records if isinstance(r, Report)]
    last = await run.reports.order_by("-number").afirst()
    return (
        result.journal_ends is None
        and stored == result.rounds
        and run.termination_reason == result.termination_reason
        and (last.markdown if last else None) == (reports[-1] if reports else None)
    )
