from __future__ import annotations

import asyncio
from datetime import UTC, datetime

import pytest
from django.db import DataError, IntegrityError, connection
from django.db.models import F
from django.test.utils import CaptureQueriesContext

from research.models import Evidence, EvidenceSource, Problem, Run
from research.worker import leases, notify
from research.worker.leases import Lease, LeaseLostError
from research.worker.writer import Work, Writer, commit_works

pytestmark = pytest.mark.django_db(transaction=True)


def problem(run_id: int, number: int, message: str = "It failed.") -> Problem:
    return Problem(run_id=run_id, key=f"{number}", where=f"place {number}", message=message)


def claimed(run: Run) -> Lease:
    lease = leases.claim_run(run.pk, "test")
    assert lease
    return lease


def test_many_rows_take_one_statement(run: Run) -> None:
    lease = claimed(run)
    works = [Work(lease, (problem(run.pk, n),)) for n in range(50)]
    with CaptureQueriesContext(
        connection,
    ) as captured:
        commit_works(lease, works)
    assert run.problems.count() == 50
    inserts = [query for query in captured if query["sql"].startswith("INSERT")]
    assert len(inserts) == 1


def test_posted_work_is_written_in_bulk_and_bumps_once(run: Run) -> None:
    lease = claimed(run)
    told: list[tuple[str, int]] = []

    async def scenario() -> None:
        async with Writer() as writer:
            for number in range(200):
                writer.post(Work(lease, (problem(run.pk, number),)))
            await writer.flush(lease)

    notify.on_committed.append(lambda *change: told.append(change))
    try:
        asyncio.run(scenario())
    finally:
        notify.on_committed.pop()
    run.refresh_from_db()
    assert run.problems.count() == 200
    assert run.sequence == 1
    assert told == [(run.public_id, 1)]


def test_what_write_returned_from_is_durable(run: Run) -> None:
    lease = claimed(run)

    async def scenario() -> int:
        async with Writer() as writer:
            await writer.write(Work(lease, (problem(run.pk, 1),)))
            return await writer.call(run.problems.count)

    assert asyncio.run(scenario()) == 1


def test_later_work_of_a_key_stands_for_the_earlier(run: Run) -> None:
    lease = claimed(run)

    async def scenario() -> None:
        async with Writer() as writer:
            for message in ("first", "second", "third"):
                writer.post(Work(lease, (problem(run.pk, 1, message),), key="one"))

    asyncio.run(scenario())
    assert run.problems.get().message == "third"


def test_rows_of_one_key_are_written_once_and_the_last_one_counts(run: Run) -> None:
    lease = claimed(run)
    messages = ("first", "second", "third")
    commit_works(lease, [Work(lease, (problem(run.pk, 1, message),)) for message in messages])
    commit_works(lease, [Work(lease, tuple(problem(run.pk, 1, message) for message in messages))])
    assert run.problems.get().message == "third"


def test_parents_inserted_in_the_same_transaction_tell_their_children_apart(run: Run) -> None:
    lease = claimed(run)
    works = []
    for number in (1, 2):
        parent = evidence_row(run, number)
        works.append(Work(lease, (parent, *(quote_of(parent, at) for at in (0, 1)))))
    commit_works(lease, works)
    found = run.evidence.order_by("label").values_list("label", "quotes__position")
    assert sorted(found) == [("E1", 0), ("E1", 1), ("E2", 0), ("E2", 1)]


def evidence_row(run: Run, number: int) -> Evidence:
    return Evidence(
        run_id=run.pk, label=f"E{number}", position=number, claim="So.", round=1, relevance=0.5
    )


def quote_of(parent: Evidence, position: int) -> EvidenceSource:
    return EvidenceSource(
        evidence=parent, position=position, url="https://a.example/", domain="a.example",
        independence_key="a", quote="So.", start=0, end=3, text_sha256="0",
        fetched_at=datetime(2026, 1, 1, tzinfo=UTC),
    )  # fmt: skip


def test_a_late_writer_is_refused_and_writes_nothing(run: Run) -> None:
    lease = claimed(run)
    Run.objects.filter(pk=run.pk).update(lease_epoch=F("lease_epoch") + 1)

    async def scenario() -> None:
        async with Writer() as writer:
            with pytest.raises(LeaseLostError):
                await writer.write(Work(lease, (problem(run.pk, 1),), columns={"round": 9}))
            with pytest.raises(LeaseLostError):
                writer.post(Work(lease, (problem(run.pk, 2),)))

    asyncio.run(scenario())
    run.refresh_from_db()
    assert (run.problems.count(), run.round, run.sequence) == (0, 0, 0)


def test_a_failed_transaction_reaches_who_waits_and_who_comes_after(run: Run) -> None:
    lease = claimed(run)
    broken = Problem(run_id=run.pk, key="1", where=None, message="")

    async def scenario() -> None:
        async with Writer() as writer:
            with pytest.raises((IntegrityError, DataError)):
                await writer.write(Work(lease, (broken,), columns={"round": 9}))
            with pytest.raises((IntegrityError, DataError)):
                writer.post(Work(lease, (problem(run.pk, 2),)))
            with pytest.raises((IntegrityError, DataError)):
                await writer.flush(lease)

    asyncio.run(scenario())
    run.refresh_from_db()
    assert (run.problems.count(), run.round) == (0, 0)


def test_posted_work_that_fails_is_found_by_the_next_flush(run: Run) -> None:
    lease = claimed(run)

    async def scenario() -> None:
        async with Writer() as writer:
            writer.post(Work(lease, (Problem(run_id=run.pk, key="1", where=None),)))
            with pytest.raises((IntegrityError, DataError)):
                await writer.flush(lease)

    asyncio.run(scenario())


def test_one_run_s_failure_leaves_the_others_alone(run: Run, ada: object) -> None:
    from research.services import runs

    other = runs.ask_question(ada, "Another question")
    mine, theirs = claimed(run), claimed(other)

    async def scenario() -> None:
        async with Writer() as writer:
            writer.post(Work(mine, (Problem(run_id=run.pk, key="1", where=None),)))
            writer.post(Work(theirs, (problem(other.pk, 1),)))
            await writer.flush(theirs)

    asyncio.run(scenario())
    assert (run.problems.count(), other.problems.count()) == (0, 1)


def test_invisible_work_bumps_nothing(run: Run) -> None:
    lease = claimed(run)
    commit_works(lease, [Work(lease, (problem(run.pk, 1),), visible=False)])
    run.refresh_from_db()
    assert (run.problems.count(), run.sequence) == (1, 0)


def test_visible_work_bumps_whatever_is_beside_it(run: Run) -> None:
    lease = claimed(run)
    hidden = Work(lease, (problem(run.pk, 1),), visible=False)
    commit_works(lease, [hidden, Work(lease, (problem(run.pk, 2),))])
    run.refresh_from_db()
    assert (run.problems.count(), run.sequence) == (2, 1)


def test_what_follows_the_rows_runs_in_their_transaction(run: Run) -> None:
    lease, seen = claimed(run), []

    def look() -> None:
        seen.append((run.problems.count(), connection.in_atomic_block))

    commit_works(lease, [Work(lease, (problem(run.pk, 1),), then=look)])
    assert seen == [(1, True)]


def test_of_work_of_one_key_nothing_earlier_is_written_and_the_last_has_the_last_word(
    run: Run,
) -> None:
    lease = claimed(run)

    async def scenario() -> None:
        async with Writer() as writer:
            writer.post(Work(lease, (problem(run.pk, 1),), {"action": "one"}, key="state"))
            writer.post(Work(lease, (problem(run.pk, 2),), {"action": "two"}))
            writer.post(Work(lease, (problem(run.pk, 3),), {"action": "three"}, key="state"))
            await writer.flush(lease)

    asyncio.run(scenario())
    run.refresh_from_db()
    assert run.action == "three"
    assert set(run.problems.values_list("key", flat=True)) == {"2", "3"}
