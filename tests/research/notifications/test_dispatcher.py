"""Deliveries to a real receiver on loopback that fails, hangs and recovers."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from datetime import timedelta

import pytest
from django.contrib.auth.models import AbstractUser

from research.models import Delivery, Run, Webhook
from research.notifications import dispatcher as dispatching
from research.notifications import subscriptions
from research.notifications.channels import Outcome
from research.notifications.dispatcher import MOST_TRIES, Dispatcher, wait_seconds
from tests.research.collections import apart
from tests.research.notifications.conftest import BEGIN, EVERYTHING, Clock, end_run, only_delivery
from tests.research.notifications.receiver import Received, Receiver

pytestmark = pytest.mark.django_db(transaction=True)


async def deliver(dispatcher: Dispatcher) -> int:
    begun = await dispatcher.step()
    await dispatcher.settle()
    return begun


def check_signature(received: Received, secret: str) -> None:
    """Verify as a receiver would, by the description of Standard Webhooks."""
    headers = {name.lower(): value for name, value in received.headers.items()}
    content = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.{received.body}"
    key = base64.b64decode(secret.removeprefix("whsec_"))
    expected = base64.b64encode(hmac.new(key, content.encode(), hashlib.sha256).digest()).decode()
    assert f"v1,{expected}" in headers["webhook-signature"].split(" ")


@pytest.mark.requirement("F27")
async def test_a_finished_run_is_delivered_and_signed(
    dispatcher: Dispatcher, hook: Webhook, run: Run, receiver: Receiver, clock: Clock
) -> None:
    await apart(end_run, run)
    assert await deliver(dispatcher) == 1
    [received] = receiver.received
    check_signature(received, hook.secret)
    body = json.loads(received.body)
    assert body["type"] == "run.finished"
    assert body["data"]["run"]["id"] == run.public_id
    assert body["data"]["run"]["url"].endswith(f"/runs/{run.public_id}/")
    row = await apart(only_delivery)
    assert (row.state, row.attempts[0]["status"]) == ("delivered", 200)
    assert row.attempts[0]["seconds"] >= 0 and row.ended_at == BEGIN
    assert row.webhook.succeeded_at == BEGIN
    assert await deliver(dispatcher) == 0


@pytest.mark.requirement("F27")
async def test_a_receiver_that_fails_and_hangs_gets_the_same_message_until_it_recovers(
    dispatcher: Dispatcher, hook: Webhook, run: Run, receiver: Receiver, clock: Clock
) -> None:
    await apart(end_run, run)
    receiver.status = 500
    await deliver(dispatcher)
    assert await deliver(dispatcher) == 0, "it waits before it tries again"
    clock.forward(9.9)
    assert await deliver(dispatcher) == 0
    receiver.hangs = True
    clock.forward(0.2)
    assert await deliver(dispatcher) == 1
    clock.forward(39)
    assert await deliver(dispatcher) == 0, "the second wait is four times the first"
    receiver.recover()
    clock.forward(2)
    assert await deliver(dispatcher) == 1
    row = await apart(only_delivery)
    told = [(each["status"], each["error"]) for each in row.attempts]
    late = "the site took too long to answer"
    assert told == [(500, "status 500"), (None, late), (200, "")]
    assert row.state == "delivered"
    assert {each.headers["webhook-id"] for each in receiver.received} == {f"msg_{row.public_id}"}
    assert len({each.body for each in receiver.received}) == 1
    assert len({each.headers["webhook-timestamp"] for each in receiver.received}) == 3
    for each in receiver.received:
        check_signature(each, hook.secret)


@pytest.mark.parametrize(
    ("asked", "waits"),
    [
        ("120", 120),
        ("Fri, 01 Mar 2030 12:02:00 GMT", 120),
        ("3", 10),
        ("soon", 10),
        ("99999999", dispatching.LONGEST_WAIT_SECONDS),
    ],
)
async def test_a_receiver_says_when_it_wants_the_next_attempt(
    dispatcher: Dispatcher, hook: Webhook, run: Run, receiver: Receiver, asked: str, waits: float
) -> None:
    await apart(end_run, run)
    receiver.status, receiver.retry_after = 503, asked
    await deliver(dispatcher)
    assert (await apart(only_delivery)).due_at == BEGIN + timedelta(seconds=waits)


@pytest.mark.requirement("F27")
async def test_a_webhook_that_always_fails_is_disabled_with_a_reason(
    dispatcher: Dispatcher, hook: Webhook, run: Run, receiver: Receiver, clock: Clock
) -> None:
    await apart(end_run, run)
    receiver.status = 503
    for _ in range(MOST_TRIES):
        assert await deliver(dispatcher) == 1
        clock.forward(dispatching.LONGEST_WAIT_SECONDS * 1.3)
    row = await apart(only_delivery)
    assert (row.state, row.tries) == ("failed", MOST_TRIES)
    assert row.webhook.disabled_reason.startswith("9 attempts failed since 1 March 2030, 12:00 UTC")
    assert "status 503" in row.webhook.disabled_reason
    await apart(end_run, run, "failed")
    assert await apart(Delivery.objects.count) == 1, "a disabled webhook collects nothing more"
    receiver.recover()
    await apart(lambda: subscriptions.change_webhook(row.webhook, enabled=True))
    await apart(subscriptions.redeliver, row)
    clock.forward(10 * 365 * 86_400)
    assert await deliver(dispatcher) == 1
    again = await apart(only_delivery)
    assert again.state == "delivered" and again.public_id == row.public_id
    assert len({each.headers["webhook-id"] for each in receiver.received}) == 1


async def test_deliveries_to_a_disabled_webhook_wait_until_it_is_enabled(
    dispatcher: Dispatcher, hook: Webhook, run: Run, receiver: Receiver
) -> None:
    await apart(end_run, run)
    await apart(lambda: subscriptions.change_webhook(hook, enabled=False))
    assert await deliver(dispatcher) == 0
    await apart(lambda: subscriptions.change_webhook(hook, enabled=True))
    assert await deliver(dispatcher) == 1
    assert len(receiver.received) == 1


async def test_a_receiver_that_is_gone_is_disabled_at_once(
    dispatcher: Dispatcher, hook: Webhook, run: Run, receiver: Receiver
) -> None:
    await apart(end_run, run)
    receiver.status = 410
    await deliver(dispatcher)
    row = await apart(only_delivery)
    assert row.state == "failed" and "410" in row.webhook.disabled_reason


async def test_one_success_in_between_keeps_a_webhook_enabled(
    dispatcher: Dispatcher, hook: Webhook, run: Run, receiver: Receiver, clock: Clock
) -> None:
    await apart(end_run, run)
    row = await apart(only_delivery)
    failures = [{"at": BEGIN.isoformat(), "status": 500, "seconds": 0, "error": "status 500"}]
    failures *= MOST_TRIES - 1
    kept = {"attempts": failures, "tries": MOST_TRIES - 1}
    await apart(lambda: Delivery.objects.filter(pk=row.pk).update(**kept))
    later = BEGIN + timedelta(hours=1)
    await apart(lambda: Webhook.objects.filter(pk=hook.pk).update(succeeded_at=later))
    clock.forward(86_400)
    receiver.status = 500
    await deliver(dispatcher)
    row = await apart(only_delivery)
    assert row.state == "failed" and row.webhook.disabled_reason == ""


async def test_a_killed_process_s_delivery_is_sent_again_with_the_same_id(
    dispatcher: Dispatcher, hook: Webhook, run: Run, receiver: Receiver, clock: Clock
) -> None:
    """The first process has sent it, and dies before it stores the result."""
    await apart(end_run, run)
    [claimed] = await apart(dispatching.claim_due, "dead", clock, 8, frozenset())
    await apart(dispatching.store_body, claimed.delivery)
    await dispatcher.channels.send(claimed.delivery, None, clock.now)
    assert await deliver(dispatcher) == 0, "its lease still counts"
    clock.forward(61)
    assert await deliver(dispatcher) == 1
    first, second = receiver.received
    assert first.headers["webhook-id"] == second.headers["webhook-id"]
    assert first.body == second.body
    late = (claimed.delivery, Outcome(error="too late"), clock, 1.0)
    await apart(dispatching.record_attempt, *late)
    row = await apart(only_delivery)
    assert row.state == "delivered", "the dead process's result is refused"


async def test_two_processes_claim_a_delivery_once(hook: Webhook, run: Run, clock: Clock) -> None:
    await apart(end_run, run)
    row = await apart(only_delivery)
    assert await apart(dispatching.claim_delivery, row.pk, "one", clock.now)
    assert await apart(dispatching.claim_delivery, row.pk, "two", clock.now) is None


async def test_a_hanging_receiver_delays_no_other(
    dispatcher: Dispatcher, hook: Webhook, ada: AbstractUser, run: Run, receiver: Receiver,
    settings: object,
) -> None:  # fmt: skip
    with Receiver() as quick:
        settings.FETCH_ALLOW_PRIVATE_HOSTS = [receiver.place, quick.place]  # type: ignore[attr-defined]
        await apart(subscriptions.add_webhook, ada, quick.url, EVERYTHING)
        await apart(end_run, run)
        await apart(end_run, run, "failed")
        receiver.hangs = True
        assert await dispatcher.step() == 2, "one for each receiver"
        assert await dispatcher.step() in (0, 1)
        await dispatcher.settle()
        await deliver(dispatcher)
        assert len(quick.received) == 2


async def test_redirects_are_failures(
    dispatcher: Dispatcher, hook: Webhook, run: Run, receiver: Receiver
) -> None:
    await apart(end_run, run)
    receiver.status = 307
    await deliver(dispatcher)
    row = await apart(only_delivery)
    assert row.attempts[0]["error"] == "status 307" and len(receiver.received) == 1


async def test_an_address_that_became_private_is_refused_when_it_is_delivered(
    dispatcher: Dispatcher, hook: Webhook, run: Run, receiver: Receiver, settings: object
) -> None:
    await apart(end_run, run)
    settings.FETCH_ALLOW_PRIVATE_HOSTS = []  # type: ignore[attr-defined]
    await deliver(dispatcher)
    row = await apart(only_delivery)
    assert row.attempts[0]["error"].startswith("refused: ") and not receiver.received


async def test_both_secrets_sign_for_a_day_after_a_rotation(
    dispatcher: Dispatcher, hook: Webhook, run: Run, receiver: Receiver, clock: Clock
) -> None:
    old = hook.secret
    await apart(subscriptions.rotate_secret, hook)
    hook.previous_until = clock.now + timedelta(seconds=1)
    await apart(hook.save)
    await apart(end_run, run)
    await deliver(dispatcher)
    check_signature(receiver.received[0], old)
    check_signature(receiver.received[0], hook.secret)
    clock.forward(2)
    await apart(end_run, run, "failed")
    await deliver(dispatcher)
    assert len(receiver.received[1].headers["webhook-signature"].split()) == 1
    check_signature(receiver.received[1], hook.secret)


async def test_a_test_is_tried_once_and_disables_nothing(
    dispatcher: Dispatcher, hook: Webhook, ada: AbstractUser, receiver: Receiver
) -> None:
    receiver.status = 500
    await apart(subscriptions.send_test, ada, hook)
    await deliver(dispatcher)
    row = await apart(only_delivery)
    assert row.state == "failed" and row.webhook.disabled_reason == ""
    assert json.loads(receiver.received[0].body)["type"] == "test"


async def test_a_stopped_process_gives_its_delivery_back(
    dispatcher: Dispatcher, hook: Webhook, run: Run, receiver: Receiver
) -> None:
    await apart(end_run, run)
    receiver.hangs = True
    dispatcher.channels.timeout_seconds = 60
    await dispatcher.start()
    await dispatcher.step()
    await dispatcher.stop()
    row = await apart(only_delivery)
    assert (row.state, row.lease_owner, row.tries) == ("pending", "", 0)
    dispatcher.writer.start()


def test_waits_grow_and_vary() -> None:
    middle = [wait_seconds(tries, 0.5) for tries in range(1, 9)]
    assert middle == [10, 40, 160, 640, 2560, 10240, 40960, 43200]
    assert [wait_seconds(1, chance) for chance in (0.0, 1.0)] == pytest.approx([8, 12])


def test_old_entries_of_the_log_are_deleted(hook: Webhook, run: Run, clock: Clock) -> None:
    end_run(run)
    end_run(run, "failed")
    first = Delivery.objects.order_by("pk").first()
    assert first is not None
    first.ended_at = clock.now - timedelta(days=31)
    first.save()
    dispatching.purge_log(clock)
    assert Delivery.objects.get().event == "run.failed"
