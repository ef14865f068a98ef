"""Webhooks through the API."""

from __future__ import annotations

from functools import partial
from typing import Any

from django.http import Http404, HttpRequest
from ninja import Router, Status

from dashboard.api.idempotency import IdempotencyKey, make_once
from dashboard.api.paging import Paging, page_of
from dashboard.automation.schemas import (
    ChangedWebhook,
    DeliveryOut,
    DeliveryPage,
    NewWebhook,
    NewWebhookOut,
    WebhookList,
    WebhookOut,
)
from research.models import Delivery, Webhook
from research.notifications import webhooks

webhooks_router = Router(tags=["webhooks"])


@webhooks_router.get("", response=WebhookList, summary="List webhooks")
def list_webhooks(request: HttpRequest) -> dict[str, Any]:
    return {"items": [webhook_out(row) for row in webhooks.list_webhooks(request.auth.user)]}


@webhooks_router.post("", response={201: NewWebhookOut}, summary="Add a webhook")
def create_webhook(
    request: HttpRequest, payload: NewWebhook, idempotency_key: IdempotencyKey = None
) -> Status:
    """The answer has the secret, which is told again only if the request is repeated with its
    `Idempotency-Key`.
    """
    actor = request.auth.user
    add = partial(webhooks.add_webhook, actor, payload.url, payload.events)
    made = make_once(request, idempotency_key, payload, actor.webhooks.all(), add)
    return Status(201, _with_secret(made))


@webhooks_router.get("/{webhook_id}", response=WebhookOut, summary="Read a webhook")
def read_webhook(request: HttpRequest, webhook_id: str) -> WebhookOut:
    return webhook_out(find_webhook(request, webhook_id))


@webhooks_router.patch("/{webhook_id}", response=WebhookOut, summary="Change a webhook")
def change_webhook(request: HttpRequest, webhook_id: str, payload: ChangedWebhook) -> WebhookOut:
    """Enabled again, a webhook receives what was held back."""
    changes = payload.model_dump(exclude_none=True)
    return webhook_out(webhooks.change_webhook(find_webhook(request, webhook_id), **changes))


@webhooks_router.delete("/{webhook_id}", response={204: None}, summary="Delete a webhook")
def delete_webhook(request: HttpRequest, webhook_id: str) -> Status:
    webhooks.delete_webhook(find_webhook(request, webhook_id))
    return Status(204, None)


@webhooks_router.post("/{webhook_id}/secret", response=NewWebhookOut, summary="Make a new secret")
def rotate_secret(
    request: HttpRequest, webhook_id: str, idempotency_key: IdempotencyKey = None
) -> NewWebhookOut:
    """For a day requests are signed with the secret before it, too."""
    rotate = partial(webhooks.rotate_secret, find_webhook(request, webhook_id))
    rows = request.auth.user.webhooks.all()
    return _with_secret(make_once(request, idempotency_key, None, rows, rotate))


@webhooks_router.post("/{webhook_id}/test", response={202: DeliveryOut}, summary="Send a test")
def send_test(request: HttpRequest, webhook_id: str) -> Status:
    """The delivery is tried once; read its result in the list of deliveries."""
    hook = find_webhook(request, webhook_id)
    return Status(202, delivery_out(webhooks.send_test(request.auth.user, hook)))


@webhooks_router.get("/{webhook_id}/deliveries", response=DeliveryPage, summary="List deliveries")
def list_deliveries(request: HttpRequest, webhook_id: str, paging: Paging) -> dict[str, Any]:
    """Newest first, each with its attempts."""
    hook = find_webhook(request, webhook_id)
    shown, following = page_of(webhooks.deliveries_of(request.auth.user, hook), paging)
    return {"items": [delivery_out(row) for row in shown], "next_cursor": following}


@webhooks_router.post(
    "/{webhook_id}/deliveries/{delivery_id}/redeliver",
    response={202: DeliveryOut},
    summary="Send a delivery again",
)
def redeliver(request: HttpRequest, webhook_id: str, delivery_id: str) -> Status:
    """Its id and body stay the same."""
    hook = find_webhook(request, webhook_id)
    rows = webhooks.deliveries_of(request.auth.user, hook)
    row = rows.filter(public_id=delivery_id).first()
    if row is None:
        raise Http404("no such delivery")
    return Status(202, delivery_out(webhooks.redeliver(row)))


def find_webhook(request: HttpRequest, public_id: str) -> Webhook:
    hook = webhooks.find_webhook(request.auth.user, public_id)
    if hook is None:
        raise Http404("no such webhook")
    return hook


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
