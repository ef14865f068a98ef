"""The closed sets of words in which a run speaks of itself."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal


class Status(StrEnum):
    """State of a run, as people and clients see it.

    A run is stalled after workers died of it repeatedly; the engine itself never sets that state.
    """

    QUEUED = "queued"
    INTAKE = "intake"
    AWAITING_CLARIFICATION = "awaiting_clarification"
    AWAITING_APPROVAL = "awaiting_approval"
    RESEARCHING = "researching"
    PAUSED = "paused"
    WRITING = "writing"
    STALLED = "stalled"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"


ENDED = frozenset({Status.COMPLETED, Status.FAILED, Status.CANCELLED})
WAITING = frozenset(
    {Status.AWAITING_CLARIFICATION, Status.AWAITING_APPROVAL, Status.PAUSED, Status.STALLED}
)


class Stage(StrEnum):
    """Left only through its gate; see `research/engine/assessment/gates.py`."""

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
    NOT_SEARCHED = "not_searched"


class AnswerStatus(StrEnum):
    """Displayed status of a sub-question; see `research/engine/assessment/answer_status.py`."""

    ANSWERED = "answered"
    ONE_SOURCE = "one_source"
    PASSAGES = "passages"
    CLOSE = "close"
    DISPUTED = "disputed"
    OPEN = "open"
    NOT_FOUND = "not_found"
    NOT_SEARCHED = "not_searched"


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
    PAGES_UNREADABLE = "pages_unreadable"
    NOTHING_FOUND = "nothing_found"
    QUALITY_MET = "quality_met"
    NO_GAPS = "no_gaps"
    STUCK = "stuck"
    NO_NOVELTY = "no_novelty"
    DIMINISHING_QUALITY = "diminishing_quality"
    TREE_COMPLETE = "tree_complete"
    KNOWN_BEFORE = "known_before"


Uncertainty = Literal[
    "hedged", "dated", "number_differs", "name_differs", "negation_differs", "single_source",
    "dictated",
]  # fmt: skip
"""`dictated`: the page says it only as what others are to say; it is quoted, never stated."""
SourceStatus = Literal["cited", "read", "empty", "refused", "failed", "not_read"]
UnitStatus = Literal["done", "failed", "late", "dropped"]
GateName = Literal["overview", "deep_research", "evidence", "report_ready", "draft"]
GateDecision = Literal["pass", "retry", "not_to_be_had"]
