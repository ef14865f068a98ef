"""A weekly schedule over three weeks in a world that changes: what each result says is new."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, time, timedelta

import pytest
from django.contrib.auth.models import AbstractUser

from research.models import Delivery, Run, Schedule
from research.notifications import subscriptions
from research.notifications.composing import compose_body, write_mail
from research.schedules import manage, scheduler
from research.schedules.manage import Plan
from research.schedules.news import News, news_of
from tests.engine.scripted import LIT, SIMPLE, Oracle, Web, World, page
from tests.research.test_threads import ended

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]

BEGIN = datetime(2030, 3, 4, tzinfo=UTC)  # a Monday
WEEK = timedelta(days=7)
PLAN = Plan(SIMPLE.question, "weekly", time(8), "UTC", only_new=True)
ELECTRIC = "The lamp of Harrow Point was first lit by electricity in 1931."
SIGNAL = "The fog signal of Harrow Point was first lit up at night in 1950."
COAST = page("https://coast.example/harrow", LIT, "Harrow Point lighthouse")
MOVED = page("https://moved.example/harrow", LIT, "Harrow Point lighthouse")
WORKS = page("https://works.example/lamps", ELECTRIC, "Lamps of Harrow Point")
FOG = page("https://fog.example/signal", SIGNAL, "Signals of Harrow Point")
WEEKS = [[COAST], [COAST, WORKS], [COAST, WORKS], [MOVED, WORKS, FOG]]
"""The pages of each week: the second has one more, the last one that moved beside a new one."""


def pass_week(number: int) -> Run:
    """Let a worker look once an hour for a week, and execute the run that it starts."""
    world = World(Web(WEEKS[number]), Oracle(SIMPLE))
    starts = BEGIN + number * WEEK
    hours = [starts + timedelta(hours=hour, minutes=7) for hour in range(7 * 24)]
    assert sum(scheduler.start_due(lambda now=now: now) for now in hours) == 1
    return ended(Run.objects.get(status="queued"), world)


@pytest.mark.requirement("F30")
def test_each_result_is_compared_with_the_one_before(ada: AbstractUser) -> None:
    subscriptions.add_webhook(ada, "https://hooks.example.org/in", ["schedule.result"])
    schedule = manage.add_schedule(ada, PLAN, lambda: BEGIN)
    made = [pass_week(number) for number in range(len(WEEKS))]
    assert [run.occurrence.due_at for run in made] == [
        BEGIN.replace(hour=8) + number * WEEK for number in range(len(WEEKS))
    ]
    assert len({run.thread_id for run in made}) == 1

    first, *later = news_in(schedule)
    assert first is None
    assert [news.previous for news in later if news] == made[:-1]
    told = [[(each.quote, each.is_new_page) for each in news.findings] for news in later if news]
    assert told == [[(ELECTRIC, True)], [], [(SIGNAL, True)]]

    bodies = [json.loads(compose_body(row)) for row in Delivery.objects.order_by("pk")]
    assert [body["data"]["schedule"]["new_count"] for body in bodies] == [None, 1, 0, 1]
    assert all(LIT in body["data"]["run"]["answer"] for body in bodies)
    mails = [write_mail(body) for body in bodies]
    assert [mail.subject.split(":")[0] for mail in mails] == [
        "Research finished",
        "New findings",
        "Nothing new",
        "New findings",
    ]
    assert [LIT in mail.text for mail in mails] == [True, False, False, False]
    assert ELECTRIC in mails[1].text and SIGNAL in mails[3].text


def news_in(schedule: Schedule) -> list[News | None]:
    return [news_of(row) for row in schedule.occurrences.order_by("due_at")]


@pytest.mark.requirement("F30")
def test_reports_are_complete_whether_or_not_only_news_is_wanted(ada: AbstractUser) -> None:
    for only_new in (True, False):
        manage.add_schedule(ada, replace(PLAN, only_new=only_new), lambda: BEGIN)
    now = BEGIN + timedelta(hours=9)
    assert scheduler.start_due(lambda: now) == 2
    reports = []
    for run in Run.objects.order_by("pk"):
        ended(run, World(Web(WEEKS[1]), Oracle(SIMPLE)))
        reports.append(run.reports.get().markdown)
    assert reports[0] == reports[1] and LIT in reports[0] and ELECTRIC in reports[0]
