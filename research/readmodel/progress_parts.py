"""Schema of the progress payload, as page, socket, command line and API receive it.

`progress.py` builds it. Times are aware datetimes; the names of other fields contain their units.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from research.engine.records import AnswerStatus
from research.readmodel.phases import Phase


class Part(BaseModel):
    model_config = ConfigDict(frozen=True)


class RunPart(Part):
    """`rounds_at_most` is the soft limit for the question's complexity, `phase` the current
    activity ("researching", "evaluating", …), `stage_progress` the progress within the stage, 0-1.
    """

    id: str
    sequence: int
    status: str
    stage: str
    phase: Phase
    stage_progress: float
    mode: str
    round: int
    rounds_at_most: int
    question: str
    complexity: str
    analyst: str
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None


class VerdictPart(Part):
    """The sentence that explains why the run goes on or why it stopped.

    `asks` is the question of a paused run ("dig deeper, or is this sufficient?"), else ''.
    """

    text: str
    termination_reason: str | None
    asks: str


class CommandPart(Part):
    """A user's command; `taken` once the engine has processed it. `text` is an instruction."""

    kind: str
    topic: str | None
    text: str | None = None
    at: datetime
    taken: bool


class ControlPart(Part):
    """`possible` are the commands allowed in the current state, `told` those given."""

    possible: list[str]
    told: list[CommandPart]


class ActionPart(Part):
    text: str
    since: datetime


class DraftedPart(Part):
    """A sentence of the report being written, not yet checked; `about` is its sub-question, '' in
    the short answer.
    """

    text: str
    about: str


class RoundPart(Part):
    number: int
    score: float | None
    novelty: float | None
    decision: str


class QualityPart(Part):
    """Scores are 1-10; `history` has one entry per round."""

    score: float | None
    threshold: float
    dimensions: dict[str, float | None]
    history: list[RoundPart]


class AspectPart(Part):
    """A sub-question. `mark` is the displayed answer status, never better than the evidence
    supports; `sources` counts the independent sites (or documents) behind it, `open_points` what
    the report lists as open on it.
    """

    id: str
    text: str
    state: str
    mark: AnswerStatus
    raised_by: str
    best_claim: str | None
    evidence: int
    sources: int
    open_points: int
    dropped: bool


class GapPart(Part):
    id: str
    text: str
    aspect: str | None
    critical: bool
    opened_round: int
    closed_round: int | None


class UnitPart(Part):
    """One topic of a round; `status` is null while it is being researched."""

    round: int
    number: int
    topic: str
    status: str | None
    seconds: float
    failure: str | None


class UnitsPart(Part):
    dispatched: int
    skipped: int
    current_queries: list[str]
    completed_queries: int
    items: list[UnitPart]


class CriterionPart(Part):
    """`unavailable` is the reason why no further sources can be found, else ""."""

    name: str
    value: float
    minimum: float
    goal: float = 0
    unavailable: str = ""


class GatePart(Part):
    """The evidence gate as last evaluated, without the records that a reviewer `rejected`."""

    status: Literal["none", "pass", "retry", "not_to_be_had"]
    round: int | None
    reason: list[str]
    criteria: list[CriterionPart]
    rejected: int


class EvidencePart(Part):
    """`sources` counts independent sites, or documents."""

    count: int
    sources: int
    domains: list[str]


class BudgetPart(Part):
    """`limit` is null if unlimited; `used` is null if unknown."""

    name: str
    unit: str
    used: float | None
    limit: float | None


class LimitsPart(Part):
    """Limits and minima for the question's complexity, and the thresholds."""

    topics_per_round: int
    rounds: int
    tool_calls: int
    pages_per_round: int
    evidence_records: int
    independent_sites: int
    sources_per_aspect: int
    quality_threshold: float
    novelty_threshold: float
    improvement_threshold: float
    duplicate_threshold: float


class LevelPart(Part):
    """Progress of the fixed mode: levels of the tree, and the current level's finished queries."""

    depth: int
    depth_total: int
    breadth_done: int
    breadth_total: int


class Progress(Part):
    """The payload. `level` is null except in fixed mode. `failures` counts failed calls by tool:
    "search", "search_academic", "search_video", "fetch" and "model".
    """

    run: RunPart
    verdict: VerdictPart
    action: ActionPart | None
    draft: list[DraftedPart]
    control: ControlPart
    quality: QualityPart
    aspects: list[AspectPart]
    gaps: list[GapPart]
    units: UnitsPart
    gate: GatePart
    evidence: EvidencePart
    usage: dict[str, Any]
    failures: dict[str, int]
    budget: list[BudgetPart]
    limits: LimitsPart
    level: LevelPart | None
