"""What a run knows, as immutable records.

The engine emits each record again whenever it changes; a receiver upserts it by its
natural key (named in each docstring). Nothing here knows a database or a page.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Literal

from research.engine.tools import SourceKind


class Status(StrEnum):
    """Where a run stands, as people and clients see it."""

    QUEUED = "queued"
    INTAKE = "intake"
    AWAITING_CLARIFICATION = "awaiting_clarification"
    AWAITING_APPROVAL = "awaiting_approval"
    RESEARCHING = "researching"
    PAUSED = "paused"
    WRITING = "writing"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"


ENDED = frozenset({Status.COMPLETED, Status.FAILED, Status.CANCELLED})
WAITING = frozenset({Status.AWAITING_CLARIFICATION, Status.AWAITING_APPROVAL, Status.PAUSED})


class Stage(StrEnum):
    """Left only through its gate; see `research/engine/gates.py`."""

    OVERVIEW = "overview"
    DEEP_RESEARCH = "deep_research"
    VERIFICATION = "verification"
    REPORT = "report"


class Complexity(StrEnum):
    SIMPLE = "simple"
    ORDINARY = "ordinary"
    COMPLEX = "complex"


class AspectState(StrEnum):
    ANSWERED = "answered"
    ONE_SOURCE = "one_source"
    DISPUTED = "disputed"
    OPEN = "open"
    NOT_FOUND = "not_found"


class StopReason(StrEnum):
    """Why a run ended, in the order in which the stop rule looks."""

    CANCELLED = "cancelled"
    USER_STOPPED = "user_stopped"
    BUDGET_TIME = "budget_time"
    BUDGET_CALLS = "budget_calls"
    BUDGET_TOKENS = "budget_tokens"
    BUDGET_COST = "budget_cost"
    BUDGET_SEARCHES = "budget_searches"
    BUDGET_FETCHES = "budget_fetches"
    MAX_UNITS = "max_units"
    MAX_ROUNDS = "max_rounds"
    NOTHING_FOUND = "nothing_found"
    QUALITY_MET = "quality_met"
    NO_GAPS = "no_gaps"
    STUCK = "stuck"
    NO_NOVELTY = "no_novelty"
    DIMINISHING_QUALITY = "diminishing_quality"
    TREE_COMPLETE = "tree_complete"


Uncertainty = Literal[
    "hedged", "dated", "number_differs", "name_differs", "negation_differs", "single_source"
]
SourceStatus = Literal["cited", "read", "empty", "refused", "failed", "not_read"]
UnitStatus = Literal["done", "failed", "late", "dropped"]
GateName = Literal["overview", "deep_research", "evidence", "report_ready", "draft"]
GateDecision = Literal["pass", "retry", "not_to_be_had"]


@dataclass(frozen=True)
class RunState:
    """The head of a run. Key: the run."""

    status: Status
    stage: Stage = Stage.OVERVIEW
    round: int = 0
    complexity: Complexity = Complexity.ORDINARY
    language: str = "en"
    analyst: str = "extractive"
    quality_score: float | None = None
    verdict: str = ""
    termination_reason: StopReason | None = None
    termination_text: str | None = None


@dataclass(frozen=True)
class PlannedAspect:
    text: str
    query: str


@dataclass(frozen=True)
class Estimate:
    """What the plan will take, as a range; money is None where the price is unknown."""

    seconds: tuple[float, float]
    llm_calls: tuple[int, int]
    tokens: tuple[int, int]
    cost_usd: tuple[float, float] | None


@dataclass(frozen=True)
class Plan:
    """What was understood and what will be done, for a person to approve. Key: the run."""

    brief: str
    complexity: Complexity
    language: str
    aspects: tuple[PlannedAspect, ...]
    questions: tuple[str, ...] = ()
    scope: str = ""
    evidence_strategy: str = ""
    output_format: str = ""
    estimate: Estimate | None = None


@dataclass(frozen=True)
class Aspect:
    """A sub-question. Key: `id` (A1, A2, … in canonical order).

    `raised_by` is an address, "plan" or "user".
    """

    id: str
    text: str
    query: str
    raised_by: str
    round: int
    state: AspectState = AspectState.OPEN
    evidence_ids: tuple[str, ...] = ()
    searches_without_news: int = 0


@dataclass(frozen=True)
class Quoted:
    """A verbatim quote in a stored page: `text[start:end] == quote`, in characters."""

    url: str
    title: str
    domain: str
    independence_key: str
    quote: str
    start: int
    end: int
    text_sha256: str
    fetched_at: datetime
    section: str = ""
    published: str | None = None


@dataclass(frozen=True)
class Fields:
    """Names, dates, numbers and definitions of a claim, by code or by the model."""

    names: tuple[str, ...] = ()
    dates: tuple[str, ...] = ()
    numbers: tuple[str, ...] = ()
    definitions: tuple[str, ...] = ()


@dataclass(frozen=True)
class Evidence:
    """One atomic claim and where it stands. Key: `id` (E1, E2, … in canonical order)."""

    id: str
    claim: str
    aspect_id: str | None
    round: int
    sources: tuple[Quoted, ...]
    relevance: float
    key: bool = False
    confidence: float = 0.5
    uncertainty: tuple[Uncertainty, ...] = ()
    contradicts: tuple[str, ...] = ()
    fields: Fields = field(default_factory=Fields)

    @property
    def keys(self) -> frozenset[str]:
        """The independent sources behind the claim."""
        return frozenset(source.independence_key for source in self.sources)


@dataclass(frozen=True)
class Source:
    """A page that a search named. Key: `url`."""

    url: str
    title: str
    domain: str
    round: int
    kind: SourceKind = "unknown"
    published: str | None = None
    relevance: float | None = None
    status: SourceStatus = "not_read"
    reason: str | None = None


@dataclass(frozen=True)
class Gap:
    """Something still missing. Key: `id` (G1, G2, …)."""

    id: str
    text: str
    aspect_id: str | None
    critical: bool
    opened_round: int
    query: str = ""
    closed_round: int | None = None
    closed_by: tuple[str, ...] = ()

    @property
    def open(self) -> bool:
        return self.closed_round is None


@dataclass(frozen=True)
class Skipped:
    """A topic refused as a near-duplicate of `twin`; similarity 0-1."""

    topic: str
    twin: str
    similarity: float


@dataclass(frozen=True)
class Unit:
    """One topic of one round. Key: (round, number)."""

    round: int
    number: int
    topic: str
    aspect_id: str | None
    queries: tuple[str, ...] = ()
    status: UnitStatus | None = None
    seconds: float = 0.0
    failure: str | None = None


@dataclass(frozen=True)
class Dimensions:
    """Marks from 1 to 10; None where nobody judged."""

    completeness: float | None = None
    depth: float | None = None
    reliability: float | None = None
    actionability: float | None = None


@dataclass(frozen=True)
class Round:
    """One turn of the loop. Key: `number`, from 1. Scores are 1-10, novelty 0-1."""

    number: int
    stage: Stage
    topics: tuple[str, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    dimensions: Dimensions = field(default_factory=Dimensions)
    score: float | None = None
    model_score: float | None = None
    model_overall: float | None = None
    cap: float | None = None
    cap_reason: str = ""
    reasoning: str = ""
    novelty: float | None = None
    pages_read: int = 0
    new_evidence: int = 0
    answered: int = 0
    gaps: tuple[str, ...] = ()
    decision: str = ""
    closed: bool = False


@dataclass(frozen=True)
class Criterion:
    name: str
    value: float
    minimum: float

    @property
    def met(self) -> bool:
        return self.value >= self.minimum


@dataclass(frozen=True)
class GateResult:
    """One evaluation of one gate. Key: (round, gate)."""

    round: int
    gate: GateName
    decision: GateDecision
    score: float | None
    threshold: float | None
    criteria: tuple[Criterion, ...]
    feedback: tuple[str, ...]
    at: datetime


@dataclass(frozen=True)
class Citation:
    """`[marker]` in the report: the quote of one record in one page."""

    marker: int
    evidence_ids: tuple[str, ...]
    url: str


@dataclass(frozen=True)
class Checks:
    """What code found in the report's sentences; all are counts."""

    statements: int = 0
    cited: int = 0
    connections: int = 0
    repaired: int = 0
    cut: int = 0


@dataclass(frozen=True)
class Report:
    """A finished report; '' where nothing was found. Key: the run."""

    markdown: str
    citations: tuple[Citation, ...] = ()
    checks: Checks = field(default_factory=Checks)
    short_answer: str = ""


@dataclass(frozen=True)
class Evaluation:
    """A model's marks of a finished run, 0-10: answer 60 % and process 40 % make the composite.
    Key: the run.
    """

    answer: float
    process: float
    composite: float
    marks: dict[str, float]
    reasoning: str = ""


@dataclass(frozen=True)
class Spent:
    """Model calls and what they took, failed and repeated ones too; money as in `Usage`."""

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost_usd: float | None = 0.0


@dataclass(frozen=True)
class Usage:
    """What a run has spent so far. Key: the run. Money is None where a price is unknown.

    `answers` are the model's usable answers by task, beside `fallbacks`, which code gave.
    `spent_by` is "task", "stage" or "model" → its name → what that took; calls that came to
    nothing have no model there. `prompts_cut` counts prompts that held less than there was,
    because of the model's window.
    """

    llm_calls: int = 0
    llm_calls_by_task: dict[str, int] = field(default_factory=dict)
    retries: int = 0
    answers: dict[str, int] = field(default_factory=dict)
    fallbacks: dict[str, dict[str, int]] = field(default_factory=dict)
    prompt_tokens: int = 0
    completion_tokens: int = 0
    tokens_estimated: bool = False
    cost_usd: float | None = 0.0
    spent_by: dict[str, dict[str, Spent]] = field(default_factory=dict)
    prompts_cut: int = 0
    searches: int = 0
    fetches: int = 0
    repeated_fetches: int = 0
    refused_quotes: int = 0
    seconds: float = 0.0


@dataclass(frozen=True)
class Action:
    """What is being done at this moment, in words for people. Key: the run."""

    text: str


@dataclass(frozen=True)
class RefusedQuote:
    """A finding whose quote or claim did not stand. Key: (round, unit, ordinal)."""

    round: int
    unit: int
    ordinal: int
    claim: str
    url: str
    reason: str


@dataclass(frozen=True)
class Problem:
    """Something that went wrong and was survived. Key: (where, message)."""

    where: str
    message: str


Record = (
    RunState
    | Plan
    | Aspect
    | Evidence
    | Source
    | Gap
    | Unit
    | Round
    | GateResult
    | Report
    | Usage
    | Evaluation
    | Action
    | RefusedQuote
    | Problem
)


_KEYS: dict[type, tuple[str, ...]] = {
    Aspect: ("id",),
    Evidence: ("id",),
    Source: ("url",),
    Gap: ("id",),
    Unit: ("round", "number"),
    Round: ("number",),
    GateResult: ("round", "gate"),
    RefusedQuote: ("round", "unit", "ordinal"),
    Problem: ("where", "message"),
}


def key_of(record: Record) -> tuple[object, ...]:
    """The record's type and natural key; records without one are a run's only."""
    return (type(record), *(getattr(record, name) for name in _KEYS.get(type(record), ())))
