"""Which changes of a run are announced, to whom, and in which transaction."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import AbstractUser
from django.db import transaction

from research.models import Delivery, EmailChoice, Run, Webhook
from research.notifications import subscriptions
from research.notifications.outbox import announce_status
from research.services.errors import ServiceError
from research.worker.fail_or_cancel import fail_run, stall_run
from research.worker.leases import LeaseLostError, claim_run, release_lease
from tests.engine.scripted import harbour
from tests.research.notifications.conftest import EVERYTHING
from tests.research.test_threads import asked

URL = "https://hooks.example.org/in"


def events() -> list[str]:
    return [row.event for row in Delivery.objects.order_by("pk")]


@pytest.mark.parametrize(
    ("status", "told"),
    [
        ("completed", ["run.finished"]),
        ("failed", ["run.failed"]),
        ("awaiting_clarification", ["run.asks"]),
        ("awaiting_approval", ["run.asks"]),
        ("stalled", ["run.asks"]),
        ("paused", []),
        ("cancelled", []),
        ("researching", []),
    ],
)
def test_only_ends_and_questions_are_announced(
    ada: AbstractUser, run: Run, status: str, told: list[str]
) -> None:
    subscriptions.add_webhook(ada, URL, EVERYTHING)
    announce_status(run.pk, status)
    assert events() == told


def test_a_webhook_gets_the_events_that_it_subscribed_to(
    ada: AbstractUser, bob: AbstractUser, run: Run
) -> None:
    subscriptions.add_webhook(ada, URL, ["run.failed"])
    subscriptions.add_webhook(bob, URL, EVERYTHING)
    ada.email = "ada@example.org"
    subscriptions.choose_emails(ada, ada.email, ["run.finished"])
    announce_status(run.pk, "completed")
    row = Delivery.objects.get()
    assert (row.webhook, row.event, row.owner) == (None, "run.finished", ada)


def test_people_without_an_account_get_nothing(ada: AbstractUser, run: Run) -> None:
    subscriptions.add_webhook(ada, URL, EVERYTHING)
    ada.is_active = False
    ada.save()
    announce_status(run.pk, "completed")
    assert events() == []


@pytest.mark.django_db(transaction=True)
def test_a_whole_run_is_announced_once(ada: AbstractUser) -> None:
    subscriptions.add_webhook(ada, URL, EVERYTHING)
    run = asked(ada, harbour())
    assert run.status == "completed" and events() == ["run.finished"]


def test_a_failed_run_is_announced_in_its_own_transaction(ada: AbstractUser, run: Run) -> None:
    subscriptions.add_webhook(ada, URL, EVERYTHING)
    lease = claim_run(run.pk, "me")
    assert lease is not None
    with pytest.raises(RuntimeError), transaction.atomic():
        fail_run(lease, "It broke.")
        raise RuntimeError("the process dies before the commit")
    run.refresh_from_db()
    assert run.status == "queued" and events() == []
    fail_run(lease, "It broke.")
    assert events() == ["run.failed"]


def test_a_worker_that_lost_its_lease_announces_nothing(ada: AbstractUser, run: Run) -> None:
    subscriptions.add_webhook(ada, URL, EVERYTHING)
    lease = claim_run(run.pk, "me")
    assert lease is not None
    release_lease(lease)
    for end in (lambda: fail_run(lease, "Late."), lambda: stall_run(lease)):
        with pytest.raises(LeaseLostError):
            end()
    assert events() == []


def test_values_are_checked(ada: AbstractUser) -> None:
    for url in (
        "ftp://a.example/",
        "http://127.0.0.1/",
        "http://10.0.0.1/",
        "http://u:p@a.example/",
    ):
        with pytest.raises(ServiceError) as refused:
            subscriptions.add_webhook(ada, url, EVERYTHING)
        assert refused.value.about == "url"
    with pytest.raises(ServiceError):
        subscriptions.add_webhook(ada, URL, ["test"])
    with pytest.raises(ServiceError):
        subscriptions.choose_emails(ada, "not an address", EVERYTHING)
    assert not Webhook.objects.exists() and not EmailChoice.objects.exists()
