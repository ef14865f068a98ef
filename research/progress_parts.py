"""The parts of the progress payload: what page, socket, command line and API are given.

`progress.py` composes them. Times of day are aware datetimes; seconds, tokens and US
dollars are named where they stand.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from research.engine.records import Mark
from research.phases import Phase


class Part(BaseModel):
    model_config = ConfigDict(frozen=True)


class RunPart(Part):
    """`rounds_at_most` is the soft end that holds for the question's complexity, `phase` what the
    run is doing ("researching", "evaluating", …), `stage_progress` how far it is in its stage, 0-1.
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
    """The one sentence that says why it goes on or why it stopped.

    `asks` is what a paused run wants to know ("dig deeper, or is this sufficient?"), else ''.
    """

    text: str
    termination_reason: str | None
    asks: str


class CommandPart(Part):
    """What a person told the run; `taken` once the loop has come to where it takes it."""

    kind: str
    topic: str | None
    at: datetime
    taken: bool


class ControlPart(Part):
    """`possible` are the kinds of command that its state allows now, `told` those given."""

    possible: list[str]
    told: list[CommandPart]


class ActionPart(Part):
    text: str
    since: datetime


class DraftedPart(Part):
    """A sentence of the report as it is being written, not checked yet; `about` is its
    sub-question, '' in the short answer.
    """

    text: str
    about: str


class RoundPart(Part):
    number: int
    score: float | None
    novelty: float | None
    decision: str


class QualityPart(Part):
    """Scores are 1-10; `history` is one entry a round."""

    score: float | None
    threshold: float
    dimensions: dict[str, float | None]
    history: list[RoundPart]


class AspectPart(Part):
    """`mark` is what is shown of `state`: no more than its evidence tells. `sources` counts the
    independent ones that the mark speaks of.
    """

    id: str
    text: str
    state: str
    mark: Mark
    raised_by: str
    best_claim: str | None
    evidence: int
    sources: int
    dropped: bool


class GapPart(Part):
    id: str
    text: str
    aspect: str | None
    critical: bool
    opened_round: int
    closed_round: int | None


class UnitPart(Part):
    """`status` is null while the topic is being researched."""

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
    """`unavailable` says why no more is to be had; "" where there may be more."""

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
    """`sources` counts independent ones."""

    count: int
    sources: int
    domains: list[str]


class BudgetPart(Part):
    """`limit` is null where nothing bounds it; `used` where it is not known."""

    name: str
    unit: str
    used: float | None
    limit: float | None


class LimitsPart(Part):
    """Limits and minima in force, by the question's complexity, and the thresholds."""

    topics_per_round: int
    rounds: int
    tool_calls: int
    pages_per_round: int
    evidence_records: int
    independent_sources: int
    sources_per_aspect: int
    quality_threshold: float
    novelty_threshold: float
    improvement_threshold: float
    duplicate_threshold: float


class LevelPart(Part):
    """The fixed mode's tree: levels, and the queries done at the present one."""

    depth: int
    depth_total: int
    breadth_done: int
    breadth_total: int


class Progress(Part):
    """`level` is null but in fixed mode. `failures` are failed calls by tool: "search", with
    "search_academic" and "search_video" apart, "fetch" and "model".
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
