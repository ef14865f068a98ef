"""Batched writer: one thread per process writes the engine's rows in bulk.

Work is queued (fan-in) and drained run by run, one transaction each, so that a failure affects
one run only. Every transaction starts with the epoch fence. A failed transaction poisons its
lease: whoever awaits it, or writes next under the same lease, gets the error.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Self, TypeVar

from django.db import connections, transaction
from django.db.models import F

from research.models.base import EngineRow
from research.operations.metrics import JOURNAL_SECONDS, JOURNAL_WAITING
from research.runtime.db_threads import with_fresh_connection
from research.worker import notify
from research.worker.leases import Lease, assert_lease

T = TypeVar("T")


@dataclass(frozen=True)
class Work:
    """Rows to upsert for one run, parents before children, and columns of the run itself.

    Later work with the same `key` replaces earlier work of a batch. `then` runs in the transaction
    after the rows. `visible` work increments the run's sequence.
    """

    lease: Lease
    rows: tuple[EngineRow, ...] = ()
    columns: Mapping[str, Any] = field(default_factory=dict)
    key: object = None
    then: Callable[[], object] | None = None
    visible: bool = True


@dataclass(frozen=True)
class _Queued:
    work: Work | None
    done: asyncio.Future[None] | None = None


class Writer:
    """Use with `async with Writer() as writer`, or `start` and `stop`, on one event loop."""

    def __init__(self) -> None:
        self._queue: deque[_Queued] = deque()
        self._wanted = asyncio.Event()
        self._failures: dict[Lease, BaseException] = {}
        self._task: asyncio.Task[None] | None = None
        self._thread: ThreadPoolExecutor | None = None

    async def __aenter__(self) -> Self:
        self.start()
        return self

    async def __aexit__(self, *exception: object) -> None:
        await self.stop()

    def start(self) -> None:
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="writer")
        self._task = asyncio.get_running_loop().create_task(self._drain(), name="writer")

    async def stop(self) -> None:
        """Write what is queued, then stop the task and the thread with its connection."""
        if self._task is None:
            return
        await self.flush()
        self._task.cancel()
        await asyncio.wait([self._task])
        self._task = None
        await self.call(connections.close_all)
        self._executor.shutdown()
        self._thread = None

    def post(self, work: Work) -> None:
        """Queue work without waiting; raise the error of an earlier write under this lease."""
        self._check(work.lease)
        self._put(_Queued(work))

    async def write(self, work: Work) -> None:
        """Return once the work, and everything queued before it, is durable.

        Raise `LeaseLostError`, or the error of the transaction.
        """
        self._check(work.lease)
        await self._write_and_wait(work)

    async def flush(self, lease: Lease | None = None) -> None:
        """Return once everything queued is written or has failed; raise the error of `lease`."""
        await self._write_and_wait(None)
        if lease is not None:
            self._check(lease)

    async def call(self, function: Callable[..., T], *arguments: object) -> T:
        """Run a function that uses the database in the writer's thread."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(
            self._executor, with_fresh_connection, function, *arguments
        )

    def failure(self, lease: Lease) -> BaseException | None:
        """Return the error of the writes under this lease, or None."""
        return self._failures.get(lease)

    def forget(self, lease: Lease) -> None:
        """Drop the stored error of a lease that is over."""
        self._failures.pop(lease, None)

    @property
    def _executor(self) -> ThreadPoolExecutor:
        if self._thread is None:
            raise RuntimeError("the writer is not started")
        return self._thread

    def _check(self, lease: Lease) -> None:
        failure = self._failures.get(lease)
        if failure is not None:
            raise failure

    def _put(self, queued: _Queued) -> None:
        if self._task is None:
            raise RuntimeError("the writer is not started")
        self._queue.append(queued)
        self._wanted.set()

    async def _write_and_wait(self, work: Work | None) -> None:
        done = asyncio.get_running_loop().create_future()
        self._put(_Queued(work, done))
        with JOURNAL_WAITING.track_inprogress(), JOURNAL_SECONDS.time():
            await done

    async def _drain(self) -> None:
        while True:
            await self._wanted.wait()
            self._wanted.clear()
            batch = list(self._queue)
            self._queue.clear()
            for lease, queued in _by_lease(batch).items():
                await self._commit(lease, queued)
            _settle_futures([one for one in batch if one.work is None], None)

    async def _commit(self, lease: Lease, queued: list[_Queued]) -> None:
        """Write one lease's work and pass the outcome to the waiters; never raise."""
        error = self._failures.get(lease)
        if error is None:
            works = _latest(one.work for one in queued if one.work is not None)
            job = asyncio.get_running_loop().run_in_executor(
                self._executor, with_fresh_connection, commit_works, lease, works
            )
            # not `await job`: its error must reach those who wait, not end the drain task
            await asyncio.wait([job])
            error = job.exception()
        if error is not None:
            self._failures[lease] = error
        _settle_futures(queued, error)


def commit_works(lease: Lease, works: list[Work]) -> None:
    """Write one run's work in one transaction; raise `LeaseLostError` if nothing may be written."""
    columns = {name: value for work in works for name, value in work.columns.items()}
    visible = any(work.visible for work in works)
    if visible:
        columns["sequence"] = F("sequence") + 1
    with transaction.atomic():
        assert_lease(lease, **columns)
        for model, rows in _by_model(row for work in works for row in work.rows).items():
            upsert_rows(model, rows)
        for work in works:
            if work.then is not None:
                work.then()
        if visible:
            notify.sequence_after_commit(lease.run_id)


def upsert_rows(model: type[EngineRow], rows: list[EngineRow]) -> None:
    """Insert rows, or update those whose natural key exists.

    Of mutable rows with the same key the last one wins: PostgreSQL rejects a statement that
    writes a row twice.
    """
    if model.immutable:
        model._default_manager.bulk_create(rows, ignore_conflicts=True)
        return
    rows = list({_key(row): row for row in rows}.values())
    kept = {*model.key_fields, "id", "created_at"}
    changing = [f.name for f in model._meta.concrete_fields if f.name not in kept]
    model._default_manager.bulk_create(
        rows, update_conflicts=True, unique_fields=model.key_fields, update_fields=changing
    )


def _key(row: EngineRow) -> tuple[object, ...]:
    return tuple(_key_value(row, row._meta.get_field(name)) for name in row.key_fields)


def _key_value(row: EngineRow, field: Any) -> object:
    """Return a key field's value. A parent inserted just before has its id, but the row's own
    foreign key column may not be set yet.
    """
    if field.is_relation and field.is_cached(row):
        return getattr(row, field.name).pk
    return getattr(row, field.attname)


def _by_lease(batch: list[_Queued]) -> dict[Lease, list[_Queued]]:
    found: dict[Lease, list[_Queued]] = {}
    for queued in batch:
        if queued.work is not None:
            found.setdefault(queued.work.lease, []).append(queued)
    return found


def _latest(works: Iterable[Work]) -> list[Work]:
    """Return the works in order, without those replaced by later ones of the same key."""
    latest: dict[object, Work] = {}
    for number, work in enumerate(works):
        key = number if work.key is None else work.key
        latest.pop(key, None)
        latest[key] = work
    return list(latest.values())


def _by_model(rows: Iterable[EngineRow]) -> dict[type[EngineRow], list[EngineRow]]:
    found: dict[type[EngineRow], list[EngineRow]] = {}
    for row in rows:
        found.setdefault(type(row), []).append(row)
    return found


def _settle_futures(batch: list[_Queued], error: BaseException | None) -> None:
    for queued in batch:
        if queued.done is None or queued.done.done():
            continue
        if error is None:
            queued.done.set_result(None)
        else:
            queued.done.set_exception(error)
