"""Requests with an `Idempotency-Key` that are repeated: one thing is made."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from dashboard.api.idempotency import KEPT
from dashboard.models import RepeatableRequest
from research.models import Collection, Command, Run, Schedule, Webhook
from research.services import runs
from tests.dashboard.api.conftest import client_with
from tests.dashboard.api.test_runs import post
from tests.dashboard.conftest import make_run

FOLLOW_UP = {"question": "And how old do yews get?"}
TABLE = {"kind": "reshape", "form": "table"}
COLLECTION = {"name": "Trees"}
WEBHOOK = {"url": "https://hooks.example.org/in"}
SCHEDULE = {"question": "What is new about oaks?", "cadence": "weekly", "at": "08:30"}
KEY = {"Idempotency_Key": "k1"}


@pytest.mark.parametrize(
    ("path", "payload"),
    [("follow-ups", FOLLOW_UP), ("versions", TABLE)],
    ids=["follow-up", "version"],
)
def test_a_later_run_is_made_once_even_after_it_has_ended(
    api: Client, finished: Run, path: str, payload: dict[str, Any]
) -> None:
    place = f"/runs/{finished.public_id}/{path}"
    first = post(api, place, payload, **KEY)
    assert first.status_code == 201
    Run.objects.filter(parent=finished).update(status="completed")
    again = post(api, place, payload, **KEY)
    assert (again.status_code, again.json()["id"]) == (201, first.json()["id"])
    assert again.json()["status"] == "completed"
    assert post(api, place, payload).json()["id"] != first.json()["id"]


@pytest.mark.parametrize(
    ("path", "payload", "rows"),
    [
        ("/collections", COLLECTION, Collection.objects),
        ("/webhooks", WEBHOOK, Webhook.objects),
        ("/schedules", SCHEDULE, Schedule.objects),
    ],
    ids=["collection", "webhook", "schedule"],
)
def test_what_is_set_up_is_made_once(
    api: Client, path: str, payload: dict[str, Any], rows: Any
) -> None:
    first = post(api, path, payload, **KEY)
    again = post(api, path, payload, **KEY)
    assert (again.status_code, again.json()) == (201, first.json())
    assert rows.count() == 1
    rows.all().delete()
    assert post(api, path, payload, **KEY).status_code == 201
    assert rows.count() == 1


def test_a_command_is_given_once(api: Client, admin: User) -> None:
    run = make_run(admin, "researching")
    place, deeper = f"/runs/{run.public_id}/commands", {"kind": "dig_deeper", "rounds": 2}
    post(api, place, deeper, **KEY)
    Command.objects.update(taken_at_place="round/1")
    again = post(api, place, deeper, **KEY)
    assert (again.status_code, again.json()["taken"]) == (202, True)
    assert Command.objects.count() == 1


def test_a_secret_is_replaced_once(api: Client) -> None:
    place = f"/webhooks/{post(api, '/webhooks', WEBHOOK).json()['id']}/secret"
    first = post(api, place, {}, **KEY).json()["secret"]
    assert post(api, place, {}, **KEY).json()["secret"] == first
    assert post(api, place, {}).json()["secret"] != first


def test_a_key_of_another_request_is_refused(api: Client, finished: Run) -> None:
    post(api, "/collections", COLLECTION, **KEY)
    for path, payload in (
        ("/collections", {"name": "Other"}),
        (f"/runs/{finished.public_id}/follow-ups", FOLLOW_UP),
    ):
        refused = post(api, path, payload, **KEY)
        assert refused.status_code == 409 and "idempotency key" in refused.json()["detail"]
    assert Collection.objects.count() == Run.objects.count() == 1


def test_a_request_that_failed_is_tried_again(api: Client, finished: Run) -> None:
    place = f"/runs/{finished.public_id}/follow-ups"
    Run.objects.update(status="researching")
    assert post(api, place, FOLLOW_UP, **KEY).status_code == 409
    Run.objects.update(status="completed")
    assert post(api, place, FOLLOW_UP, **KEY).status_code == 201


def test_keys_belong_to_tokens_and_are_forgotten_in_time(api: Client, admin: User) -> None:
    post(api, "/webhooks", WEBHOOK, **KEY)
    post(client_with(admin), "/webhooks", WEBHOOK, **KEY)
    assert Webhook.objects.count() == 2
    RepeatableRequest.objects.update(created=timezone.now() - KEPT - timedelta(minutes=1))
    post(api, "/webhooks", WEBHOOK, **KEY)
    assert (Webhook.objects.count(), RepeatableRequest.objects.count()) == (3, 1)


def test_a_key_that_is_too_long_is_refused(api: Client, finished: Run) -> None:
    refused = post(
        api, f"/runs/{finished.public_id}/follow-ups", FOLLOW_UP, Idempotency_Key="k" * 101
    )
    assert refused.status_code == 422
    assert not runs.visible_to(finished.owner).exclude(pk=finished.pk).exists()
