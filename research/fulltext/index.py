"""A full-text index of documents: one for any number of folders, in SQLite or PostgreSQL.

Texts are extracted in worker processes and written in bulk by one thread; queries run in a few
threads, so that the event loop waits for neither. A stored text is immutable and identified by
(hash of the file's bytes, content type, extractor version).
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Concatenate, ParamSpec, Protocol, TypeVar

from research.documents.folder import (
    Addressing,
    BrokenFile,
    DocumentError,
    FileAddressing,
    FoundFile,
    left_out,
    scan_folder,
)
from research.documents.parse_document import Reading, ReadingTask
from research.extract.pool import PoolError, WorkerLostError
from research.fulltext import index_queries, index_rows, meaning
from research.fulltext.index_queries import Found, IndexedDocument, IndexHit, ListedDocument
from research.fulltext.index_sqlite import SqliteStore
from research.fulltext.index_store import Connection, IndexStore
from research.fulltext.meaning import Embedder
from research.fulltext.ranking import Weights

Progress = Callable[[int, int], None]

_BATCH = 48
# For one file: a PDF of two thousand pages takes its time.
_READ_SECONDS = 180.0
_QUERY_THREADS = 4
_EMBEDDED_AT_ONCE = 16

Item = TypeVar("Item")
Result = TypeVar("Result")
P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True)
class IndexReport:
    """A folder after a refresh: documents that can be searched, and what was new or gone.

    `others` are the endings of its files of other kinds, one for each file.
    """

    collection: str
    documents: int
    changed: int
    removed: int
    broken: tuple[BrokenFile, ...] = ()
    others: tuple[str, ...] = ()


class Workers(Protocol):
    """The part of a `TextPool` that the index uses."""

    def map(
        self,
        function: Callable[[Item], Result],
        items: Iterable[Item],
        *,
        timeout_seconds: float,
    ) -> AsyncIterator[tuple[Item, Result | Exception]]: ...


class DocumentIndex:
    """Collections of documents, searched with BM25; usable from any task until `close`."""

    def __init__(self, place: Path | str | IndexStore, *, weights: Weights | None = None) -> None:
        """`place` is the path of an SQLite file, or a store in another database."""
        self._store: IndexStore = (
            SqliteStore(Path(place)) if isinstance(place, Path | str) else place
        )
        self._weights = weights or Weights()
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="document-writer")
        self._readers = ThreadPoolExecutor(_QUERY_THREADS, thread_name_prefix="document-reader")
        self._refreshing: dict[Path, asyncio.Lock] = defaultdict(asyncio.Lock)

    async def refresh(
        self,
        folder: Path | str,
        workers: Workers,
        progress: Progress | None = None,
        *,
        addressing: Addressing | None = None,
    ) -> IndexReport:
        """Brings the folder's collection up to date; `progress` hears files done and in all.

        Two refreshes of one folder take turns; those of different folders share the workers.
        Raises `DocumentError` for a folder that is missing, unreadable or without documents.
        """
        path = Path(folder)
        async with self._refreshing[path.expanduser().resolve()]:
            try:
                return await self._refresh(
                    path, workers, progress or _silent, addressing or FileAddressing()
                )
            except self._store.errors as error:
                raise DocumentError("The index of the documents cannot be written.") from error

    async def search(
        self,
        query: str,
        collections: Sequence[str],
        limit: int,
        embedder: Embedder | None = None,
    ) -> list[IndexHit]:
        """Return the best documents of the named collections, best first; ties by address.

        They are ranked by their words, and with an `embedder` by their meaning, too; its errors are
        passed on.
        """
        asked = (self._store.full_text, query, collections, limit, self._weights)
        found = await self._read(index_queries.find_documents, *asked)
        if embedder is not None and found.whole:
            found = await self._rank_by_meaning(found, embedder)
        return await self._read(index_queries.hits_of, found, limit)

    async def document(self, url: str, collections: Sequence[str]) -> IndexedDocument | None:
        """Return the stored text at an address of the named collections."""
        return await self._read(index_queries.find_document, url, collections)

    async def count_documents(self, collection: str, text: str = "") -> int:
        """Return how many documents of a collection have the text in their path or title."""
        return await self._read(index_queries.count_listed, collection, text)

    async def list_documents(
        self, collection: str, text: str, start: int, most: int
    ) -> list[ListedDocument]:
        """Return those documents by path, from the place `start` (from 0) on."""
        return await self._read(index_queries.list_documents, collection, text, start, most)

    async def collections(self) -> list[str]:
        """Return the names of all collections."""
        return await self._read(index_queries.collection_names)

    async def forget(self, collection: str) -> None:
        """Removes a collection; the folder itself is not touched."""
        await self._write(index_rows.forget_collection, self._store.full_text, collection)

    def close(self) -> None:
        """Waits for what is under way and closes the database."""
        self._writer.shutdown()
        self._readers.shutdown()
        self._store.close()

    async def _refresh(
        self, folder: Path, workers: Workers, progress: Progress, addressing: Addressing
    ) -> IndexReport:
        loop = asyncio.get_running_loop()
        listing = await loop.run_in_executor(self._writer, scan_folder, folder)
        root = folder.expanduser().resolve()
        collection = await self._write(
            index_rows.open_collection, str(root), addressing, addressing.name(root)
        )
        plan = await self._write(
            index_rows.plan_refresh, self._store.full_text, collection, listing.files
        )
        if not listing.files:
            told = f"The folder {folder} holds no documents that can be read."
            others = left_out(listing.others)
            raise DocumentError(f"{told} {others}." if others else told)
        changed = await self._read_changed(collection, plan.tasks, listing.files, workers, progress)
        if changed or plan.removed:
            await self._write(self._store.full_text.settle)
        return IndexReport(
            collection=collection.name,
            documents=await self._read(index_rows.count_documents, collection),
            changed=changed,
            removed=plan.removed,
            broken=(*listing.broken, *await self._read(index_rows.broken_files, collection)),
            others=listing.others,
        )

    async def _read_changed(
        self,
        collection: index_rows.CollectionRow,
        tasks: Sequence[ReadingTask],
        files: Sequence[FoundFile],
        workers: Workers,
        progress: Progress,
    ) -> int:
        """Reads and stores what is new; the workers read on while a batch is written."""
        found = {file.path: file for file in files}
        changed, done = 0, len(files) - len(tasks)
        progress(done, len(files))
        outcomes = workers.map(self._store.reader, tasks, timeout_seconds=_READ_SECONDS)
        async for readings in _batches(outcomes):
            changed += await self._write(
                index_rows.store_documents, self._store.full_text, collection, found, readings
            )
            done += len(readings)
            progress(done, len(files))
        return changed

    async def _rank_by_meaning(self, found: Found, embedder: Embedder) -> Found:
        """Rank documents by the vectors of their passages.

        Missing ones are made and kept batch by batch, so that a slow model gets further each time.
        """
        passages = meaning.compared_passages(found)
        if not passages:
            return found
        vectors, texts = await self._read(meaning.stored_vectors, embedder.name, passages)
        queries = await embedder.embed_queries(meaning.asked_texts(found))
        missing = list(texts)
        for at in range(0, len(missing), _EMBEDDED_AT_ONCE):
            batch = missing[at : at + _EMBEDDED_AT_ONCE]
            made = await embedder.embed_passages([texts[passage] for passage in batch])
            new = dict(zip(batch, made, strict=True))
            await self._write(meaning.store_vectors, embedder.name, new)
            vectors |= new
        return meaning.rank_by_meaning(found, queries, vectors)

    async def _read(
        self,
        function: Callable[Concatenate[Connection, P], T],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        def query() -> T:
            try:
                with self._store.snapshot() as connection:
                    return function(connection, *args, **kwargs)
            except self._store.errors as error:
                raise DocumentError("The index of the documents cannot be read.") from error

        return await asyncio.get_running_loop().run_in_executor(self._readers, query)

    async def _write(
        self,
        function: Callable[Concatenate[Connection, P], T],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        def transact() -> T:
            with self._store.transaction() as connection:
                return function(connection, *args, **kwargs)

        return await asyncio.get_running_loop().run_in_executor(self._writer, transact)


async def _batches(
    outcomes: AsyncIterator[tuple[ReadingTask, Reading | Exception]],
) -> AsyncIterator[list[Reading]]:
    batch: list[Reading] = []
    async for task, outcome in outcomes:
        batch.append(_failed(task, outcome) if isinstance(outcome, Exception) else outcome)
        if len(batch) == _BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


def _failed(task: ReadingTask, failure: Exception) -> Reading:
    """Return a file that broke its reader; one whose worker was lost gets another chance later."""
    reason = failure.reason if isinstance(failure, PoolError) else "the text cannot be read"
    return Reading(task.path, reason=reason, retry=isinstance(failure, WorkerLostError))


def _silent(done: int, total: int) -> None:
    """Discard progress."""
