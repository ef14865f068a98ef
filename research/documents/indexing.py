"""Background indexer: brings collections up to date, `SLOTS` at a time.

A collection is leased while it is indexed, and its row shows the progress. If the process is
killed, another one continues after the lease has expired. Folders of the server are rescanned
every few minutes, and before each run that searches them.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from itertools import chain, count
from pathlib import Path
from typing import Any

from django.db import Error as DatabaseError
from django.db.models import F, Q, QuerySet
from django.utils import timezone

from research.documents import uploads
from research.documents.folder import BrokenFile, DocumentError, FileAddressing, left_out
from research.documents.indexing_log import refresh_and_log
from research.documents.parse_document import Reading
from research.fulltext.index import DocumentIndex, IndexReport, Workers
from research.models import Collection
from research.runtime.db_threads import query_async
from research.worker.background import Wakeable
from research.worker.leases import database_now, new_owner

log = logging.getLogger(__name__)

LEASE_SECONDS = 15.0
LOOK_AGAIN = timedelta(minutes=5)

TELL_SECONDS = 0.5
POLL_SECONDS = 2.0
# More than one, so that a few files needn't wait for a large folder; the workers are shared.
SLOTS = 2
MOST_NAMED = 500
BROKEN = "Something went wrong while this was indexed; the server's log says more."

Parts = Callable[[], tuple[DocumentIndex, Workers]]


@dataclass(frozen=True)
class CollectionAddressing(FileAddressing):
    """Addresses under the name that the collection had when it was first indexed."""

    wanted: str = ""

    def name(self, folder: Path) -> str:
        return self.wanted or super().name(folder)


async def bring_up_to_date(
    collection: Collection,
    index: DocumentIndex,
    workers: Workers,
    heard: Callable[[int, int], None] | None = None,
) -> IndexReport:
    """Index the changes of a collection; raise `DocumentError`, also if it has no documents."""
    folder = await query_async(_folder_of, collection)
    addressing = CollectionAddressing(await query_async(_name_in_index, collection))
    return await refresh_and_log(index, folder, workers, addressing=addressing, heard=heard)


def _name_in_index(collection: Collection) -> str:
    """Return the collection's permanent name in the index, initially one that no other has."""
    if collection.index_name:
        return collection.index_name
    taken = set(Collection.objects.values_list("index_name", flat=True))
    numbered = (f"{collection.name}-{number}" for number in count(2))
    return next(name for name in chain([collection.name], numbered) if name not in taken)


def _folder_of(collection: Collection) -> Path:
    """Return the folder to index; uploads of a storage elsewhere are copied into it."""
    if collection.folder:
        return Path(collection.folder)
    files = dict(collection.files.values_list("name", "sha256"))
    return uploads.local_copy(collection.public_id, files)


class Indexer(Wakeable):
    """Brings collections up to date; the next start continues from what was indexed."""

    subject = "collections"
    tasks = SLOTS

    def __init__(
        self, parts: Parts, *, poll_seconds: float = POLL_SECONDS, owner: str = ""
    ) -> None:
        super().__init__(poll_seconds)
        self.parts = parts
        self.owner = owner or new_owner()

    async def prepare(self) -> None:
        await self.writer.call(make_due)
        await super().prepare()

    async def look(self) -> None:
        while await self.step():
            pass

    async def step(self) -> bool:
        """Index or clear away one collection; return False if none is due."""
        collection = await self.writer.call(claim_next_collection, self.owner)
        if collection is None:
            return False
        try:
            if collection.deleted_at:
                await self._clear_away(collection)
            else:
                await self._index(collection)
        except asyncio.CancelledError:
            await asyncio.shield(self.writer.call(release_collection, collection))
            raise
        return True

    async def _index(self, collection: Collection) -> None:
        """Index one collection; any error ends up in its row (error boundary)."""
        try:
            outcome = await self._indexed(collection)
        except Exception:  # shown on the collection's page; the indexer goes on with others
            log.exception("collection %s: not indexed", collection.public_id)
            outcome = {"problem": BROKEN}
        await self.writer.call(finish_indexing, collection, outcome)

    async def _indexed(self, collection: Collection) -> dict[str, Any]:
        index, workers = self.parts()
        seen = _Seen(workers)
        async with self._told(collection, seen):
            try:
                return _outcome(await bring_up_to_date(collection, index, seen, seen.hear))
            except DocumentError as error:
                return {**_NOTHING, "problem": await self._describe_problem(collection, error)}

    async def _describe_problem(self, collection: Collection, error: DocumentError) -> str:
        """Return why nothing is indexed; '' if no file has been uploaded yet."""
        is_filled = bool(collection.folder) or await self.writer.call(collection.files.exists)
        return error.reason if is_filled else ""

    async def _clear_away(self, collection: Collection) -> None:
        """Delete a collection's index, files and row; retry a failure after the lease expires."""
        try:
            index, _ = self.parts()
            if collection.index_name:
                await index.forget(collection.index_name)
            if not collection.folder:
                await asyncio.to_thread(uploads.remove_all, collection.public_id)
            await self.writer.call(collection.delete)
        except Exception:  # remote storage raises its client's own errors
            log.exception("collection %s: could not be deleted", collection.public_id)

    @asynccontextmanager
    async def _told(self, collection: Collection, seen: _Seen) -> AsyncIterator[None]:
        """Renew the lease and write the progress periodically while the body runs."""

        async def tell() -> None:
            while True:
                await asyncio.sleep(TELL_SECONDS)
                try:
                    await self.writer.call(renew_collection_lease, collection, seen.counts)
                except DatabaseError:
                    log.warning("the progress of indexing cannot be written", exc_info=True)

        telling = asyncio.get_running_loop().create_task(tell(), name="indexing progress")
        try:
            yield
        finally:
            telling.cancel()
            await asyncio.wait([telling])


class _Seen:
    """Wraps the workers and counts the files read; the index itself reports only per batch."""

    def __init__(self, workers: Workers) -> None:
        self._workers = workers
        self._before: int | None = None
        self._read = self._failed = self._total = 0

    def hear(self, done: int, total: int) -> None:
        """Take the index's progress; its first report counts the files that needn't be read."""
        self._before = done if self._before is None else self._before
        self._total = total

    @property
    def counts(self) -> dict[str, int]:
        done = min(self._total, (self._before or 0) + self._read)
        return {"done": done, "total": self._total, "failed": self._failed}

    async def map(
        self, function: Callable[[Any], Any], items: Iterable[Any], *, timeout_seconds: float
    ) -> AsyncIterator[tuple[Any, Any]]:
        async for item, outcome in self._workers.map(
            function, items, timeout_seconds=timeout_seconds
        ):
            self._read += 1
            self._failed += isinstance(outcome, Exception) or _is_unreadable(outcome)
            yield item, outcome


def _is_unreadable(reading: Reading) -> bool:
    return reading.reason is not None


_NOTHING: dict[str, Any] = {"documents": 0, "unreadable": [], "unreadable_count": 0}


def _outcome(report: IndexReport) -> dict[str, Any]:
    return {
        "index_name": report.collection,
        "documents": report.documents,
        "unreadable": [*map(_told_of, report.broken[:MOST_NAMED]), *_others(report)],
        "unreadable_count": len(report.broken),
        "problem": "",
    }


def _told_of(file: BrokenFile) -> list[str]:
    return [file.path, file.reason]


def _others(report: IndexReport) -> list[list[str]]:
    """Return the note on unsupported files; it concerns the whole folder, so its path is ""."""
    told = left_out(report.others)
    return [["", told]] if told else []


def claim_next_collection(owner: str) -> Collection | None:
    """Lease and return the next free collection that needs indexing; None if there is none.

    Unlike leases of runs these have no epoch: the index serialises writers itself, so a late writer
    does no harm.
    """
    now = database_now()
    looked_at_long_ago = ~Q(folder="") & Q(indexed_at__lt=now - LOOK_AGAIN)
    due = Collection.objects.filter(
        Q(deleted_at__isnull=False) | Q(indexed_revision__lt=F("revision")) | looked_at_long_ago
    ).filter(Q(lease_until=None) | Q(lease_until__lt=now))
    for key in due.order_by("created_at", "pk").values_list("pk", flat=True)[:10]:
        held = {"lease_owner": owner, "lease_until": now + timedelta(seconds=LEASE_SECONDS)}
        if due.filter(pk=key).update(**held, done=0, total=0, failed=0):
            return Collection.objects.get(pk=key)
    return None


def make_due() -> None:
    """Mark every collection for indexing, since the index may have been replaced."""
    Collection.objects.update(revision=F("revision") + 1)


def renew_collection_lease(collection: Collection, counts: dict[str, int]) -> None:
    until = database_now() + timedelta(seconds=LEASE_SECONDS)
    _held(collection).update(lease_until=until, **counts)


def finish_indexing(collection: Collection, outcome: dict[str, Any]) -> None:
    """Store the outcome and release the lease; changes made meanwhile leave the collection due."""
    _held(collection).update(
        indexed_revision=collection.revision,
        indexed_at=timezone.now(),
        lease_owner="",
        lease_until=None,
        **outcome,
    )


def release_collection(collection: Collection) -> None:
    _held(collection).update(lease_owner="", lease_until=None)


def _held(collection: Collection) -> QuerySet[Collection]:
    return Collection.objects.filter(pk=collection.pk, lease_owner=collection.lease_owner)
