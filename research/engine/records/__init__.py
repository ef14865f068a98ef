"""State of a run as immutable records.

The engine emits each record again whenever it changes; a receiver upserts it by its natural key
(named in each docstring). Records don't depend on a database or a page.
"""

from __future__ import annotations

from research.engine.records.findings import (
    AnswerSupport,
    Aspect,
    Evidence,
    Fields,
    Gap,
    OpenPoint,
    QuoteSource,
    RefusedQuote,
    Source,
)
from research.engine.records.rounds import (
    Criterion,
    Dimensions,
    GateResult,
    Round,
    Skipped,
    Unit,
)
from research.engine.records.run import (
    Action,
    Checks,
    Citation,
    Crowding,
    Drafted,
    DraftedSentence,
    Estimate,
    Evaluation,
    ModelUse,
    Plan,
    PlannedAspect,
    Problem,
    Qualification,
    Report,
    RunState,
    Usage,
    VerifierUse,
)
from research.engine.records.states import (
    ENDED,
    WAITING,
    AnswerStatus,
    AspectState,
    Complexity,
    GateDecision,
    GateName,
    SourceStatus,
    Stage,
    Status,
    StopReason,
    Uncertainty,
    UnitStatus,
)

__all__ = [
    "ENDED",
    "WAITING",
    "Action",
    "AnswerStatus",
    "AnswerSupport",
    "Aspect",
    "AspectState",
    "Checks",
    "Citation",
    "Complexity",
    "Criterion",
    "Crowding",
    "Dimensions",
    "Drafted",
    "DraftedSentence",
    "Estimate",
    "Evaluation",
    "Evidence",
    "Fields",
    "Gap",
    "GateDecision",
    "GateName",
    "GateResult",
    "ModelUse",
    "OpenPoint",
    "Plan",
    "PlannedAspect",
    "Problem",
    "Qualification",
    "QuoteSource",
    "Record",
    "RefusedQuote",
    "Report",
    "Round",
    "RunState",
    "Skipped",
    "Source",
    "SourceStatus",
    "Stage",
    "Status",
    "StopReason",
    "Uncertainty",
    "Unit",
    "UnitStatus",
    "Usage",
    "VerifierUse",
    "key_of",
]

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
    | Qualification
    | Action
    | Drafted
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
    """Return the record's type and natural key; records without one are a run's only."""
    return (type(record), *(getattr(record, name) for name in _KEYS.get(type(record), ())))
