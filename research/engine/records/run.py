"""A run as a whole: its head, its plan, its cost, its report, what went wrong."""

from __future__ import annotations

from dataclasses import dataclass, field

from research.engine.records.states import Complexity, Stage, Status, StopReason


@dataclass(frozen=True)
class RunState:
    """The head of a run; `asks` is what a run that waits wants to know. Key: the run.

    `understood_as` is a follow-up question worded so that it can be understood alone.
    """

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
    asks: str = ""
    understood_as: str = ""


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
class ModelUse:
    """Model calls and what they took, failed and repeated ones too; money as in `Usage`.

    `seconds` are a stage's active time, which adds up to the run's; of a task or a model those of
    its calls, of which several may be made at once.
    """

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost_usd: float | None = 0.0
    seconds: float = 0.0


@dataclass(frozen=True)
class Usage:
    """What a run has spent so far. Key: the run. Money is None where a price is unknown.

    `answers` are the model's usable answers by task, beside `fallbacks`, which code gave.
    `spent_by` is "task", "stage" or "model" → its name → what that took; calls that came to
    nothing have no model there. `prompts_cut` counts prompts that held less than there was,
    because of the model's window; `unexpected_errors` calls of any kind that failed by an error
    which no tool announced. `failures` counts failed calls by tool: "search" ("search_academic" and
    "search_video" apart), "fetch", "model".
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
    spent_by: dict[str, dict[str, ModelUse]] = field(default_factory=dict)
    prompts_cut: int = 0
    searches: int = 0
    fetches: int = 0
    repeated_fetches: int = 0
    refused_quotes: int = 0
    unexpected_errors: int = 0
    failures: dict[str, int] = field(default_factory=dict)
    seconds: float = 0.0


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
class Action:
    """What is being done at this moment, in words for people. Key: the run."""

    text: str


@dataclass(frozen=True)
class DraftedSentence:
    """`about` is the sub-question's text, '' in the short answer."""

    text: str
    about: str = ""


@dataclass(frozen=True)
class Drafted:
    """What a model has written of the report so far; nothing of it is checked. Key: the run."""

    sentences: tuple[DraftedSentence, ...]


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
class Problem:
    """Something that went wrong and was survived. Key: (where, message)."""

    where: str
    message: str
