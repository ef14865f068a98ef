from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import timedelta
from functools import partial

import pytest
from django.contrib.auth.models import AbstractUser
from django.db import connections

from research.models import Run
from research.queue import admission
from research.services import runs
from research.worker import leases, notify
from research.worker.fail_or_cancel import cancel_run, fail_run, stall_run
from research.worker.leases import Lease, LeaseLostError


def expire(run: Run) -> None:
    Run.objects.filter(pk=run.pk).update(lease_until=leases.database_now() - timedelta(seconds=1))


@pytest.mark.django_db(transaction=True)
def test_of_many_claims_at_once_one_wins(run: Run) -> None:
    won: list[Lease | None] = []
    ready = threading.Barrier(6)

    def claim(owner: str) -> None:
        ready.wait()
        won.append(leases.claim_run(run.pk, owner))
        connections.close_all()

    threads = [threading.Thread(target=claim, args=(f"worker {n}",)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(won) == 6
    [lease] = [lease for lease in won if lease]
    run.refresh_from_db()
    assert (run.lease_owner, run.lease_epoch) == (lease.owner, lease.epoch) == (lease.owner, 1)
    assert run.crashes == 0
    assert run.started_at is not None


@pytest.mark.parametrize("end", [cancel_run, partial(fail_run, sentence="It broke."), stall_run])
def test_other_processes_are_told_of_the_place_that_an_ended_run_leaves(
    end: Callable[[Lease], None], run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    lease = leases.claim_run(run.pk, "me")
    assert lease is not None
    told: list[str] = []
    monkeypatch.setattr(notify, "tell_processes", told.append)
    end(lease)
    assert told.count(notify.WORK) == 1


def test_takes_the_oldest_free_run_first(ada: AbstractUser) -> None:
    first, second = (runs.ask_question(ada, text) for text in ("one", "two"))
    claimed = [admission.claim_next("me") for _ in range(3)]
    assert [lease and lease.run_id for lease in claimed] == [first.pk, second.pk, None]


@pytest.mark.requirement("F8")
def test_a_lease_that_ran_out_is_taken_over_and_counts_a_crash(run: Run) -> None:
    old = leases.claim_run(run.pk, "dead")
    assert old and leases.claim_run(run.pk, "alive") is None
    expire(run)
    new = leases.claim_run(run.pk, "alive")
    assert new and new.epoch == old.epoch + 1
    run.refresh_from_db()
    assert run.crashes == 1
    with pytest.raises(LeaseLostError):
        leases.renew_lease(old)
    leases.renew_lease(new)


def test_a_run_is_held_until_its_lease_has_run_out(run: Run) -> None:
    assert not leases.is_held(run)
    assert leases.claim_run(run.pk, "me")
    run.refresh_from_db()
    assert leases.is_held(run)
    expire(run)
    run.refresh_from_db()
    assert not leases.is_held(run)


def test_a_run_was_started_when_it_was_first_claimed(run: Run) -> None:
    assert leases.claim_run(run.pk, "dead")
    run.refresh_from_db()
    first = run.started_at
    expire(run)
    assert leases.claim_run(run.pk, "alive")
    run.refresh_from_db()
    assert first is not None and run.started_at == first


def test_a_lease_that_was_given_back_counts_no_crash_and_fences_its_writer(run: Run) -> None:
    lease = leases.claim_run(run.pk, "me")
    assert lease
    leases.release_lease(lease)
    with pytest.raises(LeaseLostError):
        leases.renew_lease(lease)
    assert leases.claim_run(run.pk, "you")
    run.refresh_from_db()
    assert run.crashes == 0


def test_an_abandoned_lease_is_free_at_once_and_counts_a_crash(run: Run) -> None:
    lease = leases.claim_run(run.pk, "me")
    assert lease
    leases.abandon_lease(lease)
    assert leases.claim_run(run.pk, "you")
    run.refresh_from_db()
    assert run.crashes == 1


@pytest.mark.parametrize("status", ["completed", "failed", "cancelled"])
def test_an_ended_run_is_never_claimed(run: Run, status: str) -> None:
    Run.objects.filter(pk=run.pk).update(status=status)
    assert leases.claim_run(run.pk, "me") is None
    assert admission.claim_next("me") is None


@pytest.mark.parametrize(
    ("status", "tell"),
    [
        ("awaiting_clarification", lambda actor, run: runs.answer_questions(actor, run, ["Soft"])),
        ("awaiting_clarification", runs.skip_questions),
        ("awaiting_approval", runs.approve_plan),
        ("awaiting_approval", lambda actor, run: runs.send_back(actor, run, "Shorter")),
        ("paused", runs.resume_run),
        ("paused", runs.stop_and_report),
    ],
)
def test_a_waiting_run_is_claimed_once_somebody_has_acted(
    ada: AbstractUser, run: Run, status: str, tell: object
) -> None:
    Run.objects.filter(pk=run.pk).update(status=status)
    assert admission.claim_next("me") is None
    tell(ada, run)
    assert admission.claim_next("me")


def test_a_topic_added_to_a_paused_run_waits_for_the_resume(ada: AbstractUser, run: Run) -> None:
    Run.objects.filter(pk=run.pk).update(status="paused")
    runs.add_topic(ada, run, "Salt")
    assert admission.claim_next("me") is None
