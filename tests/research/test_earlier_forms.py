"""Runs that an earlier version began: neither continued nor replayed, but read and rewritten."""

from __future__ import annotations

import asyncio
from io import StringIO

import pytest
from django.contrib.auth.models import AbstractUser
from django.core.management import CommandError, call_command

from research.engine.journal import EARLIER_FORM, EarlierFormError
from research.engine.journal.forms import NEWEST, OLDEST
from research.models import Run, WhatIf
from research.queue.admission import claim_next
from research.runtime.program import ENGINE_VERSION, REPLAY_VERSIONS
from research.services import ServiceError, runs, threads, what_if
from research.services.what_if import THRESHOLDS
from research.worker import run_executor
from research.worker.replay import replay_run
from tests.engine.scripted import SIMPLE, World, harbour
from tests.research.test_threads import advanced, asked, ended

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.requirement("D11")]

FORMS = [OLDEST - 1, None]


def begun_in(run: Run, form: int | None) -> None:
    """Make the journal one of this form; None is one from before there were forms."""
    entries = run.journal.filter(place="form")
    assert entries.delete()[0] if form is None else entries.update(answer=form)


def waiting(ada: AbstractUser, world: World) -> Run:
    """A run whose plan waits for a person."""
    run = runs.ask_question(ada, SIMPLE.question)
    assert advanced(run, world) == "parked"
    return run


@pytest.mark.parametrize("form", FORMS)
def test_a_run_that_waited_ends_as_failed_and_can_be_asked_again(
    ada: AbstractUser, form: int | None
) -> None:
    world = harbour(SIMPLE)
    assert world.model is not None
    run = waiting(ada, world)
    begun_in(run, form)
    asked_before = len(world.model.requests)
    runs.approve_plan(ada, run)
    assert advanced(run, world) == "done"
    run.refresh_from_db()
    assert (run.status, run.termination_text, run.lease_until) == ("failed", EARLIER_FORM, None)
    assert run.problems.get().message == EARLIER_FORM
    assert len(world.model.requests) == asked_before
    assert advanced(runs.ask_again(ada, run), world) == "parked"


def test_a_run_that_has_not_begun_is_begun_in_the_newest_form(ada: AbstractUser) -> None:
    run = runs.ask_question(ada, SIMPLE.question, agreed=True)
    Run.objects.filter(pk=run.pk).update(engine_version="")
    assert ended(run, harbour(SIMPLE)).status == "completed"
    run.refresh_from_db()
    assert run.engine_version == str(int(NEWEST))


def test_a_worker_leaves_runs_of_newer_forms_alone(ada: AbstractUser) -> None:
    newer = str(NEWEST + 1)
    assert max(REPLAY_VERSIONS, key=lambda each: int(each or 0)) == ENGINE_VERSION
    assert newer not in REPLAY_VERSIONS
    run = runs.ask_question(ada, SIMPLE.question, agreed=True)
    assert run.engine_version == str(int(NEWEST))
    Run.objects.filter(pk=run.pk).update(engine_version=newer)
    assert claim_next("old") is None
    assert advanced(run, harbour(SIMPLE)) == "elsewhere"
    run.refresh_from_db()
    assert (run.status, run.engine_version) == ("queued", newer)


def test_a_run_that_a_newer_worker_began_is_continued_by_such_alone(
    ada: AbstractUser, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An old process stored the question; its worker must not take what a new one has begun."""
    monkeypatch.setattr(run_executor, "ENGINE_VERSION", str(NEWEST + 1))
    run = runs.ask_question(ada, SIMPLE.question)
    assert run.engine_version == str(int(NEWEST))
    assert advanced(run, harbour(SIMPLE)) == "parked"
    runs.approve_plan(ada, run)
    assert claim_next("old") is None


def test_what_an_earlier_version_began_keeps_its_version(ada: AbstractUser) -> None:
    world = harbour(SIMPLE)
    run = waiting(ada, world)
    Run.objects.filter(pk=run.pk).update(engine_version="1")
    runs.approve_plan(ada, run)
    assert advanced(run, world) == "done"
    run.refresh_from_db()
    assert (run.status, run.engine_version) == ("completed", "1")


@pytest.mark.parametrize("form", FORMS)
def test_a_finished_run_is_not_replayed(ada: AbstractUser, form: int | None) -> None:
    run = asked(ada, harbour(SIMPLE))
    begun_in(run, form)
    with pytest.raises(EarlierFormError):
        asyncio.run(replay_run(run, {}))
    with pytest.raises(ServiceError, match="earlier version"):
        what_if.replay_with(ada, run, {})
    with pytest.raises(CommandError, match="earlier version"):
        call_command("replay", run.public_id, stdout=StringIO())


def test_replays_of_many_runs_leave_it_out(ada: AbstractUser) -> None:
    begun_in(asked(ada, harbour(SIMPLE)), OLDEST - 1)
    assert what_if.store_replays(None, 10) == 0 and what_if.missing_runs(10) == []
    assert not any(WhatIf.objects.values_list("is_complete", flat=True))
    effects = what_if.threshold_effects(10)
    assert [(each.runs, each.left_out) for each in effects] == [(0, 1)] * len(THRESHOLDS)


def test_its_report_is_rewritten_all_the_same(ada: AbstractUser) -> None:
    run = asked(ada, harbour(SIMPLE))
    begun_in(run, OLDEST - 1)
    made = ended(threads.reshape_report(ada, run, "table"), harbour(SIMPLE))
    assert made.status == "completed" and made.reports.count() == 1
