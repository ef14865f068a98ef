"""The pages of schedules."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from research.models import Occurrence, Schedule
from research.schedules import manage, scheduler
from tests.dashboard.conftest import add_evidence, add_report, make_run

TYPED = {
    "question": "What is new about oaks?",
    "cadence": "weekly",
    "weekday": "4",
    "day": "1",
    "at": "08:30",
    "time_zone": "Europe/Berlin",
    "research_depth": "quick",
    "max_cost_usd": "0.5",
    "only_new": "on",
}


@pytest.fixture
def schedule(client: Client) -> Schedule:
    assert client.post("/schedules/", TYPED).status_code == 302
    return Schedule.objects.get()


def test_a_schedule_is_added_and_shows_when_it_is_due(
    client: Client, schedule: Schedule, admin: User
) -> None:
    assert (schedule.owner, schedule.only_new) == (admin, True)
    assert schedule.config["max_cost_usd"] == 0.5
    assert schedule.config["research_depth"] == "quick"
    Schedule.objects.update(next_at=datetime(2030, 3, 1, 7, 30, tzinfo=UTC))
    for address in ("/schedules/", f"/schedules/{schedule.public_id}/"):
        page = client.get(address).content.decode()
        assert "Every week on Friday at 08:30 (Europe/Berlin)" in page
        assert "Fri 1 March 2030, 08:30" in page
    assert 'value="Europe/Berlin" selected' in client.get("/schedules/").content.decode()


def test_a_question_can_be_brought_along(client: Client) -> None:
    assert "Why?</textarea>" in client.get("/schedules/?question=Why%3F").content.decode()


@pytest.mark.parametrize(
    "change",
    [
        {"question": ""},
        {"at": "25:00"},
        {"day": "32"},
        {"time_zone": "Europe/Atlantis"},
        {"max_cost_usd": "-1"},
    ],
)
def test_a_mistake_is_named_at_its_field(client: Client, change: dict[str, Any]) -> None:
    page = client.post("/schedules/", {**TYPED, **change})
    assert page.status_code == 422
    errors = page.context["form"].errors
    assert list(errors) == list(change)
    assert "max_cost_usd" not in change or errors["max_cost_usd"] == ["Enter 0 or more."]
    assert not Schedule.objects.exists()


def test_a_schedule_is_paused_resumed_changed_and_deleted(
    client: Client, schedule: Schedule
) -> None:
    place = f"/schedules/{schedule.public_id}/"
    client.post(f"{place}pause/", {"pause": "1"})
    assert "Paused" in client.get(place).content.decode()
    client.post(f"{place}pause/", {"resume": "1"})
    assert "Next run" in client.get(place).content.decode()
    changed = client.post(place, {**TYPED, "cadence": "monthly", "day": "31", "max_cost_usd": "2"})
    assert changed.status_code == 302
    schedule.refresh_from_db()
    assert (schedule.cadence, schedule.day, schedule.paused) == ("monthly", 31, False)
    assert schedule.config["max_cost_usd"] == 2
    wrong = client.post(place, {**TYPED, "question": ""})
    assert wrong.status_code == 422 and TYPED["question"] in wrong.content.decode()
    client.post(f"{place}delete/")
    assert not Schedule.objects.exists()


def test_sources_change_only_if_others_are_chosen(client: Client, schedule: Schedule) -> None:
    place = f"/schedules/{schedule.public_id}/"
    for before, choice, after in (
        (["elsewhere"], "unchanged", ["elsewhere"]),
        (["elsewhere"], "samples", ["samples"]),
        (["samples"], "samples", ["samples"]),
    ):
        Schedule.objects.update(sources={"search": before, "kept": True})
        assert client.post(place, {**TYPED, "sources": choice}).status_code == 302
        now = Schedule.objects.get().sources
        assert now["search"] == after and now.get("kept", False) == (before == after)


def test_results_show_what_is_new(client: Client, schedule: Schedule, admin: User) -> None:
    first = make_run(admin, "completed")
    add_evidence(first, 1, quote="An old quote.")
    add_report(first, "# Oaks [1]")
    second = make_run(admin, "completed")
    add_evidence(second, 1)
    second.reports.create(number=1, citations=[{"evidence_ids": ["E1"]}], evidence_digest="0")
    for day, run in ((1, first), (2, second), (3, None)):
        due = datetime(2030, 3, day, 7, 30, tzinfo=UTC)
        skipped = "" if run else scheduler.STILL_RUNNING
        Occurrence.objects.create(schedule=schedule, due_at=due, run=run, skipped=skipped, missed=2)
    page = client.get(f"/schedules/{schedule.public_id}/").content.decode()
    assert "1 new finding since the report before" in page
    assert "An oak lives for about 600 years." in page and "An old quote." not in page
    assert scheduler.STILL_RUNNING in page
    assert "covers 2 earlier dates" in page


def test_schedules_of_others_are_not_found(client: Client, schedule: Schedule) -> None:
    stranger = User.objects.create(username="stranger")
    other = Client()
    other.force_login(stranger)
    place = f"/schedules/{schedule.public_id}/"
    assert other.get(place).status_code == 404
    assert other.post(f"{place}pause/", {"pause": "1"}).status_code == 404
    assert other.post(f"{place}delete/").status_code == 404
    assert manage.list_schedules(stranger) == []
