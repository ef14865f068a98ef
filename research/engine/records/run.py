"""A run as a whole: its head, its plan, its cost, its report, what went wrong."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Literal

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
    """A sub-question with its first query; `heading` is its name in few words, if it has one."""

    text: str
    query: str
    heading: str = ""


@dataclass(frozen=True)
class Estimate:
    """What the plan will take, as a range; money is None where the price is unknown.

    `words` and `sources` are those of the report, None where code writes it.
    """

    seconds: tuple[float, float]
    llm_calls: tuple[int, int]
    tokens: tuple[int, int]
    cost_usd: tuple[float, float] | None
    words: tuple[int, int] | None = None
    sources: tuple[int, int] | None = None


@dataclass(frozen=True)
class Crowding:
    """A plan with few `words` for each sub-question, and what the next `depth` has for each."""

    words: int
    depth: Literal["standard", "thorough"]
    words_there: tuple[int, int]
    estimate: Estimate


@dataclass(frozen=True)
class Plan:
    """The understood question and the intended research, for a person to approve. Key: the run.

    `form` is a shape of the report that the question asks for, `reader` whom it is for and in which
    tone, `title` its name. `searches_private_words` permits sending words that only documents
    contain to web searches. `instructions` are those that people gave before they approved it, and
    `crowded` says that a deeper report has more room for its sub-questions.
    """

    brief: str
    complexity: Complexity
    language: str
    aspects: tuple[PlannedAspect, ...]
    questions: tuple[str, ...] = ()
    scope: str = ""
    evidence_strategy: str = ""
    output_format: str = ""
    form: str = "full"
    reader: str = ""
    estimate: Estimate | None = None
    searches_private_words: bool = False
    title: str = ""
    instructions: tuple[str, ...] = ()
    crowded: Crowding | None = None


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
    """Spending of a run so far. Key: the run. Money is None if a price is unknown.

    `answers` counts the model's usable answers by task, `fallbacks` the tasks done by code instead.
    `spent_by` maps "task", "stage" or "model" to names and their spending; calls without an answer
    have no model there. `prompts_cut` counts prompts that were shortened for the model's window,
    `unexpected_errors` calls of any kind that failed with an error that no tool declares.
    `failures` counts failed calls by tool: "search" ("search_academic" and "search_video" apart),
    "fetch", "model".
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
    """The current activity, in words for people. Key: the run."""

    text: str


@dataclass(frozen=True)
class DraftedSentence:
    """`about` is the sub-question's text, '' in the short answer."""

    text: str
    about: str = ""


@dataclass(frozen=True)
class Drafted:
    """The report as written by a model so far, unchecked. Key: the run."""

    sentences: tuple[DraftedSentence, ...]


@dataclass(frozen=True)
class Citation:
    """`[marker]` in the report: a page, and the records that are cited from it.

    `places` are the records behind each occurrence of the marker before the list of sources, in
    reading order. It is empty in reports that number quotes instead of sources. `calculations` are
    those of the statements that are computed from the records, one line each.
    """

    marker: int
    evidence_ids: tuple[str, ...]
    url: str
    calculations: tuple[str, ...] = ()
    places: tuple[tuple[str, ...], ...] = ()


VerifierUse = Literal["", "believed", "disbelieved", "unqualified", "failed", "off"]
"""How a run's verifier fared; "" where nothing was asked of it."""


@dataclass(frozen=True)
class Checks:
    """Counts of how the report's sentences were checked, and the verifier's use.

    `by_code`, `by_model` and `by_neither` are the statements other than quotations, by what vouches
    for them. `quoted_instead` became quotations because nothing vouched for them. `planted`
    unfaithful pairs were shown to the verifier, which found `planted_found` of them. `shortened`
    were left out of a report that would be too long. `open_points` counts what the report lists as
    still open; None of one that has no such list: a quick one, and one by code. `left_open` are the
    sub-questions and texts of these points. `disputes` are the points on which it says that sources
    disagree, in boxes and sentences; None of earlier reports. Of the next steps, `steps_refused`
    were left out since they say something that no source does, `steps_unchecked` since no verifier
    was believed on them.
    """

    statements: int = 0
    cited: int = 0
    connections: int = 0
    repaired: int = 0
    cut: int = 0
    by_code: int = 0
    by_model: int = 0
    by_neither: int = 0
    quoted_instead: int = 0
    planted: int = 0
    planted_found: int = 0
    verifier: VerifierUse = ""
    shortened: int = 0
    open_points: int | None = None
    steps_refused: int = 0
    steps_unchecked: int = 0
    left_open: tuple[tuple[str, str], ...] = ()
    disputes: int | None = None


@dataclass(frozen=True)
class Qualification:
    """A model's result as verifier on the shipped labelled pairs. Key: the run that asked it.

    `missed` are unfaithful pairs judged as carried, `refused` faithful ones judged as not.
    `prompt_version` is a digest of the prompt and the pairs.
    """

    prompt_version: str
    false_pairs: int
    missed: int
    faithful_pairs: int
    refused: int

    def as_dict(self) -> dict[str, str | int]:
        return asdict(self)


@dataclass(frozen=True)
class Report:
    """A finished report; '' if nothing was found. Key: the run."""

    markdown: str
    citations: tuple[Citation, ...] = ()
    checks: Checks = field(default_factory=Checks)
    short_answer: str = ""


@dataclass(frozen=True)
class Problem:
    """Something that went wrong and was survived. Key: (where, message)."""

    where: str
    message: str
