"""Whose run is executed next, with rows only: no worker and no clock is needed."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import pytest
from django.contrib.auth.models import AbstractUser
from django.db import connection, connections
from django.test.utils import CaptureQueriesContext

from research.models import Run
from research.models.runs import Priority
from research.queue import admission
from research.queue.admission import Caps, claim_next
from research.queue.host_process import HostProcess
from research.queue.presence import Registration
from research.services import ServiceError, runs
from research.worker import leases, notify

pytestmark = pytest.mark.django_db


def ask(person: AbstractUser, number: int, **more: Any) -> list[Run]:
    return [
        runs.ask_question(person, f"{person} {n}", agreed=True, **more)
        for n in range(1, number + 1)
    ]


def claimed(number: int, **more: Any) -> list[str]:
    """Claim runs and return their questions."""
    found = [claim_next("me", **more) for _ in range(number)]
    keys = [lease.run_id for lease in found if lease]
    questions = Run.objects.in_bulk(keys)
    return [questions[key].question for key in keys]


def finish(questions: Sequence[str]) -> None:
    Run.objects.filter(question__in=questions).update(
        status="completed", lease_owner="", lease_until=None
    )


def test_a_person_with_one_run_does_not_wait_for_another_one_s_many(
    ada: AbstractUser, bob: AbstractUser
) -> None:
    ask(ada, 20)
    assert claimed(2) == ["ada 1", "ada 2"]
    ask(bob, 1)
    assert claimed(3) == ["bob 1", "ada 3", "ada 4"]


def test_people_take_turns_when_nothing_is_at_work(ada: AbstractUser, bob: AbstractUser) -> None:
    ask(ada, 3)
    ask(bob, 3)
    order = []
    for _ in range(6):
        [question] = claimed(1)
        order.append(question)
        finish([question])
    assert order == ["ada 1", "bob 1", "ada 2", "bob 2", "ada 3", "bob 3"]


def test_the_head_of_the_queue_has_everybody_who_waits(
    ada: AbstractUser, bob: AbstractUser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(admission, "LOOKED_AT", 3)
    ask(ada, 10)
    ask(bob, 1)
    assert claimed(2) == ["ada 1", "bob 1"], "bob's run is not the eleventh"


def test_nobody_has_more_runs_at_work_than_the_cap(ada: AbstractUser, bob: AbstractUser) -> None:
    ask(ada, 5)
    assert claimed(5, caps=Caps(per_person=2)) == ["ada 1", "ada 2"]
    ask(bob, 1)
    assert claimed(5, caps=Caps(per_person=2)) == ["bob 1"]
    finish(["ada 1"])
    assert claimed(5, caps=Caps(per_person=2)) == ["ada 3"]


def test_all_processes_together_keep_to_the_global_cap(
    ada: AbstractUser, bob: AbstractUser
) -> None:
    ask(ada, 2)
    ask(bob, 2)
    assert len(claimed(4, caps=Caps(at_once=3))) == 3


@pytest.mark.django_db(transaction=True)
def test_two_processes_that_claim_at_once_do_not_exceed_a_cap(ada: AbstractUser) -> None:
    ask(ada, 12)
    ready = threading.Barrier(4)
    won: list[leases.Lease] = []

    def claim() -> None:
        ready.wait()
        for _ in range(3):
            lease = claim_next("me", caps=Caps(per_person=3))
            won.extend([lease] if lease else [])
        connections.close_all()

    threads = [threading.Thread(target=claim) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({lease.run_id for lease in won}) == len(won) == 3


def test_scheduled_runs_wait_for_interactive_ones(ada: AbstractUser, bob: AbstractUser) -> None:
    ask(ada, 2, priority=Priority.SCHEDULED)
    ask(bob, 2)
    assert claimed(4) == ["bob 1", "bob 2", "ada 1", "ada 2"]


def test_a_quarter_of_the_places_is_kept_from_scheduled_runs(
    ada: AbstractUser, bob: AbstractUser
) -> None:
    ask(ada, 6, priority=Priority.SCHEDULED)
    assert len(claimed(6, caps=Caps(at_once=4))) == 3
    ask(bob, 2)
    assert claimed(3, caps=Caps(at_once=4)) == ["bob 1"]


def test_without_a_global_cap_the_places_are_those_of_the_processes(ada: AbstractUser) -> None:
    Registration("one", ["research"], 8, HostProcess.current()).write()
    ask(ada, 9, priority=Priority.SCHEDULED)
    assert len(claimed(9)) == 6


def test_an_interrupted_run_goes_on_before_another_one_begins(
    ada: AbstractUser, bob: AbstractUser
) -> None:
    [interrupted] = ask(ada, 1)
    Run.objects.filter(pk=interrupted.pk).update(status="researching", turn=100)
    ask(bob, 1)
    assert claimed(2) == ["ada 1", "bob 1"]


def test_a_run_of_an_engine_that_this_code_cannot_continue_is_left_to_others(run: Run) -> None:
    Run.objects.update(engine_version="2099")
    assert claim_next("me") is None
    assert leases.claim_run(run.pk, "me") is None


def test_a_run_has_a_place_in_the_queue_while_it_waits(
    ada: AbstractUser, bob: AbstractUser
) -> None:
    first, second, third = ask(ada, 3)
    [other] = ask(bob, 1)
    places = [admission.place_of(each) for each in (first, other, second, third)]
    assert [place and place.position for place in places] == [1, 2, 3, 4]
    assert {place.waiting for place in places if place} == {4}
    first.status = "researching"
    assert admission.place_of(first) is None


def test_a_full_queue_refuses_with_a_date(
    ada: AbstractUser, settings: pytest.FixtureRequest
) -> None:
    settings.QUEUE_LIMIT = 3  # type: ignore[attr-defined]
    ask(ada, 3)
    with pytest.raises(
        ServiceError, match=r"3 questions wait, 3 of them yours.* after \d+ \w+, \d"
    ):
        ask(ada, 1)
    assert Run.objects.count() == 3


def test_a_full_queue_still_takes_a_person_s_first_question(
    ada: AbstractUser, bob: AbstractUser, settings: pytest.FixtureRequest
) -> None:
    settings.QUEUE_LIMIT = 4  # type: ignore[attr-defined]
    ask(ada, 4)
    ask(bob, 2)
    with pytest.raises(ServiceError, match="2 of them yours"):
        ask(bob, 1)
    with pytest.raises(ServiceError, match="4 of them yours"):
        ask(ada, 1)


def test_a_claim_reads_a_bounded_number_of_rows(ada: AbstractUser, bob: AbstractUser) -> None:
    ask(ada, 2)
    ask(bob, 2)
    with CaptureQueriesContext(
        connection,
    ) as few:
        claim_next("me")
    Run.objects.bulk_create(
        Run(owner=ada, thread_id=Run.objects.values_list("thread", flat=True)[0], question=f"{n}",
            today="2026-03-01", turn=n)
        for n in range(300)
    )  # fmt: skip
    with CaptureQueriesContext(connection) as many:
        claim_next("me")
    assert len(many) == len(few)


def test_the_pages_of_waiting_runs_are_told_when_the_queue_moves(
    ada: AbstractUser, django_capture_on_commit_callbacks: Any
) -> None:
    _, second, third = ask(ada, 3)
    assert claimed(1) == ["ada 1"]
    told: list[tuple[str, int]] = []

    def note(public_id: str, sequence: int) -> None:
        told.append((public_id, sequence))

    notify.on_committed.append(note)
    try:
        with django_capture_on_commit_callbacks(execute=True):
            admission.announce_places()
    finally:
        notify.on_committed.remove(note)
    assert sorted(told) == sorted([(second.public_id, 1), (third.public_id, 1)])
