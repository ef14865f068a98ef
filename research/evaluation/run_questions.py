"""All questions, in worker processes side by side; what is done is kept and not done again.

A worker reads from a pipe of its own, so it ends when the process that started it does.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import signal
import time
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import TypeAdapter, ValidationError

import research
from research.clock import SystemClock
from research.engine.config import ResearchConfig
from research.engine.journal import MemoryStore
from research.engine.tools import Tools
from research.evaluation import scoring
from research.evaluation.cases import Case
from research.evaluation.pool import COLLECTION, Library
from research.evaluation.stopping_check import Stopped, decide_anew, forced, until
from research.evaluation.trace import Trace, run_once
from research.llm.settings import ModelSettings
from research.retrieval.documents import DocumentFetch, DocumentSearch
from research.retrieval.index import DocumentIndex

if TYPE_CHECKING:
    from research.llm.client import ChatModel

WORKERS = 2
SOURCES = ("engine", "retrieval", "llm", "evaluation")
BROKE_OFF = "A worker process broke off; what was done is kept, and a rerun goes on from there."


class WorkerBroke(RuntimeError):
    """A worker process ended before its question did."""


@dataclass(frozen=True)
class Job:
    """What every worker needs to know."""

    library: Library
    config: ResearchConfig
    model: ModelSettings | None = None


@dataclass(frozen=True)
class Outcome:
    """Everything measured of one question. `rounds` and `gold` are of the forced run."""

    key: str
    id: str
    file: str
    question: str
    hops: int
    gold: tuple[scoring.GoldFound, ...]
    rounds: tuple[scoring.RoundDone, ...]
    forced_reason: str
    stopped: Stopped
    quotes: scoring.QuoteCheck
    seconds: float


@dataclass(frozen=True)
class Failed:
    """A question at which the engine itself broke."""

    id: str
    fault: str


OUTCOME: TypeAdapter[Outcome] = TypeAdapter(Outcome)


# --- what is kept -----------------------------------------------------------------------------


@dataclass(frozen=True)
class Results:
    """One JSON line a question, in a file named by knobs, analyst and source."""

    path: Path

    @classmethod
    def of(cls, job: Job, analyst: str) -> Results:
        told = json.dumps([job.config.model_dump(mode="json"), analyst, source_hash()])
        key = hashlib.sha256(told.encode()).hexdigest()[:16]
        return cls(job.library.folder / f"results-{key}.jsonl")

    def load(self) -> dict[str, Outcome]:
        """By the question's key; a line that was cut off is passed over."""
        found: dict[str, Outcome] = {}
        if self.path.exists():
            for line in self.path.read_text("utf-8").split("\n"):
                try:
                    outcome = OUTCOME.validate_json(line)
                except ValidationError:
                    continue
                found[outcome.key] = outcome
        return found

    def add(self, outcome: Outcome) -> None:
        with self.path.open("a", encoding="utf-8") as file:
            line = json.dumps(asdict(outcome), ensure_ascii=False)
            file.write(f"{'' if self._ends_whole() else chr(10)}{line}\n")

    def _ends_whole(self) -> bool:
        with self.path.open("rb") as file:
            size = file.seek(0, 2)
            if not size:
                return True
            file.seek(size - 1)
            return file.read(1) == b"\n"


@cache
def source_hash() -> str:
    """A hash of all that decides a result: engine, retrieval, model client and this package.

    Read once: this process goes on with the code that it has.
    """
    root = Path(research.__file__).parent
    files = sorted(
        path
        for part in SOURCES
        for path in (root / part).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    )
    told = hashlib.sha256()
    for path in files:
        told.update(f"{path.relative_to(root)}\n".encode() + path.read_bytes())
    return told.hexdigest()


def case_key(case: Case) -> str:
    return hashlib.sha256(case.model_dump_json().encode()).hexdigest()[:24]


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


async def measure(case: Case, job: Job, tools: Tools) -> Outcome:
    """One question: the forced run, the rule's decision over it, and all scores."""
    started, store = time.monotonic(), MemoryStore()
    analyst = tools.model.name if tools.model else "extractive"
    deep = await run_once(case.question, forced(job.config), tools, store, analyst)
    gold = await scoring.gold_found(case, deep, store)
    quotes = scoring.check_quotes(deep, store, job.library)
    rule = await decide_anew(case.question, job.config, tools, deep, store, analyst)
    if rule is not None:
        stopped = _stopped(case, rule, deep, until(gold, rule.last_round), True)
    else:
        store = MemoryStore()
        rule = await run_once(case.question, job.config, tools, store, analyst)
        own = await scoring.gold_found(case, rule, store)
        stopped = _stopped(case, rule, rule, until(own, rule.last_round), False)
        quotes = _both(quotes, scoring.check_quotes(rule, store, job.library))
    return Outcome(
        key=case_key(case),
        id=case.id,
        file=case.file,
        question=case.question,
        hops=case.hops,
        gold=gold,
        rounds=scoring.rounds_done(deep),
        forced_reason=deep.reason,
        stopped=stopped,
        quotes=quotes,
        seconds=round(time.monotonic() - started, 3),
    )


def _stopped(
    case: Case, rule: Trace, rounds: Trace, fetched: tuple[int | None, ...], replayed: bool
) -> Stopped:
    last = rule.last_round
    return Stopped(
        round=last,
        reason=rule.reason,
        replayed=replayed,
        fetched=fetched,
        cost=scoring.Cost.of(rounds.usage.get(last, rounds.spent)),
        total=scoring.Cost.of(rule.spent),
        answer=scoring.answer_of(case, rule),
    )


def _both(one: scoring.QuoteCheck, other: scoring.QuoteCheck) -> scoring.QuoteCheck:
    return scoring.QuoteCheck(
        one.checked + other.checked, one.right + other.right, one.wrong + other.wrong
    )
