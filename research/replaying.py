"""A finished run decided anew from its journal; nothing is asked of the outside or written."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from asgiref.sync import sync_to_async

from research.engine.budget import Meter
from research.engine.config import ResearchConfig
from research.engine.journal import Journal, JournalEnds, Parked
from research.engine.loop import Question, research
from research.engine.records import Record, Report, Round, RunState, Usage
from research.engine.wording import count
from research.journal_store import RecordedStore
from research.models import Run
from research.snapshots import seed_of


@dataclass(frozen=True)
class Cost:
    """`cost_usd` is None where a price is unknown."""

    llm_calls: int = 0
    tokens: int = 0
    cost_usd: float | None = 0.0
    searches: int = 0
    fetches: int = 0

    def __str__(self) -> str:
        dollars = "price unknown" if self.cost_usd is None else f"${self.cost_usd:.4f}"
        model = f"{count(self.llm_calls, 'model call')}, {self.tokens:,} tokens, {dollars}"
        return f"{model}, {count(self.searches, 'search')}, {count(self.fetches, 'page')}"


@dataclass
class Replay:
    """What the journal says of a run under some config.

    `journal_ends` is the first place that the recorded run never came to; None where the
    replay came to an end. `identical` compares decisions, end and report with the record.
    `used` is what the replayed calls cost when they were made, `run_used` what the run cost.
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
    identical: bool = False

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


async def replay(run: Run, changes: dict[str, str]) -> Replay:
    """Decide `run` anew with some knobs changed.

    Raises `ConfigError` for a knob that cannot be used.
    """
    recorded = ResearchConfig.model_validate(run.config)
    config = ResearchConfig.from_strings(changes, recorded) if changes else recorded
    records: list[Record] = []
    meter = Meter(config)
    journal = Journal(RecordedStore(run), None, meter, records.append, analyst=run.analyst)
    await journal.open()
    seed = await sync_to_async(seed_of)(run)
    question = Question(run.question, run.today.isoformat(), run.agreed, seed)
    result = Replay(run.public_id, _difference(recorded, config))
    try:
        await research(question, config, journal)
    except JournalEnds as end:
        result.journal_ends = end.place
    except Parked as parked:
        result.journal_ends = f"person/{parked.waiting_for}"
    _tell(result, records)
    result.replayed, result.divergences = journal.replayed, journal.divergences
    result.used = _cost(meter.snapshot())
    result.run_used = _cost(Usage(**run.usage))
    result.identical = await _same(run, result, records)
    return result


def _cost(usage: Usage) -> Cost:
    tokens = usage.prompt_tokens + usage.completion_tokens
    return Cost(usage.llm_calls, tokens, usage.cost_usd, usage.searches, usage.fetches)


def _difference(recorded: ResearchConfig, config: ResearchConfig) -> dict[str, Any]:
    before, after = recorded.model_dump(mode="json"), config.model_dump(mode="json")
    return {name.upper(): value for name, value in after.items() if before[name] != value}


def _tell(result: Replay, records: list[Record]) -> None:
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
