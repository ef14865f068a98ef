"""One run of the engine with the results of each round, from the engine's records."""

from __future__ import annotations

from dataclasses import dataclass, field

from research.engine import (
    Evidence,
    Journal,
    JournalEndsError,
    MemoryStore,
    Meter,
    Question,
    QuoteSource,
    Record,
    Report,
    ResearchConfig,
    Round,
    RunState,
    Source,
    Status,
    Tools,
    Usage,
    run_research,
)
from research.engine.records import Unit

TODAY = "2026-01-01"
READ = frozenset({"read", "cited"})
Span = tuple[str, int, int]


@dataclass
class Trace:
    """URLs and quotes with their round, and cumulative usage after each round.

    `ended_at` is the journal place at which a replay found no more entries.
    """

    rounds: dict[int, Round] = field(default_factory=dict)
    queries: dict[int, list[str]] = field(default_factory=dict)
    named: dict[str, int] = field(default_factory=dict)
    read: dict[str, int] = field(default_factory=dict)
    titles: dict[str, str] = field(default_factory=dict)
    quotes: dict[Span, tuple[int, QuoteSource]] = field(default_factory=dict)
    evidence: dict[str, Evidence] = field(default_factory=dict)
    usage: dict[int, Usage] = field(default_factory=dict)
    spent: Usage = field(default_factory=Usage)
    report: Report = field(default_factory=lambda: Report(""))
    state: RunState = field(default_factory=lambda: RunState(Status.INTAKE))
    ended_at: str | None = None
    divergences: list[str] = field(default_factory=list)

    @property
    def last_round(self) -> int:
        """Return the number of closed rounds."""
        return max((r.number for r in self.rounds.values() if r.closed), default=0)

    @property
    def reason(self) -> str:
        return self.state.termination_reason or self.state.status

    def receive(self, record: Record) -> None:
        now = max(self.rounds, default=0)
        if isinstance(record, Round):
            self.rounds[record.number] = record
        elif isinstance(record, Unit):
            self.queries.setdefault(record.round, [])
            self.queries[record.round] += [
                query for query in record.queries if query not in self.queries[record.round]
            ]
        elif isinstance(record, Source):
            self._source(record, now)
        elif isinstance(record, Evidence):
            self.evidence[record.id] = record
            for quoted in record.sources:
                self.quotes.setdefault((quoted.url, quoted.start, quoted.end), (now, quoted))
        elif isinstance(record, Usage):
            self.spent = record
            if self.state.status is Status.RESEARCHING:
                self.usage[now] = record
        elif isinstance(record, Report):
            self.report = record
        elif isinstance(record, RunState):
            self.state = record

    def _source(self, record: Source, now: int) -> None:
        self.titles[record.url] = record.title
        self.named.setdefault(record.url, record.round)
        if record.status in READ:
            self.read.setdefault(record.url, now)


async def run_once(
    question: str,
    config: ResearchConfig,
    tools: Tools | None,
    store: MemoryStore,
    analyst: str,
) -> Trace:
    """Run the engine; if `tools` is None, it replays the entries of the store."""
    trace = Trace()
    journal = Journal(store, tools, Meter(config), trace.receive, analyst=analyst)
    await journal.open()
    try:
        await run_research(Question(question, TODAY, agreed=True), config, journal)
    except JournalEndsError as end:
        trace.ended_at = end.place
    trace.divergences = journal.divergences
    return trace


def best_ranks(store: MemoryStore) -> dict[str, int]:
    """Return the best rank of each URL over all searches of a run."""
    ranks: dict[str, int] = {}
    for entry in store.entries.values():
        if entry.kind == "search" and entry.status == "done":
            for hit in entry.answer["hits"]:
                ranks[hit["url"]] = min(hit["rank"], ranks.get(hit["url"], hit["rank"]))
    return ranks
