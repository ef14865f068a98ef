"""Webhooks and schedules through the API."""

from __future__ import annotations

from datetime import time
from functools import partial
from typing import Any, get_args

from django.http import Http404, HttpRequest
from ninja import Router, Status

from dashboard.api.asking import build_config, find_sources
from dashboard.api.idempotency import IdempotencyKey, make_once
from dashboard.api.paging import Paging, page_of
from dashboard.automation.schemas import (
    ChangedSchedule,
    ChangedWebhook,
    DeliveryOut,
    DeliveryPage,
    FindingOut,
    NewSchedule,
    NewWebhook,
    NewWebhookOut,
    ResultOut,
    ResultPage,
    ScheduleOut,
    SchedulePage,
    WebhookList,
    WebhookOut,
    Weekday,
)
from dashboard.automation.shown import find_schedule, find_webhook
from research.models import Delivery, Occurrence, Schedule, Webhook
from research.notifications import subscriptions
from research.schedules import manage
from research.schedules.manage import Plan
from research.schedules.news import news_of

webhooks_router = Router(tags=["webhooks"])
schedules_router = Router(tags=["schedules"])
WEEKDAYS = get_args(Weekday)


@webhooks_router.get("", response=WebhookList, summary="List webhooks")
def list_webhooks(request: HttpRequest) -> dict[str, Any]:
    return {"items": [webhook_out(row) for row in subscriptions.list_webhooks(request.auth.user)]}


@webhooks_router.post("", response={201: NewWebhookOut}, summary="Add a webhook")
def create_webhook(
    request: HttpRequest, payload: NewWebhook, idempotency_key: IdempotencyKey = None
) -> Status[NewWebhookOut]:
    """Return the new webhook with its secret, which is returned again only if the request is
    repeated with its `Idempotency-Key`.
    """
    actor = request.auth.user
    add = partial(subscriptions.add_webhook, actor, payload.url, payload.events)
    made = make_once(request, idempotency_key, payload, actor.webhooks.all(), add)
    return Status(201, _with_secret(made))


@webhooks_router.get("/{webhook_id}", response=WebhookOut, summary="Read a webhook")
def read_webhook(request: HttpRequest, webhook_id: str) -> WebhookOut:
    return webhook_out(find_webhook(request.auth.user, webhook_id))


@webhooks_router.patch("/{webhook_id}", response=WebhookOut, summary="Change a webhook")
def change_webhook(request: HttpRequest, webhook_id: str, payload: ChangedWebhook) -> WebhookOut:
    """Enabled again, a webhook receives what was held back."""
    changes = payload.model_dump(exclude_none=True)
    return webhook_out(
        subscriptions.change_webhook(find_webhook(request.auth.user, webhook_id), **changes)
    )


@webhooks_router.delete("/{webhook_id}", response={204: None}, summary="Delete a webhook")
def delete_webhook(request: HttpRequest, webhook_id: str) -> Status[None]:
    subscriptions.delete_webhook(find_webhook(request.auth.user, webhook_id))
    return Status(204, None)


@webhooks_router.post("/{webhook_id}/secret", response=NewWebhookOut, summary="Make a new secret")
def rotate_secret(
    request: HttpRequest, webhook_id: str, idempotency_key: IdempotencyKey = None
) -> NewWebhookOut:
    """For a day requests are signed with the secret before it, too."""
    rotate = partial(subscriptions.rotate_secret, find_webhook(request.auth.user, webhook_id))
    rows = request.auth.user.webhooks.all()
    return _with_secret(make_once(request, idempotency_key, None, rows, rotate))


@webhooks_router.post("/{webhook_id}/test", response={202: DeliveryOut}, summary="Send a test")
def send_test(request: HttpRequest, webhook_id: str) -> Status[DeliveryOut]:
    """The delivery is tried once; read its result in the list of deliveries."""
    hook = find_webhook(request.auth.user, webhook_id)
    return Status(202, delivery_out(subscriptions.send_test(request.auth.user, hook)))


@webhooks_router.get("/{webhook_id}/deliveries", response=DeliveryPage, summary="List deliveries")
def list_deliveries(request: HttpRequest, webhook_id: str, paging: Paging) -> dict[str, Any]:
    """Newest first, each with its attempts."""
    hook = find_webhook(request.auth.user, webhook_id)
    shown, following = page_of(subscriptions.deliveries_of(request.auth.user, hook), paging)
    return {"items": [delivery_out(row) for row in shown], "next_cursor": following}


@webhooks_router.post(
    "/{webhook_id}/deliveries/{delivery_id}/redeliver",
    response={202: DeliveryOut},
    summary="Send a delivery again",
)
def redeliver(request: HttpRequest, webhook_id: str, delivery_id: str) -> Status[DeliveryOut]:
    """Its id and body stay the same."""
    hook = find_webhook(request.auth.user, webhook_id)
    rows = subscriptions.deliveries_of(request.auth.user, hook)
    row = rows.filter(public_id=delivery_id).first()
    if row is None:
        raise Http404("no such delivery")
    return Status(202, delivery_out(subscriptions.redeliver(row)))


def webhook_out(row: Webhook) -> WebhookOut:
    return WebhookOut(
        id=row.public_id,
        url=row.url,
        events=row.events,
        enabled=not row.disabled_reason,
        disabled_reason=row.disabled_reason,
        created_at=row.created_at,
    )


def _with_secret(row: Webhook) -> NewWebhookOut:
    return NewWebhookOut(**webhook_out(row).model_dump(), secret=row.secret)


def delivery_out(row: Delivery) -> DeliveryOut:
    return DeliveryOut(
        id=row.public_id,
        event=row.event,
        run=row.run.public_id if row.run else None,
        state=row.state,
        attempts=row.attempts,
        next_attempt_at=row.due_at if row.state == Delivery.State.PENDING else None,
        created_at=row.created_at,
    )


@schedules_router.get("", response=SchedulePage, summary="List schedules, newest first")
def list_schedules(request: HttpRequest, paging: Paging) -> dict[str, Any]:
    shown, following = page_of(request.auth.user.schedules.all(), paging)
    return {"items": [schedule_out(row) for row in shown], "next_cursor": following}


@schedules_router.post("", response={201: ScheduleOut}, summary="Add a schedule")
def create_schedule(
    request: HttpRequest, payload: NewSchedule, idempotency_key: IdempotencyKey = None
) -> Status[ScheduleOut]:
    """Its runs have at most the budget of the token that creates it."""
    given = {"research_depth": payload.depth, "max_cost_usd": payload.max_cost_usd}
    knobs = payload.settings | {name: value for name, value in given.items() if value is not None}
    config = request.auth.limit_budget(build_config(knobs))
    sources = find_sources(request.auth, payload.sources or "", payload.collections)
    plan = Plan(
        question=payload.question,
        cadence=payload.cadence,
        at=time.fromisoformat(payload.at),
        time_zone=payload.time_zone,
        weekday=WEEKDAYS.index(payload.weekday),
        day=payload.day,
        only_new=payload.only_new,
        config=config.model_dump(mode="json"),
        sources=sources or {},
    )
    actor = request.auth.user
    add = partial(manage.add_schedule, actor, plan)
    row = make_once(request, idempotency_key, payload, actor.schedules.all(), add)
    return Status(201, schedule_out(row))


@schedules_router.get("/{schedule_id}", response=ScheduleOut, summary="Read a schedule")
def read_schedule(request: HttpRequest, schedule_id: str) -> ScheduleOut:
    return schedule_out(find_schedule(request.auth.user, schedule_id))


@schedules_router.patch(
    "/{schedule_id}", response=ScheduleOut, summary="Change, pause or resume a schedule"
)
def change_schedule(
    request: HttpRequest, schedule_id: str, payload: ChangedSchedule
) -> ScheduleOut:
    changes = payload.model_dump(exclude_none=True, exclude={"sources", "collections"})
    if payload.sources is not None or payload.collections is not None:
        found = find_sources(request.auth, payload.sources or "", payload.collections or [])
        changes["sources"] = found or {}
    if payload.at is not None:
        changes["at"] = time.fromisoformat(payload.at)
    if payload.weekday is not None:
        changes["weekday"] = WEEKDAYS.index(payload.weekday)
    return schedule_out(
        manage.change_schedule(find_schedule(request.auth.user, schedule_id), changes)
    )


@schedules_router.delete("/{schedule_id}", response={204: None}, summary="Delete a schedule")
def delete_schedule(request: HttpRequest, schedule_id: str) -> Status[None]:
    """Its runs stay."""
    manage.delete_schedule(find_schedule(request.auth.user, schedule_id))
    return Status(204, None)


@schedules_router.get(
    "/{schedule_id}/results", response=ResultPage, summary="List the results of a schedule"
)
def list_results(request: HttpRequest, schedule_id: str, paging: Paging) -> dict[str, Any]:
    """Its due dates, newest first, each with what its report cites that the one before didn't."""
    rows = find_schedule(request.auth.user, schedule_id).occurrences.select_related("run")
    shown, following = page_of(rows, paging)
    return {"items": [result_out(row) for row in shown], "next_cursor": following}


def schedule_out(row: Schedule) -> ScheduleOut:
    return ScheduleOut(
        id=row.public_id,
        question=row.question,
        cadence=row.cadence,
        at=f"{row.at:%H:%M}",
        time_zone=row.time_zone,
        weekday=WEEKDAYS[row.weekday],
        day=row.day,
        only_new=row.only_new,
        paused=row.paused,
        max_cost_usd=row.config.get("max_cost_usd"),
        searches=row.sources.get("search", []),
        collections=[each["id"] for each in row.sources.get("collections", ())],
        next_at=None if row.paused else row.next_at,
        created_at=row.created_at,
    )


def result_out(row: Occurrence) -> ResultOut:
    run = row.run
    news = news_of(row) if run and run.status == "completed" else None
    return ResultOut(
        due_at=row.due_at,
        run=run.public_id if run else None,
        status=run.status if run else None,
        skipped=row.skipped,
        missed=row.missed,
        previous_run=news.previous.public_id if news else None,
        new=[FindingOut(**vars(each)) for each in news.findings] if news else None,
    )
