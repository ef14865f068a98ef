"""All questions, in worker processes side by side; their outcomes as they come.

A worker reads from a pipe of its own, so it ends when the process that started it does.
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

from research.clock import SystemClock
from research.engine.tools import Tools
from research.evaluation.cases import Case
from research.evaluation.measuring import measure
from research.evaluation.pool import COLLECTION
from research.evaluation.results import Failed, Job, Outcome
from research.llm.settings import ModelSettings
from research.retrieval.documents import DocumentFetch, DocumentSearch
from research.retrieval.index import DocumentIndex

if TYPE_CHECKING:
    from research.llm.client import ChatModel

WORKERS = 2
BROKE_OFF = "A worker process broke off; what was done is kept, and a rerun goes on from there."


class WorkerBroke(RuntimeError):
    """A worker process ended before its question did."""


# --- in the parent ----------------------------------------------------------------------------


def run_cases(cases: Sequence[Case], job: Job) -> Iterator[Outcome | Failed]:
    """The outcomes as they come. Raises `WorkerBroke`."""
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
    """Answer questions from the pipe until it is closed; Ctrl-C is the parent's to handle."""
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
    from research.llm.client import ChatModel  # heavy: only where there is a model

    return ChatModel(settings)


async def _answer(case: Case, job: Job, tools: Tools) -> Outcome | Failed:
    try:
        return await measure(case, job, tools)
    except Exception as fault:
        return Failed(case.id, f"{type(fault).__name__}: {fault}")
