"""What a run under way waits for, and what it has cost: named, timed, told when it takes long."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from bs4 import BeautifulSoup
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from research.models import JournalEntry, Run
from research.models.base import key_digest
from tests.dashboard.conftest import make_run
from tests.dashboard.test_run_page import page
from tests.dashboard.test_steering import texts

NOTHING = {"prompt_tokens": 0, "completion_tokens": 0, "cost_usd": 0.0}
LONG = "no answer of the model for"


def used(**seconds: float) -> dict[str, Any]:
    """The usage of a run with two calls of each task that took so long on average."""
    spent = {name: {**NOTHING, "calls": 2, "seconds": 2 * n} for name, n in seconds.items()}
    return {"spent_by": {"task": spent}}


def call(run: Run, task: str, ago: float, status: str = "pending") -> None:
    place = f"{task}/{run.journal.count()}"
    entry = run.journal.create(
        place=place, place_key=key_digest(place), kind="model", status=status, attempt=1,
        request={"task": task},
    )  # fmt: skip
    began = timezone.now() - timedelta(seconds=ago)
    JournalEntry.objects.filter(pk=entry.pk).update(created_at=began)


def modelled(admin: User, status: str = "researching", **columns: Any) -> Run:
    return make_run(admin, status, analyst="a-model", **columns)


def shown(client: Client, run: Run) -> BeautifulSoup:
    return BeautifulSoup(page(client, run), "html.parser")


def test_the_page_names_the_oldest_call_and_how_long_such_calls_take(
    client: Client, admin: User
) -> None:
    run = modelled(admin, usage=used(read=6.2))
    call(run, "assess", 70, "done")
    call(run, "read", 12)
    call(run, "read", 4)
    [told] = texts(shown(client, run), ".call p")
    named = r"Waiting [12]\d s for the model: Reading pages · usually 6 s in this run"
    assert re.fullmatch(named, told)


@pytest.mark.parametrize(
    ("task", "ago", "usage", "columns", "is_long"),
    [
        ("intake", 30, {}, {"status": "intake"}, False),
        ("intake", 110, {}, {"status": "intake"}, False),
        ("intake", 125, {}, {"status": "intake"}, True),
        ("read", 45, used(read=2), {}, False),
        ("read", 65, used(read=2), {}, True),
        ("read", 110, used(read=40), {}, False),
        ("read", 125, used(read=40), {}, True),
        ("draft", 110, used(read=20), {"status": "writing"}, False),
        ("draft", 125, used(read=20), {"status": "writing"}, True),
        ("draft", 140, used(read=50), {"status": "writing"}, False),
        ("draft", 199, {}, {"status": "writing", "draft": [{"text": "Oaks.", "about": ""}]}, False),
    ],
)
def test_a_call_that_takes_long_is_told_quietly_with_a_way_to_check_the_server(
    client: Client, admin: User, task: str, ago: float, usage: Any, columns: Any, is_long: bool
) -> None:
    run = modelled(admin, usage=usage)
    Run.objects.update(**columns)
    call(run, task, ago)
    soup = shown(client, run)
    told = texts(soup, ".call .notice-row p")
    assert [LONG in each for each in told] == [True] * is_long
    assert bool(soup.select(".call a[href='/installation/']")) == is_long
    assert not soup.select(".call .bad")


def test_it_says_what_is_known_of_a_call_that_takes_long(client: Client, admin: User) -> None:
    run = modelled(admin, usage=used(read=40))
    call(run, "read", 130)
    [told] = texts(shown(client, run), ".call p")
    known = r"Reading pages: no answer of the model for 2:1\d min ?; calls of this kind took 40 s"
    assert re.match(known, told), told
    JournalEntry.objects.update(request={"task": "assess"})
    [told] = texts(shown(client, run), ".call p")
    assert re.search(r"no answer of the model for 2:1\d min ?\.$", told), told


def test_a_poll_brings_only_what_is_new_and_ends_with_the_calls(
    client: Client, admin: User
) -> None:
    run = modelled(admin)
    call(run, "read", 20)
    [part] = shown(client, run).select(".call")
    assert client.get(str(part["hx-get"])).status_code == 204
    JournalEntry.objects.update(created_at=timezone.now() - timedelta(seconds=125))
    news = client.get(str(part["hx-get"]))
    assert LONG in news.content.decode()
    Run.objects.update(status="awaiting_approval")
    assert client.get(str(part["hx-get"])).status_code == 286


@pytest.mark.parametrize(
    "columns",
    [{"analyst": "extractive"}, {"status": "paused"}, {"status": "queued"}],
)
def test_a_run_that_makes_no_calls_says_nothing_of_them(
    client: Client, admin: User, columns: dict[str, str]
) -> None:
    run = modelled(admin)
    call(run, "read", 90)
    Run.objects.update(**columns)
    assert not shown(client, run).select(".call")


@pytest.mark.parametrize(
    ("spent", "estimated", "told"),
    [
        (0.024, [0.1, 0.3], ["$0.02 so far, estimated up to $0.30"]),
        (0.4, [0.1, 0.3], ["$0.40 so far"]),
        (0.4, None, ["$0.40 so far"]),
        (0.0, [0.0, 0.0], []),
        (None, None, []),
    ],
)
def test_the_head_says_what_the_run_has_cost_and_may_cost(
    client: Client, admin: User, spent: float | None, estimated: list[float] | None, told: list[str]
) -> None:
    estimate = {"seconds": [60, 120], "cost_usd": estimated}
    run = modelled(admin, usage={"cost_usd": spent}, plan={"aspects": [], "estimate": estimate})
    assert texts(shown(client, run), ".verdict-line > span") == told


def test_a_call_that_is_overdue_is_told_before_another_question_is_asked(
    client: Client, admin: User, settings: Settings
) -> None:
    settings.RESEARCH_MODEL, settings.OPENAI_BASE_URL = "a-model", "http://127.0.0.1:1/v1"
    told = "The model server hasn’t answered a run for"
    run = modelled(admin)
    call(run, "read", 30)
    assert told not in client.get("/").content.decode()
    call(run, "intake", 200)
    page = BeautifulSoup(client.get("/").content, "html.parser")
    [notice] = texts(page, ".notice-row.bad p")
    assert notice.startswith(told)
    setup = client.get("/installation/").content.decode()
    assert "No answer for 3:2" in setup
