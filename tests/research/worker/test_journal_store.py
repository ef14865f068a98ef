from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from django.contrib.auth.models import AbstractUser

from research.engine.journal import Entry
from research.models import Command, JournalEntry, PageText, Run, RunPage
from research.services import runs
from research.worker import leases
from research.worker.journal_store import DjangoInbox, DjangoStore, RecordedStore
from research.worker.leases import Lease, LeaseLostError
from research.worker.writer import Writer
from tests.research.scripts import page_at

pytestmark = pytest.mark.django_db(transaction=True)

PENDING = Entry("round/1/unit/1/read", 1, "model", "pending", "hash", {"prompt": "…"})
DONE = replace(PENDING, status="done", answer={"text": "{}"}, seconds=1.25)


def claimed(run: Run) -> Lease:
    lease = leases.claim_run(run.pk, "test")
    assert lease
    return lease


def test_entries_come_back_as_they_were_put(run: Run) -> None:
    async def scenario() -> list[Entry]:
        async with Writer() as writer:
            store = DjangoStore(claimed_lease, writer)
            await store.put(PENDING)
            await store.put(DONE)
            await store.put(replace(DONE, attempt=2))
            await store.put(Entry("commands/1", 1, "decision", "done", "", {}, []))
            return await DjangoStore(claimed_lease, writer).load()

    claimed_lease = claimed(run)
    assert asyncio.run(scenario()) == [
        DONE,
        replace(DONE, attempt=2),
        Entry("commands/1", 1, "decision", "done", "", {}, []),
    ]
    run.refresh_from_db()
    assert run.sequence == 0


def test_a_place_may_be_longer_than_an_index_can_hold(run: Run) -> None:
    long = replace(DONE, place="fetch/https://eggs.example/" + "x" * 9_000)
    lease = claimed(run)

    async def scenario() -> list[Entry]:
        async with Writer() as writer:
            store = DjangoStore(lease, writer)
            await store.put(long)
            return await store.load()

    assert asyncio.run(scenario()) == [long]


def test_a_page_text_is_stored_once_and_shared(run: Run, ada: AbstractUser) -> None:
    other = runs.ask_question(ada, "Another question")
    page = page_at("https://eggs.example/a")
    mirror = replace(page, url="https://mirror.example/a")

    async def scenario(lease: Lease) -> str:
        async with Writer() as writer:
            store = DjangoStore(lease, writer)
            await store.put_page(page)
            await store.put_page(mirror)
            await store.put(DONE)
            return await DjangoStore(lease, writer).page_text(page.sha256)

    assert asyncio.run(scenario(claimed(run))) == page.text
    assert asyncio.run(scenario(claimed(other))) == page.text
    assert PageText.objects.count() == 1
    assert RunPage.objects.count() == 4


def test_a_document_s_text_stays_within_its_collection(run: Run) -> None:
    page = page_at("https://eggs.example/a")
    document = replace(page, url="file:///recipes/eggs.md", domain="recipes")
    lease = claimed(run)

    async def scenario() -> None:
        async with Writer() as writer:
            store = DjangoStore(lease, writer)
            await store.put_page(page)
            await store.put_page(document)
            await writer.flush(lease)

    asyncio.run(scenario())
    scopes = PageText.objects.order_by("scope").values_list("scope", "sha256")
    assert list(scopes) == [("collection:recipes", page.sha256), ("public", page.sha256)]


def test_another_run_s_page_is_not_to_be_had_by_its_hash(run: Run, ada: AbstractUser) -> None:
    page = page_at("https://eggs.example/a")
    mine, theirs = claimed(run), claimed(runs.ask_question(ada, "Another question"))

    async def scenario() -> None:
        async with Writer() as writer:
            await DjangoStore(mine, writer).put_page(page)
            await writer.flush()
            with pytest.raises(PageText.DoesNotExist):
                await DjangoStore(theirs, writer).page_text(page.sha256)

    asyncio.run(scenario())


def test_a_command_is_taken_in_the_transaction_of_its_entry(run: Run, ada: AbstractUser) -> None:
    runs.add_topic(ada, _researching(run), "Salt")
    runs.stop_and_report(ada, run)
    lease = claimed(run)

    async def scenario() -> list[dict[str, object]]:
        async with Writer() as writer:
            inbox, store = DjangoInbox(run.pk, writer), DjangoStore(lease, writer)
            waiting = await inbox.take(frozenset({"add_topic"}))
            entry = Entry("commands/round/1", 1, "decision", "done", "", {}, waiting)
            await store.put(entry)
            assert await inbox.take(frozenset({"add_topic"})) == []
            return waiting

    [taken] = asyncio.run(scenario())
    assert (taken["kind"], taken["topic"]) == ("add_topic", "Salt")
    places = Command.objects.order_by("pk").values_list("kind", "taken_at_place")
    assert list(places) == [("add_topic", "commands/round/1"), ("stop", None)]


def test_an_entry_under_a_lost_lease_is_refused(run: Run) -> None:
    lease = claimed(run)
    leases.release_lease(lease)

    async def scenario() -> None:
        async with Writer() as writer:
            with pytest.raises(LeaseLostError):
                await DjangoStore(lease, writer).put(DONE)

    asyncio.run(scenario())
    assert not JournalEntry.objects.exists()


def test_the_journal_loads_in_one_query(run: Run, django_assert_num_queries: object) -> None:
    from research.worker.journal_store import load_entries

    lease = claimed(run)

    async def scenario() -> None:
        async with Writer() as writer:
            for attempt in range(1, 20):
                await DjangoStore(lease, writer).put(replace(DONE, attempt=attempt))

    asyncio.run(scenario())
    with django_assert_num_queries(1):
        assert len(load_entries(run.pk)) == 19


def test_a_recorded_store_reads_and_writes_nothing(run: Run) -> None:
    from asgiref.sync import async_to_sync

    lease = claimed(run)
    page = page_at("https://eggs.example/a")

    async def record() -> None:
        async with Writer() as writer:
            store = DjangoStore(lease, writer)
            await store.put_page(page)
            await store.put(DONE)

    async def replay() -> None:
        store = RecordedStore(run)
        assert await store.load() == [DONE]
        assert await store.page_text(page.sha256) == page.text
        await store.put(replace(DONE, attempt=7))

    asyncio.run(record())
    async_to_sync(replay)()
    assert run.journal.count() == 1


def _researching(run: Run) -> Run:
    Run.objects.filter(pk=run.pk).update(status="researching")
    return run
