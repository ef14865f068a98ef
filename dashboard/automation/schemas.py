"""What the API's requests about webhooks and schedules contain, and its answers."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal, get_args

from ninja import Schema
from pydantic import Field, StringConstraints

from dashboard.api.schemas import WHOLE, KnownId, Payload, Question
from research.notifications.subscriptions import SUBSCRIBABLE, URL_LENGTH

EventName = Literal["run.finished", "run.failed", "run.asks", "schedule.result"]
Url = Annotated[str, StringConstraints(min_length=1, max_length=URL_LENGTH)]
Events = Annotated[list[EventName], Field(min_length=1, max_length=len(SUBSCRIBABLE))]
Weekday = Literal["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
SourceName = Literal["web", "documents", "both", "samples"]
CadenceName = Literal["daily", "weekly", "monthly"]
TimeOfDay = Annotated[str, StringConstraints(pattern=r"^([01][0-9]|2[0-3]):[0-5][0-9]$")]
ZoneName = Annotated[str, StringConstraints(min_length=1, max_length=64)]
Day = Annotated[int, Field(ge=1, le=31), WHOLE]
Budget = Annotated[float, Field(gt=0, allow_inf_nan=False)]


class NewWebhook(Payload):
    url: Url
    events: Events = Field(default_factory=lambda: list(get_args(EventName)))


class ChangedWebhook(Payload):
    """Values that are not given stay as they are."""

    url: Url | None = None
    events: Events | None = None
    enabled: bool | None = None


class WebhookOut(Schema):
    id: str
    url: str
    events: list[str]
    enabled: bool
    disabled_reason: str
    created_at: datetime


class NewWebhookOut(WebhookOut):
    secret: str = Field(description="Key of the signatures; it cannot be read again.")


class WebhookList(Schema):
    items: list[WebhookOut]


class AttemptOut(Schema):
    at: datetime
    status: int | None = Field(description="Status of the response; null without one.")
    seconds: float
    error: str


class DeliveryOut(Schema):
    id: str = Field(description="The `webhook-id` of its requests, without `msg_`.")
    event: str
    run: str | None
    state: Literal["pending", "delivered", "failed"]
    attempts: list[AttemptOut]
    next_attempt_at: datetime | None
    created_at: datetime


class DeliveryPage(Schema):
    items: list[DeliveryOut]
    next_cursor: str | None


class NewSchedule(Payload):
    question: Question
    cadence: CadenceName
    at: TimeOfDay = Field(description="Time of day in `time_zone`, such as 08:00.")
    time_zone: ZoneName = Field("UTC", description="Name of the IANA database.")
    weekday: Weekday = Field("monday", description="For weekly schedules.")
    day: Day = Field(1, description="For monthly schedules; in shorter months the last day.")
    only_new: bool = Field(False, description="E-mails tell only what is new since last time.")
    depth: Literal["quick", "standard", "thorough"] | None = None
    max_cost_usd: Budget | None = Field(None, description="Budget of each run.")
    sources: SourceName | None = None
    collections: list[KnownId] = Field(default_factory=list, max_length=100)
    settings: dict[str, Any] = Field(
        default_factory=dict, description="Knobs by name, as listed under `/settings`."
    )


class ChangedSchedule(Payload):
    """Omitted values stay unchanged; the next due date is recomputed."""

    question: Question | None = None
    cadence: CadenceName | None = None
    at: TimeOfDay | None = None
    time_zone: ZoneName | None = None
    weekday: Weekday | None = None
    day: Day | None = None
    only_new: bool | None = None
    paused: bool | None = None
    sources: SourceName | None = None
    collections: list[str] | None = Field(
        None, max_length=100, description="Given without `sources`, they alone are searched."
    )


class ScheduleOut(Schema):
    id: str
    question: str
    cadence: str
    at: str
    time_zone: str
    weekday: str
    day: int
    only_new: bool
    paused: bool
    max_cost_usd: float | None
    searches: list[str] = Field(description="Names of searches; none: as set up when it is due.")
    collections: list[str] = Field(description="Ids of the collections that are searched.")
    next_at: datetime | None = Field(description="When it is due next; null while paused.")
    created_at: datetime


class SchedulePage(Schema):
    items: list[ScheduleOut]
    next_cursor: str | None


class FindingOut(Schema):
    evidence: str
    claim: str
    quote: str
    url: str
    title: str
    is_new_page: bool


class ResultOut(Schema):
    due_at: datetime
    run: str | None
    status: str | None
    skipped: str = Field(description="Why there is no run, or ''.")
    missed: int = Field(description="Earlier due dates, without a worker, that it covers.")
    previous_run: str | None
    new: list[FindingOut] | None = Field(
        description="What the report before didn't cite; null without one to compare."
    )


class ResultPage(Schema):
    items: list[ResultOut]
    next_cursor: str | None
