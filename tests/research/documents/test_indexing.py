"""The indexer: what it brings up to date, what it says meanwhile, and what it survives."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.contrib.auth.models import AbstractUser
from django.utils import timezone
from pytest_django import Settings

from research.documents.indexing import (
    BROKEN,
    SLOTS,
    Indexer,
    bring_up_to_date,
    claim_next_collection,
    finish_indexing,
)
from research.documents.try_search import (
    Passage,
    count_documents,
    list_documents,
    section_of,
    try_search,
)
from research.models import Collection
from research.runtime import tool_factory
from research.services import documents
from tests.research.collections import GRANARY, LEASE, apart, filled, forget_index, index_all, sent
from tests.support.retrieval.folders import InProcess, write
from tests.support.retrieval.papers import pdf

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.subprocess]


@pytest.fixture(autouse=True)
def state(settings: Settings, tmp_path: Path, transactional_db: None) -> Iterator[Path]:
    settings.STATE_DIR = tmp_path / "state"
    settings.STATE_DIR.mkdir()
    yield settings.STATE_DIR
    forget_index()


def now(collection: Collection) -> Collection:
    return Collection.objects.get(pk=collection.pk)


def tried(collection: Collection, query: str) -> list[Passage]:
    return async_to_sync(try_search)(now(collection), query)


class Held(InProcess):
    """Stops before the second file until it is let go."""

    def __init__(self) -> None:
        super().__init__()
        self.waits, self.goes_on = asyncio.Event(), asyncio.Event()

    async def map(
        self, function: Any, items: Any, *, timeout_seconds: float
    ) -> AsyncIterator[tuple[Any, Any]]:
        async for outcome in super().map(function, items, timeout_seconds=timeout_seconds):
            yield outcome
            self.waits.set()
            await self.goes_on.wait()


def test_documents_are_listed_by_path_and_found_by_a_part_of_a_name(
    ada: AbstractUser, tmp_path: Path
) -> None:
    files = {"b/granary.txt": GRANARY, "a/Lease_1.md": LEASE, "c.pdf": "no"}
    papers = write(tmp_path / "papers", files)
    made = Collection.objects.create(owner=ada, name="Papers", folder=str(papers))
    index_all()

    def listed(text: str, start: int = 0, most: int = 9) -> list[str]:
        found = async_to_sync(list_documents)(now(made), text, start, most)
        return [f"{each.path}: {each.title}" for each in found]

    lease, granary = "a/Lease_1.md: Lease of the mill", "b/granary.txt: granary.txt"
    assert listed("") == [lease, granary]
    assert listed("", 1, 1) == [granary]
    assert listed("OF THE") == listed("lease_") == listed("e_1") == [lease]
    assert listed("%") == listed("e!1") == []
    assert async_to_sync(count_documents)(now(made), "") == 2
    assert async_to_sync(count_documents)(now(made), "granary") == 1


def test_uploaded_files_are_read_and_found_where_they_stand(ada: AbstractUser) -> None:
    mill = filled(ada, "The mill", lease__md=LEASE, granary__txt=GRANARY)
    assert (mill.state, index_all()) == ("waiting", 1)
    assert (now(mill).state, now(mill).documents) == ("ready", 2)
    [first, *_] = tried(mill, "When does a tenant pay the rent?")
    assert (first.title, first.url) == ("Lease of the mill", "file:///The%20mill/lease.md")
    assert first.section == "Rent" and "1,200 crowns" in first.text
    assert first.matches("pays") and first.matches("rent") and not first.matches("the")


def test_a_passage_of_a_pdf_names_its_page(ada: AbstractUser) -> None:
    mill = filled(ada, "The mill", log__pdf=pdf("The first page is of wheels.", GRANARY))
    index_all()
    assert [found.section for found in tried(mill, "granary limestone")] == ["Page 2"]


def test_a_file_that_cannot_be_read_is_listed_and_the_rest_is_found(ada: AbstractUser) -> None:
    mill = filled(ada, "The mill", broken__pdf=b"%PDF-1.7 no", lease__md=LEASE)
    index_all()
    assert (now(mill).state, now(mill).documents, now(mill).unreadable_count) == ("ready", 1, 1)
    assert now(mill).unreadable == [["broken.pdf", "the PDF is damaged and cannot be read"]]


def test_what_is_changed_added_or_removed_is_noticed_and_nothing_else_read(
    ada: AbstractUser,
) -> None:
    mill = filled(ada, "The mill", lease__md=LEASE, granary__txt=GRANARY)
    index_all()
    documents.add_files(ada, mill, [sent("lease.md", "# Lease\n\nThe rent is 900 florins.")])
    documents.remove_file(ada, mill, "granary.txt")
    workers = InProcess()
    index_all(workers)
    assert workers.read == ["lease.md"]
    assert "florins" in tried(mill, "rent")[0].text and tried(mill, "granary") == []


def test_a_collection_without_files_is_empty_and_no_failure(ada: AbstractUser) -> None:
    made = documents.create_collection(ada, "Nothing yet")
    index_all()
    assert (now(made).state, now(made).problem) == ("empty", "")
    mill = filled(ada, "The mill", lease__md=LEASE)
    index_all()
    documents.remove_file(ada, mill, "lease.md")
    index_all()
    assert now(mill).state == "empty" and tried(mill, "rent") == []


def test_a_folder_that_went_away_says_so_and_is_looked_at_again(
    staff: AbstractUser, tmp_path: Path
) -> None:
    papers = write(tmp_path / "papers", {"a/lease.md": LEASE})
    made = documents.create_from_folder(staff, "", str(papers))
    index_all()
    assert (now(made).documents, tried(made, "rent")[0].url) == (1, "file:///papers/a/lease.md")
    papers.rename(tmp_path / "elsewhere")
    documents.look_again(staff, made)
    index_all()
    assert now(made).state == "failed" and "does not exist" in now(made).problem
    (tmp_path / "elsewhere").rename(papers)
    write(papers, {"b.md": GRANARY})
    assert index_all() == 0
    Collection.objects.update(indexed_at=timezone.now() - timedelta(minutes=6))
    assert index_all() == 1
    assert (now(made).state, now(made).documents) == ("ready", 2)


def test_collections_of_one_name_stay_apart(ada: AbstractUser, bob: AbstractUser) -> None:
    mine = filled(ada, "The mill", lease__md=LEASE)
    theirs = filled(bob, "The mill", granary__txt=GRANARY)
    index_all()
    assert tried(mine, "granary") == [] and tried(theirs, "rent") == []
    assert len({now(mine).index_name, now(theirs).index_name}) == 2


def test_a_name_in_a_lost_index_is_taken_by_nobody_else(
    ada: AbstractUser, bob: AbstractUser, state: Path
) -> None:
    """Else its owner would search the other's documents until it is indexed again."""
    mill = filled(ada, "The mill", lease__md=LEASE)
    index_all()
    async_to_sync(tool_factory.close_tools)()
    for part in state.glob("documents.sqlite3*"):
        part.unlink()
    other = filled(bob, "The mill", granary__md=GRANARY)
    index, pool = tool_factory.index_and_pool()
    report = async_to_sync(bring_up_to_date)(other, index, pool)
    assert report.collection != now(mill).index_name
    assert tried(mill, "granary") == []


def test_a_renamed_collection_keeps_its_addresses(ada: AbstractUser) -> None:
    mill = filled(ada, "The mill", lease__md=LEASE)
    index_all()
    documents.change_collection(ada, mill, "Leases", shared=False)
    documents.add_files(ada, mill, [sent("granary.txt", GRANARY)])
    index_all()
    assert tried(mill, "granary")[0].url == "file:///The%20mill/granary.txt"


def test_a_deleted_collection_leaves_the_index_and_the_database(ada: AbstractUser) -> None:
    mill = filled(ada, "The mill", lease__md=LEASE)
    index_all()
    documents.delete_collection(ada, mill)
    assert index_all() == 1 and not Collection.objects.exists()
    assert async_to_sync(tool_factory.index_and_pool()[0].collections)() == []


async def test_those_that_cannot_be_cleared_away_keep_nobody_from_being_indexed(
    ada: AbstractUser, state: Path
) -> None:
    old = [await apart(documents.create_collection, ada, name) for name in ("The mill", "The inn")]
    blocked = [state / "documents" / each.public_id for each in old]
    blocked[0].parent.mkdir()
    for each, path in zip(old, blocked, strict=True):
        path.write_text("a file where a folder should be")
        await apart(documents.delete_collection, ada, each)
    indexer = Indexer(lambda: (tool_factory.index_and_pool()[0], InProcess()), poll_seconds=0.05)
    await indexer.start()
    try:
        await _until(lambda: all(now(each).lease_until for each in old))
        farm = await apart(filled, ada, "The farm", lease__md=LEASE)
        await _until(lambda: now(farm).state == "ready")
        for path in blocked:
            path.unlink()
        await apart(Collection.objects.exclude(pk=farm.pk).update, lease_until=timezone.now())
        await _until(lambda: Collection.objects.count() == 1)
    finally:
        await indexer.stop()


async def _until(condition: Any) -> None:
    async with asyncio.timeout(10):
        while not await apart(condition):
            await asyncio.sleep(0.02)


async def test_a_failure_is_the_collection_s_state_and_the_indexer_goes_on(
    ada: AbstractUser,
) -> None:
    """Of one more than can be worked on side by side."""
    mills = [await apart(filled, ada, f"Mill {n}", lease__md=LEASE) for n in range(SLOTS + 1)]

    def broken() -> Any:
        raise RuntimeError("no process can be started")

    indexer = Indexer(broken, poll_seconds=0.05)
    await indexer.start()
    try:
        await _until(lambda: all(now(each).state == "failed" for each in mills))
        assert {(await apart(now, each)).problem for each in mills} == {BROKEN}
        indexer.parts = lambda: (tool_factory.index_and_pool()[0], InProcess())
        for each in mills:
            await apart(documents.look_again, ada, each)
        await _until(lambda: all(now(each).state == "ready" for each in mills))
    finally:
        await indexer.stop()


async def test_it_tells_how_far_it_is_and_takes_up_what_came_meanwhile(ada: AbstractUser) -> None:
    mill = await apart(filled, ada, "The mill", broken__pdf=b"no", lease__md=LEASE, x__md=GRANARY)
    workers = Held()
    indexer = Indexer(lambda: (tool_factory.index_and_pool()[0], workers), poll_seconds=60)
    await indexer.start()
    await workers.waits.wait()
    await _until(lambda: now(mill).total)
    seen = await apart(now, mill)
    assert (seen.state, seen.done, seen.total, seen.failed) == ("indexing", 1, 3, 1)
    workers.goes_on.set()
    await _until(lambda: now(mill).state == "ready")
    await apart(documents.add_files, ada, mill, [sent("new.md", "New words.")])
    await _until(lambda: now(mill).documents == 3)
    await indexer.stop()


async def test_a_few_files_need_not_wait_for_a_large_collection(ada: AbstractUser) -> None:
    large = await apart(filled, ada, "Large", lease__md=LEASE, x__md=GRANARY)
    workers = Held()
    indexer = Indexer(lambda: (tool_factory.index_and_pool()[0], workers))
    await indexer.start()
    await workers.waits.wait()
    indexer.parts = lambda: (tool_factory.index_and_pool()[0], InProcess())
    small = await apart(filled, ada, "Small", lease__md=LEASE)
    await _until(lambda: now(small).state == "ready")
    assert (await apart(now, large)).state == "indexing"
    workers.goes_on.set()
    await _until(lambda: now(large).state == "ready")
    await indexer.stop()


async def test_one_that_is_stopped_gives_its_collection_back(ada: AbstractUser) -> None:
    mill = await apart(filled, ada, "The mill", lease__md=LEASE, x__md=GRANARY)
    workers = Held()
    indexer = Indexer(lambda: (tool_factory.index_and_pool()[0], workers))
    await indexer.start()
    await workers.waits.wait()
    await indexer.stop()
    assert (await apart(now, mill)).state == "waiting"
    assert await apart(index_all) == 1
    assert (await apart(now, mill)).state == "ready"


async def test_an_index_that_was_lost_is_made_anew_at_the_next_start(
    ada: AbstractUser, state: Path
) -> None:
    mill = await apart(filled, ada, "The mill", lease__md=LEASE)
    await apart(index_all)
    await tool_factory.close_tools()
    for part in state.glob("documents.sqlite3*"):
        part.unlink()
    indexer = Indexer(tool_factory.index_and_pool)
    await indexer.start()
    await _until(lambda: now(mill).state == "ready")
    await indexer.stop()
    found = await try_search(await apart(now, mill), "rent")
    assert [passage.title for passage in found] == ["Lease of the mill"]


def test_one_that_was_killed_is_followed_when_its_lease_has_run_out(ada: AbstractUser) -> None:
    mill = filled(ada, "The mill", lease__md=LEASE)
    late = claim_next_collection("dead")
    assert late is not None and index_all() == 0
    Collection.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
    assert index_all() == 1
    finish_indexing(late, {"documents": 99})
    assert now(mill).documents == 1


@pytest.mark.parametrize(
    ("snippet", "section"),
    [
        ("Alpha one two three four five six", "First"),
        ("Second Beta one", "Second"),
        ("Beta one…", "Second"),
        ("item one item two", "Second"),
        ("- item one - item two", "Second"),
        ("nowhere in it", ""),
        ("", ""),
    ],
)
def test_a_snippet_is_found_in_its_text(snippet: str, section: str) -> None:
    text = (
        "Preface.\n\n# First\n\nAlpha one two\nthree four five six.\n\n## Second\n\nBeta one.\n\n"
        "- item one\n- item two\n\n# Third\n\nGamma."
    )
    assert section_of(text, snippet) == section
