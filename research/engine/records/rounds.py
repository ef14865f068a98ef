"""Course of a run: its rounds, their units, scores and gates."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from research.engine.records.states import GateDecision, GateName, Stage, UnitStatus


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
    """Marks from 1 to 10; None if unjudged."""

    completeness: float | None = None
    depth: float | None = None
    reliability: float | None = None
    actionability: float | None = None


@dataclass(frozen=True)
class Round:
    """One turn of the loop. Key: `number`, from 1. Scores are 1-10, novelty 0-1.

    `instructions` are those that people gave in it, followed from its end on.
    """

    number: int
    stage: Stage
    topics: tuple[str, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    instructions: tuple[str, ...] = ()
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
    """A criterion of a gate.

    `goal` counts fully towards the gate's score if it is more than the minimum. `unavailable` is
    the reason why no more can be found; "" if more may be.
    """

    name: str
    value: float
    minimum: float
    goal: float = 0
    unavailable: str = ""

    @property
    def met(self) -> bool:
        return self.value >= self.minimum

    @property
    def share(self) -> float:
        """Return the share of the goal that is reached, 0-1."""
        full = max(self.goal, self.minimum)
        return min(1.0, self.value / full) if full else 1.0


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
