"""A receiver that may be reached, and a dispatcher whose clock stands still."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.contrib.auth.models import AbstractUser

from research.models import Delivery, Run, Webhook
from research.notifications import subscriptions
from research.notifications.channels import Channels
from research.notifications.dispatcher import Dispatcher
from research.notifications.outbox import announce_status
from tests.research.notifications.receiver import Receiver

BEGIN = datetime(2030, 3, 1, 12, tzinfo=UTC)
EVERYTHING = [event.value for event in subscriptions.SUBSCRIBABLE]


class Clock:
    def __init__(self) -> None:
        self.now = BEGIN

    def __call__(self) -> datetime:
        return self.now

    def forward(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def receiver(settings: Any) -> Iterator[Receiver]:
    with Receiver() as receiver:
        settings.FETCH_ALLOW_PRIVATE_HOSTS = [receiver.place]
        yield receiver


@pytest.fixture
def hook(ada: AbstractUser, receiver: Receiver) -> Webhook:
    return subscriptions.add_webhook(ada, receiver.url, EVERYTHING)


@pytest.fixture
async def dispatcher(clock: Clock) -> AsyncIterator[Dispatcher]:
    """It sends by `step` only, with a short limit for receivers that never answer."""
    made = Dispatcher(Channels(timeout_seconds=0.3), clock=clock, chance=lambda: 0.5)
    made.writer.start()
    yield made
    await made.channels.aclose()
    await made.writer.stop()


def end_run(run: Run, status: str = "completed", **columns: object) -> Run:
    Run.objects.filter(pk=run.pk).update(status=status, **columns)
    announce_status(run.pk, status)
    run.refresh_from_db()
    return run


def only_delivery() -> Delivery:
    return Delivery.objects.select_related("webhook").get()
