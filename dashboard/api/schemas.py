"""What requests of the API contain, and what it answers beside the progress payload."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal, get_args

from ninja import Schema
from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    field_validator,
)

from research.engine.threads.user_commands import INSTRUCTION_LENGTH
from research.readmodel.progress_parts import Progress
from research.services.api_tokens import Scope
from research.services.documents import NAME_LENGTH
from research.services.reviews import NOTE_LENGTH
from research.services.runs import MOST_ROUNDS, QUESTION_LENGTH, TEXT_LENGTH, TOPICS
from research.services.threads import READER_LENGTH, TURN_LENGTH

NO_NUL = r"^[^\x00]*$"
NOT_BLANK = r"^[^\x00]*[^\s\x00][^\x00]*$"
Question = Annotated[
    str, StringConstraints(min_length=1, max_length=QUESTION_LENGTH, pattern=NOT_BLANK)
]
Turn = Annotated[str, StringConstraints(min_length=1, max_length=TURN_LENGTH, pattern=NOT_BLANK)]
Line = Annotated[str, StringConstraints(min_length=1, max_length=TEXT_LENGTH, pattern=NOT_BLANK)]
Depth = Literal["quick", "standard", "thorough"]
Term = Annotated[str, StringConstraints(max_length=TEXT_LENGTH, pattern=NO_NUL)]
KnownId = Annotated[str, StringConstraints(pattern=NO_NUL)]
Reader = Annotated[
    str, StringConstraints(min_length=1, max_length=READER_LENGTH, pattern=NOT_BLANK)
]
CollectionName = Annotated[
    str, StringConstraints(min_length=1, max_length=NAME_LENGTH, pattern=NOT_BLANK)
]


def _whole(value: Any) -> Any:
    """Return 3.0 as 3: JSON has one type of numbers, and its schema calls both an integer."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


WHOLE = BeforeValidator(_whole)
"""To be named after the limits of a number, which are left out of its schema otherwise."""


class Storable(BaseModel):
    """A request body whose texts every database can keep."""

    @field_validator("*", mode="after")
    @classmethod
    def _refuse_nul(cls, value: Any) -> Any:
        if _has_nul(value):
            raise ValueError("NUL characters can't be stored.")
        return value


def _has_nul(value: Any) -> bool:
    match value:
        case str():
            return "\x00" in value
        case dict():
            return any(_has_nul(key) or _has_nul(each) for key, each in value.items())
        case list():
            return any(map(_has_nul, value))
    return False


class Payload(Storable):
    """A request body: unknown fields and values of other types are errors."""

    model_config = ConfigDict(extra="forbid", strict=True)


class NewRun(Payload):
    question: Question
    depth: Depth | None = Field(None, description="The installation's default if not given.")
    sources: Literal["web", "documents", "both", "samples"] | None = Field(
        None, description="What to search, as listed under `/settings`."
    )
    collections: list[KnownId] = Field(
        default_factory=list, max_length=100, description="Ids of collections to search."
    )
    settings: dict[str, Any] = Field(
        default_factory=dict, description="Knobs by name, as listed under `/settings`."
    )
    ask_first: bool = Field(False, description="Clarify, and show the plan, before research.")


# --- commands ----------------------------------------------------------------------------


class Plain(Payload):
    """A command without values."""

    kind: Literal[
        "skip", "same_topic", "new_topic", "stop", "plan_by_code", "finish_by_code", "cancel",
        "pause", "resume", "retry"
    ] = Field(
        description="`plan_by_code` and `finish_by_code` don’t wait for the model: the question "
        "is the plan; what isn’t written or checked appears as quotations."
    )  # fmt: skip


class Answers(Payload):
    """Answers to the clarifying questions, in their order; an empty one skips its question."""

    kind: Literal["answer"]
    answers: list[Term] = Field(max_length=20)


class Terms(Payload):
    """Terms of the plan; one that is not given stays as it is, an empty one doesn't matter."""

    scope: Term | None = None
    evidence_strategy: Term | None = None
    output_format: Term | None = None


class Approval(Payload):
    """Approval of the plan, with other sub-questions or terms if they are given."""

    kind: Literal["approve"]
    sub_questions: list[Line] | None = Field(None, min_length=1, max_length=TOPICS)
    terms: Terms | None = None
    searches_private_words: bool | None = Field(
        None, description="Whether words of documents may be sent to web searches."
    )
    depth: Depth | None = Field(None, description="Changes how thorough the report is.")


class Revision(Payload):
    """A comment that a new plan takes into account."""

    kind: Literal["revise"]
    comment: Line
    depth: Depth | None = Field(None, description="Changes how thorough the report is.")


class Topic(Payload):
    kind: Literal["add_topic", "drop_topic"]
    topic: Line


class Instruction(Payload):
    """What to look for, use or tell, in words; from the start if given at the plan, otherwise
    from the end of the round on. `drop_instruction` takes one back.
    """

    kind: Literal["instruct", "drop_instruction"]
    text: Annotated[
        str, StringConstraints(min_length=1, max_length=INSTRUCTION_LENGTH, pattern=NOT_BLANK)
    ]


class DigDeeper(Payload):
    """More rounds regardless of the quality rules; budgets still apply."""

    kind: Literal["dig_deeper"]
    rounds: Annotated[int, Field(ge=1, le=MOST_ROUNDS), WHOLE] = 2


NewCommand = Annotated[
    Plain | Answers | Approval | Revision | Topic | Instruction | DigDeeper,
    Field(discriminator="kind"),
]


class CommandOut(Schema):
    kind: str
    at: datetime
    taken: bool = Field(description="Whether the engine has processed it.")


# --- runs --------------------------------------------------------------------------------


class RunSummary(Schema):
    id: str
    thread: str
    question: str
    kind: str
    reason: str
    status: str
    termination_reason: str | None
    quality_score: float | None
    created_at: datetime
    finished_at: datetime | None


class RunPage(Schema):
    items: list[RunSummary]
    next_cursor: str | None = Field(description="Cursor of the next page; null on the last one.")


class RunOut(RunSummary):
    parent: str | None
    questions: list[str] = Field(description="Clarifying questions that wait for an answer.")
    plan: dict[str, Any] | None
    progress: Progress


class RecordPage(Schema):
    items: list[dict[str, Any]]
    next_cursor: str | None


class NewVerdict(Payload):
    verdict: Literal["accept", "reject", "flag"]
    note: Annotated[str, StringConstraints(max_length=NOTE_LENGTH, pattern=NO_NUL)] = ""


class VerdictOut(Schema):
    evidence: str
    verdict: str
    note: str
    at: datetime


class SharedOut(Schema):
    """The address under which anyone can read a report."""

    url: str
    created_at: datetime


class ReportOut(Schema):
    run: str
    number: int
    markdown: str
    short_answer: str
    citations: list[dict[str, Any]]
    checks: dict[str, Any]
    stale: bool = Field(description="Whether evidence or its verdicts changed since.")
    created_at: datetime


# --- threads -----------------------------------------------------------------------------


class Revise(Payload):
    """A version without the evidence that was rejected."""

    kind: Literal["revise"]


class Reshape(Payload):
    """A rewrite in another form, or in full; `reader` names the audience of form "reader"."""

    kind: Literal["reshape"]
    form: Literal["full", "shorter", "longer", "table", "reader", "memo", "faq", "review"]
    reader: Reader | None = None


class Deeper(Payload):
    """A version for which these sub-questions, by id, are researched further."""

    kind: Literal["deeper"]
    sub_questions: list[KnownId] = Field(min_length=1, max_length=100)
    max_cost_usd: float | None = Field(None, gt=0, allow_inf_nan=False)


class Further(Payload):
    """Research of a follow-up that was answered at once from earlier findings."""

    kind: Literal["further"]


NewVersion = Annotated[Revise | Reshape | Deeper | Further, Field(discriminator="kind")]
KINDS = frozenset(
    kind
    for union in (NewCommand, NewVersion)
    for member in get_args(get_args(union)[0])
    for kind in get_args(member.model_fields["kind"].annotation)
)
"""Kinds of bodies, which Pydantic puts into the path to a value."""


class FollowUp(Payload):
    question: Turn


class ThreadSummary(Schema):
    id: str
    title: str
    created_at: datetime


class ThreadPage(Schema):
    items: list[ThreadSummary]
    next_cursor: str | None


class ThreadQuestion(RunSummary):
    short_answer: str | None


class ThreadOut(ThreadSummary):
    questions: list[ThreadQuestion]


# --- collections -------------------------------------------------------------------------


class NewCollection(Payload):
    name: CollectionName
    shared: bool = False


class CollectionOut(Schema):
    id: str
    name: str
    shared: bool
    state: str
    documents: int
    unreadable: int
    folder: str = Field(description="Folder on the server; empty for uploads, and for others.")
    problem: str


class CollectionList(Schema):
    items: list[CollectionOut]


class DocumentOut(Schema):
    name: str
    size: int
    added_at: datetime


class DocumentPage(Schema):
    items: list[DocumentOut]
    next_cursor: str | None


class RefusedOut(Schema):
    name: str
    reason: str


class UploadOut(Schema):
    added: list[str]
    replaced: list[str]
    refused: list[RefusedOut]


class PassageOut(Schema):
    url: str
    title: str
    section: str
    text: str


class PassageList(Schema):
    items: list[PassageOut]


# --- account -----------------------------------------------------------------------------


class KnobOut(Schema):
    name: str
    value: Any = Field(description="The installation's default.")
    unit: str
    help: str


class SettingsOut(Schema):
    sources: list[str]
    settings: list[KnobOut]


class TokenOut(Schema):
    name: str
    scopes: list[Scope]
    max_cost_usd: float | None
    expires_at: datetime | None


class CallerOut(Schema):
    user: str
    token: TokenOut | None = Field(description="null for a session of the pages.")


class UsageOut(Schema):
    days: int
    runs: int
    seconds: float
    llm_calls: int
    tokens: int
    searches: int
    fetches: int
    cost_usd: float | None = Field(description="null if the price of a run is unknown.")
