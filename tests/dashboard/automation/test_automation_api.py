"""Webhooks and schedules through the API."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from research.models import Delivery, Schedule, Webhook
from research.notifications import subscriptions
from research.schedules import scheduler
from research.services import documents
from research.services.api_tokens import Scope
from tests.dashboard.api.conftest import client_with

URL = "https://hooks.example.org/in"
PLAN = {"question": "What is new about oaks?", "cadence": "weekly", "at": "08:30"}


def send(api: Client, method: str, path: str, payload: dict[str, Any] | None = None) -> Any:
    more = {} if payload is None else {"data": payload, "content_type": "application/json"}
    return getattr(api, method)(f"/api/v1{path}", **more)


def test_a_webhook_from_its_secret_to_its_end(api: Client, admin: User) -> None:
    made = send(api, "post", "/webhooks", {"url": URL, "events": ["run.asks"]})
    assert made.status_code == 201 and made.json()["secret"].startswith("whsec_")
    place = f"/webhooks/{made.json()['id']}"
    assert "secret" not in send(api, "get", place).json()
    rotated = send(api, "post", f"{place}/secret").json()
    assert rotated["secret"] != made.json()["secret"]
    tested = send(api, "post", f"{place}/test")
    assert tested.status_code == 202 and tested.json()["state"] == "pending"
    [row] = send(api, "get", f"{place}/deliveries").json()["items"]
    again = send(api, "post", f"{place}/deliveries/{row['id']}/redeliver")
    assert again.status_code == 202
    Delivery.objects.update(lease_owner="busy")
    assert send(api, "post", f"{place}/deliveries/{row['id']}/redeliver").status_code == 409
    changed = send(api, "patch", place, {"enabled": False, "url": f"{URL}/2"}).json()
    assert (changed["enabled"], changed["url"], changed["events"]) == (
        False,
        f"{URL}/2",
        ["run.asks"],
    )
    assert changed["disabled_reason"] == "Disabled by its owner."
    assert send(api, "delete", place).status_code == 204
    assert not Webhook.objects.exists()


def test_a_private_address_is_refused(api: Client) -> None:
    refused = send(api, "post", "/webhooks", {"url": "http://192.168.0.1/"})
    assert refused.status_code == 422
    assert refused.json()["errors"][0]["location"] == "body.url"


def test_a_schedule_from_its_creation_to_its_end(api: Client, admin: User) -> None:
    plan = {**PLAN, "weekday": "friday", "time_zone": "Europe/Berlin", "max_cost_usd": 0.5}
    made = send(api, "post", "/schedules", {**plan, "depth": "quick", "sources": "samples"})
    assert made.status_code == 201, made.json()
    row = Schedule.objects.get()
    assert (row.weekday, row.config["research_depth"], row.sources["search"]) == (
        4, "quick", ["samples"],
    )  # fmt: skip
    assert made.json()["max_cost_usd"] == 0.5 and made.json()["weekday"] == "friday"
    place = f"/schedules/{row.public_id}"
    assert send(api, "get", place).json() == made.json()
    assert scheduler.run_due(row, row.next_at)
    [result] = send(api, "get", f"{place}/results").json()["items"]
    assert result["status"] == "queued" and result["new"] is None
    paused = send(api, "patch", place, {"paused": True, "at": "09:00"}).json()
    assert (paused["paused"], paused["next_at"], paused["at"]) == (True, None, "09:00")
    resumed = send(api, "patch", place, {"paused": False, "weekday": "monday"}).json()
    assert resumed["next_at"] and resumed["weekday"] == "monday"
    assert len(send(api, "get", "/schedules").json()["items"]) == 1
    assert send(api, "delete", place).status_code == 204
    assert not Schedule.objects.exists()


def test_the_sources_of_a_schedule_change(
    api: Client, admin: User, settings: Any, tmp_path: Path
) -> None:
    settings.STATE_DIR = tmp_path
    key = documents.create_collection(admin, "Trees").public_id
    file = SimpleUploadedFile("oak.md", b"# Oak")
    assert api.post(f"/api/v1/collections/{key}/files", {"files": [file]}).status_code == 200
    made = send(api, "post", "/schedules", {**PLAN, "sources": "samples"}).json()
    place = f"/schedules/{made['id']}"
    assert (made["searches"], made["collections"]) == (["samples"], [])
    moved = send(api, "patch", place, {"collections": [key]}).json()
    assert (moved["searches"], moved["collections"]) == (["documents"], [key])
    assert send(api, "patch", place, {"paused": True}).json()["collections"] == [key]
    assert send(api, "patch", place, {"collections": ["nothere"]}).status_code == 409
    assert send(api, "patch", place, {"sources": "samples"}).json()["collections"] == []


def test_a_token_s_budget_limits_the_runs_of_its_schedules(admin: User) -> None:
    api = client_with(admin, max_cost_usd=0.1)
    assert (
        send(api, "post", "/schedules", {**PLAN, "max_cost_usd": 3}).json()["max_cost_usd"] == 0.1
    )


@pytest.mark.parametrize(
    ("change", "status", "location"),
    [
        ({"at": "24:00"}, 422, "body.at"),
        ({"cadence": "hourly"}, 422, "body.cadence"),
        ({"day": 0}, 422, "body.day"),
        ({"time_zone": "Nowhere"}, 422, "body.time_zone"),
        ({"settings": {"no_such": 1}}, 422, "body.settings.no_such"),
        ({"collections": ["nothere"]}, 409, "body.collections"),
    ],
)
def test_invalid_values_are_named(
    api: Client, change: dict[str, Any], status: int, location: str
) -> None:
    refused = send(api, "post", "/schedules", {**PLAN, **change})
    assert refused.status_code == status
    assert [each["location"] for each in refused.json()["errors"]] == [location]
    assert not Schedule.objects.exists()


def test_what_belongs_to_others_is_not_found(api: Client, admin: User) -> None:
    hook = subscriptions.add_webhook(admin, URL, ["run.asks"])
    send(api, "post", "/schedules", PLAN)
    stranger = client_with(User.objects.create(username="stranger"))
    for path in (f"/webhooks/{hook.public_id}", f"/schedules/{Schedule.objects.get().public_id}"):
        assert send(stranger, "get", path).status_code == 404
        assert send(stranger, "delete", path).status_code == 404
    assert send(stranger, "get", "/webhooks").json() == {"items": []}


def test_a_token_for_reading_changes_nothing(admin: User) -> None:
    reader = client_with(admin, Scope.READ)
    assert send(reader, "post", "/webhooks", {"url": URL}).status_code == 403
    assert send(reader, "post", "/schedules", PLAN).status_code == 403
    assert send(reader, "get", "/schedules").status_code == 200
