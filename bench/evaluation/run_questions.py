"""Runs all questions in parallel worker processes and yields outcomes as they complete.

Each worker reads from a separate pipe, so it ends with the process that started it.
"""

from __future__ import annotations

import asyncio
import signal
from collections import deque
from collections.abc import Iterator, Sequence
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import TYPE_CHECKING

from bench.evaluation.cases import Case
from bench.evaluation.measuring import measure
from bench.evaluation.pool import COLLECTION
from bench.evaluation.results import Failed, Job, Outcome
from research.engine import Tools
from research.fulltext.index import DocumentIndex
from research.llm.settings import ModelSettings
from research.runtime.program import SystemClock
from research.search.documents import DocumentFetch, DocumentSearch

if TYPE_CHECKING:
    from research.llm.client import ChatModel

WORKERS = 2
BROKE_OFF = "A worker process broke off; what was done is kept, and a rerun goes on from there."


class WorkerBroke(RuntimeError):
    """A worker process ended before its question was finished."""


# --- in the parent ----------------------------------------------------------------------------


def run_cases(cases: Sequence[Case], job: Job) -> Iterator[Outcome | Failed]:
    """Yield outcomes as they complete. Raise `WorkerBroke`."""
    waiting = deque(cases)
    team = [_start(job) for _ in range(min(WORKERS, len(cases)))]
    try:
        busy = {channel for channel, _ in team if _hand_out(channel, waiting)}
        while busy:
            for channel in wait(list(busy)):
                assert isinstance(channel, Connection)
                yield _receive(channel)
                if not _hand_out(channel, waiting):
                    busy.discard(channel)
    finally:
        for channel, process in team:
            channel.close()
            process.terminate()
            process.join()


def _start(job: Job) -> tuple[Connection, BaseProcess]:
    context = get_context("spawn")
    mine, theirs = context.Pipe()
    with theirs:
        process = context.Process(target=work, args=(theirs, job), daemon=True)
        process.start()
    return mine, process


def _hand_out(channel: Connection, waiting: deque[Case]) -> bool:
    if not waiting:
        return False
    try:
        channel.send(waiting.popleft())
    except OSError:
        raise WorkerBroke(BROKE_OFF) from None
    return True


def _receive(channel: Connection) -> Outcome | Failed:
    try:
        outcome: Outcome | Failed = channel.recv()
    except (EOFError, OSError):
        raise WorkerBroke(BROKE_OFF) from None
    return outcome


# --- in a worker ------------------------------------------------------------------------------


def work(channel: Connection, job: Job) -> None:
    """Answer questions from the pipe until it is closed. The parent handles Ctrl-C."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    asyncio.run(_serve(channel, job))


async def _serve(channel: Connection, job: Job) -> None:
    index, names = DocumentIndex(job.library.index_path), [COLLECTION]
    model = _client(job.model) if job.model else None
    tools = Tools(DocumentSearch(index, names), DocumentFetch(index, names), SystemClock(), model)
    try:
        while True:
            channel.send(await _answer(channel.recv(), job, tools))
    except (EOFError, OSError):
        return
    finally:
        index.close()
        if model is not None:
            await model.aclose()


def _client(settings: ModelSettings) -> ChatModel:
    from research.llm.client import ChatModel  # slow import, needed with a model only

    return ChatModel(settings)


async def _answer(case: Case, job: Job, tools: Tools) -> Outcome | Failed:
    try:
        return await measure(case, job, tools)
    except Exception as fault:
        return Failed(case.id, f"{type(fault).__name__}: {fault}")
