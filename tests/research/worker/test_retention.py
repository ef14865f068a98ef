"""Runs that are older than an installation keeps them, over the real tables."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest
from django.contrib.auth.models import AbstractUser
from django.utils import timezone

from research.models import CachedPage, JournalEntry, PageText, Run, RunPage, Thread
from research.services import history, runs, threads
from research.worker import leases, retention
from research.worker.retention import Retention
from tests.engine.scripted import harbour
from tests.research.collections import apart
from tests.research.test_threads import asked, ended, resource

DAYS = 30


def aged(run: Run, days: float, status: str = "completed") -> Run:
    """As it stands that many days after its end."""
    then = timezone.now() - timedelta(days=days)
    Run.objects.filter(pk=run.pk).update(status=status, created_at=then, finished_at=then)
    run.refresh_from_db()
    return run


def step() -> int:
    """How many runs go at once."""
    return sum([retention.delete_if_due(run) for run in retention.too_old(DAYS)])


@pytest.mark.parametrize("status", ["completed", "failed", "cancelled"])
def test_a_run_that_ended_long_enough_ago_goes(ada: AbstractUser, status: str) -> None:
    old = aged(runs.ask_question(ada, "Old?"), DAYS + 0.1, status)
    young = aged(runs.ask_question(ada, "Young?"), DAYS - 0.1, status)
    assert step() == 1
    assert list(Run.objects.all()) == [young]
    assert not Run.objects.filter(pk=old.pk).exists()
    assert step() == 0


@pytest.mark.parametrize("status", ["queued", "awaiting_approval", "researching", "paused"])
def test_a_run_that_has_not_ended_stays_however_old_it_is(ada: AbstractUser, status: str) -> None:
    run = aged(runs.ask_question(ada, "Why?"), 400, status)
    Run.objects.filter(pk=run.pk).update(finished_at=None)
    assert step() == 0 and Run.objects.exists()


def test_every_person_s_old_runs_go_a_few_at_a_time(
    ada: AbstractUser, bob: AbstractUser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retention, "AT_ONCE", 2)
    for number, person in enumerate((ada, bob, ada)):
        aged(runs.ask_question(person, f"Number {number}?"), DAYS + 10 - number)
    assert step() == 2
    assert Run.objects.get().question == "Number 2?"
    assert (step(), step()) == (1, 0)


def test_one_that_a_worker_still_has_waits_and_holds_up_no_other(ada: AbstractUser) -> None:
    held = runs.ask_question(ada, "Held?")
    leases.claim_run(held.pk, "me")
    aged(held, DAYS + 2)
    aged(runs.ask_question(ada, "Free?"), DAYS + 1)
    assert step() == 1
    assert Run.objects.get() == held


def test_pages_go_with_the_last_run_that_read_them(ada: AbstractUser) -> None:
    """Their copies for later runs too."""
    first, second = runs.ask_question(ada, "One?"), runs.ask_question(ada, "Two?")
    text = PageText.objects.create(id="a", sha256="a", text="It says so.")
    for run in (first, second):
        RunPage.objects.create(run=run, page=text, url="https://a.example/", url_key="a")
    CachedPage.objects.create(
        scope="public", url="https://a.example/", url_key="a", page=text, said={},
        extractor_version="1", fetched_at=timezone.now(),
    )  # fmt: skip
    aged(first, DAYS + 1)
    assert step() == 1
    assert PageText.objects.exists() and CachedPage.objects.exists()
    aged(second, DAYS + 1)
    assert step() == 1
    assert not PageText.objects.exists() and not CachedPage.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_what_was_made_from_an_old_run_keeps_what_it_took_over(ada: AbstractUser) -> None:
    world = harbour()
    run = asked(ada, world)
    shorter = threads.reshape_report(ada, run, "shorter")
    aged(run, DAYS + 1)
    assert step() == 0, "it is still being made from the old one"
    ended(shorter, world)
    assert step() == 1
    assert not JournalEntry.objects.filter(run_id=run.pk).exists()
    shorter.refresh_from_db()
    found = resource(shorter)
    texts = {page["text_sha256"]: page["text"] for page in found["pages"]}
    quotes = [source for record in found["evidence"] for source in record["sources"]]
    assert quotes
    for source in quotes:
        assert texts[source["text_sha256"]][source["start"] : source["end"]] == source["quote"]


@pytest.mark.django_db(transaction=True)
async def test_it_looks_by_itself_from_start_to_stop(ada: AbstractUser) -> None:
    run = await apart(runs.ask_question, ada, "Old?")
    keeper = Retention(DAYS, look_seconds=0.02)
    await keeper.start()
    await apart(aged, run, DAYS + 1)
    async with asyncio.timeout(10):
        while await apart(Run.objects.exists):
            await asyncio.sleep(0.02)
    await keeper.stop()


@pytest.mark.django_db(transaction=True)
async def test_without_a_number_of_days_only_deleted_questions_go(ada: AbstractUser) -> None:
    kept = await apart(runs.ask_question, ada, "Kept?")
    gone = await apart(runs.ask_question, ada, "Deleted?")
    await apart(aged, kept, DAYS + 1)
    await apart(aged, gone, DAYS + 1)
    long_ago = timezone.now() - timedelta(seconds=history.KEPT_SECONDS + 1)
    await apart(Thread.objects.filter(pk=gone.thread_id).update, deleted_at=long_ago)
    keeper = Retention(0, look_seconds=0.02)
    await keeper.start()
    async with asyncio.timeout(10):
        while await apart(Thread.objects.count) > 1:
            await asyncio.sleep(0.02)
    await keeper.stop()
    assert await apart(Run.objects.get) == kept
