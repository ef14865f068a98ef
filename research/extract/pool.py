"""Process pool for CPU-bound text work, keeping the event loop responsive.

Each worker is a separate program (`worker.py`), started on first use: it imports neither Django
nor the caller's main module and can be killed at any time. One thread waits for each worker, so
a pool serves any event loop and synchronous code as well.
"""

from __future__ import annotations

import asyncio
import logging
import os
import pickle
import subprocess
import sys
import threading
import weakref
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from multiprocessing.connection import Connection, Pipe
from typing import Any, Generic, TypeVar

from research.errors import PlumblineError
from research.extract.extract import extract_page
from research.extract.extracted import EmptyPageError, Extracted
from research.extract.worker import READY
from research.operations.metrics import TEXT_TASKS

Item = TypeVar("Item")
Result = TypeVar("Result")
Outcome = tuple[bool, Any]

log = logging.getLogger(__name__)

START_SECONDS = 30.0
BATCH = 16


class PoolError(PlumblineError):
    """A task without a result; `reason` is a sentence that may be shown to users."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class TookTooLongError(PoolError):
    """The task exceeded its time limit; its worker was killed."""


class WorkerLostError(PoolError):
    """The worker died during the task, because of a crash or because the pool was closed."""


class UnreadableError(PoolError):
    """The page made its extractor fail in an unexpected way."""


class TextPool:
    """Extracts texts and runs other picklable functions in `workers` processes.

    Workers start when first needed and are replaced when they die. `close` kills them, tasks in
    progress included, and is final.
    """

    def __init__(self, workers: int | None = None) -> None:
        self.workers = workers or _cores()
        self._threads = ThreadPoolExecutor(self.workers, thread_name_prefix="text-pool")
        self._mine = threading.local()
        self._lock = threading.Lock()
        self._running: set[_Worker] = set()
        self._closed = False
        self._end = weakref.finalize(self, _end_all, self._running, self._lock)

    async def extract(
        self, body: bytes, content_type: str | None, url: str, timeout_seconds: float = 10.0
    ) -> Extracted:
        """Return the text of one page; raise `EmptyPageError` or a `PoolError`."""
        page = (body, content_type, url)
        try:
            return await self.run(extract_page, page, timeout_seconds=timeout_seconds)
        except (EmptyPageError, PoolError):
            raise
        except Exception as error:  # a reader raises anything on a broken page
            log.exception("A page of type %s broke its reader.", content_type)
            raise UnreadableError("the text of the page cannot be read") from error

    async def run(
        self, function: Callable[[Item], Result], item: Item, *, timeout_seconds: float
    ) -> Result:
        """Return `function(item)`, computed in a worker; raise what it raises, or `PoolError`."""
        outcomes = await asyncio.wrap_future(self._submit(function, [item], timeout_seconds))
        succeeded, value = outcomes[0]
        if not succeeded:
            raise value
        result: Result = value
        return result

    async def map(
        self,
        function: Callable[[Item], Result],
        items: Iterable[Item],
        *,
        batch: int = BATCH,
        timeout_seconds: float = 10.0,
    ) -> AsyncIterator[tuple[Item, Result | Exception]]:
        """Yield each item with its result or the exception it raised, in the order of `items`.

        Workers take `batch` items at a time. The time limit applies per item; an item that exceeds
        it doesn't affect the others. `items` is consumed only as results are taken (backpressure).
        """
        batches = _batches(items, batch)
        waiting: deque[_Batch[Item]] = deque()
        try:
            while True:
                for taken in islice(batches, self.workers + 1 - len(waiting)):
                    waiting.append(_Batch(taken, self._submit(function, taken, timeout_seconds)))
                if not waiting:
                    return
                done = waiting.popleft()
                outcomes = await asyncio.wrap_future(done.future)
                for item, (_, value) in zip(done.items, outcomes, strict=True):
                    yield item, value
        finally:
            for left in waiting:
                left.future.cancel()

    def close(self) -> None:
        """Kill the workers; tasks in progress raise `WorkerLostError`."""
        self._closed = True
        self._end()
        self._threads.shutdown(wait=False)

    def __enter__(self) -> TextPool:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _submit(
        self, function: Callable[[Item], Any], items: Sequence[Item], limit_seconds: float
    ) -> Future[list[Outcome]]:
        if self._closed:
            raise WorkerLostError("the text pool is closed")
        submitted = self._threads.submit(self._outcomes, function, items, limit_seconds)
        TEXT_TASKS.inc()
        submitted.add_done_callback(lambda _: TEXT_TASKS.dec())
        return submitted

    def _outcomes(
        self, function: Callable[[Item], Any], items: Sequence[Item], limit_seconds: float
    ) -> list[Outcome]:
        """Return one outcome per item, replacing workers that die."""
        outcomes: list[Outcome] = []
        while len(outcomes) < len(items):
            worker = self._worker()
            try:
                for outcome in worker.answers(function, items[len(outcomes) :], limit_seconds):
                    outcomes.append(outcome)
            except PoolError as failure:
                self._discard(worker)
                # the first item without an outcome is the one that the worker died of
                outcomes.append((False, failure))
        return outcomes

    def _worker(self) -> _Worker:
        """Return this thread's worker, restarting it if it was lost."""
        worker: _Worker | None = getattr(self._mine, "worker", None)
        if worker is None:
            worker = self._mine.worker = _Worker()
            with self._lock:
                self._running.add(worker)
        if self._closed:
            self._discard(worker)
            raise WorkerLostError("the text pool is closed")
        return worker

    def _discard(self, worker: _Worker) -> None:
        self._mine.worker = None
        with self._lock:
            self._running.discard(worker)
        worker.end()


class _Batch(Generic[Item]):
    def __init__(self, items: Sequence[Item], future: Future[list[Outcome]]) -> None:
        self.items = items
        self.future = future


class _Worker:
    """One worker process and the connection to it; used by a single thread.

    The thread that starts it must outlive it: Linux treats that thread as the parent whose
    death the process is signalled about.
    """

    def __init__(self) -> None:
        self._channel, theirs = Pipe()
        with theirs:
            self._process = _start_process(theirs)
        self._ready = False

    def answers(
        self, function: Callable[[Item], Any], items: Sequence[Item], limit_seconds: float
    ) -> Iterator[Outcome]:
        """Yield the outcomes of `items`; raise `PoolError` for the first item without one."""
        try:
            self._await_start()
            # `send` keeps a view of its buffer, which nothing can free once it has failed
            self._channel.send_bytes(pickle.dumps((function, items)))
            for _ in items:
                yield self._receive(limit_seconds)
        except (EOFError, OSError):
            raise WorkerLostError("the process that extracts pages crashed") from None

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()

    def end(self) -> None:
        self.kill()
        self._channel.close()

    def _await_start(self) -> None:
        if not self._ready:
            self._ready = self._receive(START_SECONDS) == READY

    def _receive(self, limit_seconds: float) -> Any:
        if not self._channel.poll(limit_seconds):
            raise TookTooLongError("the page took too long to read")
        return self._channel.recv()


def _start_process(channel: Connection) -> subprocess.Popen[bytes]:
    """Start a worker without the environment: code that reads untrusted pages needs no keys."""
    descriptor = channel.fileno()
    program = ("-P", "-m", "research.extract.worker", str(descriptor), str(os.getpid()))
    return subprocess.Popen(
        [sys.executable, *program],
        env={"PYTHONPATH": os.pathsep.join(entry or os.getcwd() for entry in sys.path)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        pass_fds=(descriptor,),
        process_group=0,
    )


def _end_all(running: set[_Worker], lock: threading.Lock) -> None:
    """Kill the workers of a pool that was closed or garbage-collected."""
    with lock:
        for worker in running:
            worker.kill()


def _batches(items: Iterable[Item], size: int) -> Iterator[list[Item]]:
    rest = iter(items)
    while taken := list(islice(rest, size)):
        yield taken


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
