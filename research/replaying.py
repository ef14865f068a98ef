"""A finished run decided anew from its journal; nothing is asked of the outside or written."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from asgiref.sync import sync_to_async

from research.engine.budget import Meter
from research.engine.config import ResearchConfig
from research.engine.journal import Journal, JournalEnds, Parked
from research.engine.loop import Question, research
from research.engine.records import Record, Report, Round, RunState
from research.journal_store import RecordedStore
from research.models import Run
from research.snapshots import seed_of


@dataclass
class Replay:
    """What the journal says of a run under some config.

    `journal_ends` is the first place that the recorded run never came to; None where the
    replay came to an end. `identical` compares decisions, end and report with the record.
    """

    run: str
    changed: dict[str, Any]
    rounds: list[dict[str, Any]] = field(default_factory=list)
    termination_reason: str | None = None
    termination_text: str | None = None
    journal_ends: str | None = None
    replayed: int = 0
    divergences: list[str] = field(default_factory=list)
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
    journal = Journal(RecordedStore(run), None, Meter(config), records.append, analyst=run.analyst)
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
    result.identical = await _same(run, result, records)
    return result


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
