"""Schedules over simulated weeks: due dates, a worker that was away, pauses, two workers."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, time, timedelta
from typing import Any

import pytest
from django.contrib.auth.models import AbstractUser
from django.utils import timezone

from research.engine.config import ResearchConfig
from research.models import Occurrence, Run, Schedule
from research.models.runs import Priority
from research.queue import admission
from research.schedules import manage, scheduler
from research.schedules.manage import Plan
from research.services import runs
from research.services.errors import ServiceError
from tests.research.collections import apart

BEGIN = datetime(2030, 3, 4, 0, tzinfo=UTC)  # a Monday
DAILY = Plan("What is new about eggs?", "daily", time(8), "Europe/Berlin")


def add(owner: AbstractUser, plan: Plan = DAILY) -> Schedule:
    return manage.add_schedule(owner, plan, lambda: BEGIN)


def end_runs() -> None:
    Run.objects.exclude(status="completed").update(status="completed", finished_at=timezone.now())


def simulate(first: datetime, hours: int, *, ends: bool = True) -> Iterator[datetime]:
    """Let a worker look once an hour; runs end within that hour. Yield when one was started."""
    for hour in range(hours):
        now = first + timedelta(hours=hour, minutes=7)
        if scheduler.start_due(lambda now=now: now):
            yield now
        if ends:
            end_runs()


def outcomes(schedule: Schedule) -> list[tuple[str, str]]:
    rows = schedule.occurrences.order_by("due_at")
    return [(f"{row.due_at:%d %H:%M}", row.skipped or "run") for row in rows]


@pytest.mark.requirement("F29")
def test_three_weeks_with_four_days_without_a_worker(ada: AbstractUser) -> None:
    schedule = add(ada)
    weekly = add(ada, replace(DAILY, cadence="weekly", weekday=4))
    monthly = add(ada, replace(DAILY, cadence="monthly", day=31))
    assert schedule.next_at == BEGIN.replace(hour=7)
    list(simulate(BEGIN, 7 * 24))
    assert [due for due, _ in outcomes(schedule)] == [f"{day:02} 07:00" for day in range(4, 11)]
    assert Run.objects.count() == 7 + 1
    away_until = BEGIN + timedelta(days=11)
    list(simulate(away_until, 10 * 24))
    found = outcomes(schedule)
    assert len(found) == 7 + 1 + 10, "one run catches up, not four"
    assert found[7] == ("14 07:00", "run")
    assert schedule.occurrences.order_by("due_at")[7].missed == 3
    assert [row.missed for row in schedule.occurrences.order_by("due_at")[8:]] == [0] * 10
    assert [due for due, _ in outcomes(weekly)] == ["08 07:00", "15 07:00", "22 07:00"]
    assert outcomes(monthly) == []
    schedule.refresh_from_db()
    assert schedule.next_at == datetime(2030, 3, 25, 7, tzinfo=UTC)
    assert all(run == "run" for _, run in found)


def test_summer_time_begins_in_the_fourth_week(ada: AbstractUser) -> None:
    schedule = add(ada)
    Schedule.objects.update(next_at=datetime(2030, 3, 30, 7, tzinfo=UTC))
    list(simulate(datetime(2030, 3, 30, tzinfo=UTC), 72))
    assert [due for due, _ in outcomes(schedule)] == ["30 07:00", "31 06:00", "01 06:00"]


def test_a_due_date_is_skipped_while_the_last_run_is_at_work(ada: AbstractUser) -> None:
    schedule = add(ada)
    list(simulate(BEGIN, 72, ends=False))
    told = [text for _, text in outcomes(schedule)]
    assert told == ["run", scheduler.STILL_RUNNING, scheduler.STILL_RUNNING]
    assert Run.objects.count() == 1
    end_runs()
    list(simulate(BEGIN + timedelta(days=3), 24))
    assert Run.objects.count() == 2


def test_a_paused_schedule_asks_nothing_and_catches_up_with_nothing(ada: AbstractUser) -> None:
    schedule = add(ada)
    manage.change_schedule(schedule, {"paused": True}, lambda: BEGIN)
    assert list(simulate(BEGIN, 72)) == []
    now = BEGIN + timedelta(days=3)
    manage.change_schedule(schedule, {"paused": False}, lambda: now)
    assert schedule.next_at == now.replace(hour=7)
    assert len(list(simulate(now, 24))) == 1


def test_runs_are_scheduled_versions_with_the_schedule_s_budget(
    ada: AbstractUser, bob: AbstractUser
) -> None:
    config = ResearchConfig(max_cost_usd=0.25).model_dump(mode="json")
    add(ada, replace(DAILY, config=config))
    list(simulate(BEGIN, 48, ends=True))
    first, second = Run.objects.order_by("pk")
    assert first.thread == second.thread and second.origin == first and first.origin is None
    assert second.priority == Priority.SCHEDULED and second.agreed
    assert second.config["max_cost_usd"] == 0.25
    Run.objects.filter(pk=second.pk).update(status="queued")
    asked = runs.ask_question(bob, "Now?")
    claimed = [admission.claim_next("me") for _ in range(2)]
    assert [lease and lease.run_id for lease in claimed] == [asked.pk, second.pk]


def test_after_its_thread_was_deleted_a_schedule_begins_another(ada: AbstractUser) -> None:
    add(ada)
    list(simulate(BEGIN, 24))
    first = Run.objects.get()
    first.thread.deleted_at = timezone.now()
    first.thread.save()
    list(simulate(BEGIN + timedelta(days=1), 24))
    second = Run.objects.exclude(pk=first.pk).get()
    assert second.thread != first.thread and second.origin is None


def test_a_full_queue_is_named(ada: AbstractUser, settings: Any) -> None:
    schedule = add(ada)
    settings.QUEUE_LIMIT = 1
    runs.ask_question(ada, "One")
    list(simulate(BEGIN, 9, ends=False))
    [(_, told)] = outcomes(schedule)
    assert told.startswith("The queue is full")
    assert Run.objects.count() == 1


def test_a_configuration_that_is_no_longer_valid_is_named(ada: AbstractUser) -> None:
    schedule = add(ada)
    Schedule.objects.update(config={"no_such_knob": 1})
    list(simulate(BEGIN, 9))
    assert outcomes(schedule) == [("04 07:00", scheduler.BROKEN)]


def test_a_second_worker_with_an_old_row_starts_nothing(ada: AbstractUser) -> None:
    seen_by_both = add(ada)
    now = BEGIN + timedelta(hours=9)
    assert scheduler.run_due(seen_by_both, now)
    assert not scheduler.run_due(seen_by_both, now)
    assert Run.objects.count() == Occurrence.objects.count() == 1


@pytest.mark.requirement("F29")
@pytest.mark.django_db(transaction=True)
async def test_two_workers_at_once_start_one_run_for_each_due_date(ada: AbstractUser) -> None:
    await apart(add, ada)
    clock = lambda: BEGIN + timedelta(hours=9)  # noqa: E731
    workers = [scheduler.Scheduler(look_seconds=0.01, clock=clock) for _ in range(2)]
    for worker in workers:
        await worker.start()
    async with asyncio.timeout(20):
        while not await apart(Run.objects.exists):
            await asyncio.sleep(0.01)
    for worker in workers:
        await worker.stop()
    assert await apart(Run.objects.count) == await apart(Occurrence.objects.count) == 1


@pytest.mark.parametrize(
    ("change", "about"),
    [
        ({"question": " "}, "question"),
        ({"cadence": "hourly"}, "cadence"),
        ({"time_zone": "Europe/Atlantis"}, "time_zone"),
        ({"weekday": 7}, "weekday"),
        ({"day": 32}, "day"),
    ],
)
def test_values_are_checked(ada: AbstractUser, change: dict[str, Any], about: str) -> None:
    with pytest.raises(ServiceError) as refused:
        add(ada, replace(DAILY, **change))
    assert refused.value.about == about and not Schedule.objects.exists()
