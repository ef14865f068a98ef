"""Recovery of runs from kills and outages, without repeating settled calls.

    python -m bench.outages --kills 60 --seconds 30

The product's worker, in a separate process, researches questions of the simulated world one after
another. It is killed with SIGKILL at random moments on SQLite and on PostgreSQL, at most three
times per run; it loses its database (a locked file, a cut connection, an exhausted connection
limit) and Redis for the given number of seconds. TEST_DATABASE_URL and TEST_REDIS_URL name the
servers; both are reached through a proxy in this process, so that other clients are not affected.
Prints the number of runs, completed runs, settled calls that were repeated, and counted deaths.
Exits with 1 unless all runs completed and no call was repeated.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import psycopg

from bench.cutting import Proxy
from bench.world.running import RunningWorld, running_world

ROOT = Path(__file__).resolve().parents[1]
DATABASE_SERVER = os.environ.get(
    "TEST_DATABASE_URL", "postgresql://postgres@127.0.0.1:5432/postgres"
)
REDIS_SERVER = os.environ.get("TEST_REDIS_URL", "redis://127.0.0.1:6379/0")
LEASE_SECONDS = 2.0
LONGEST_DELAY_SECONDS = 4.0
PATIENCE_SECONDS = 180.0
KILLS_OF_A_RUN = 3
"""One more could stall a run, if no call was settled between the kills."""

PACKED = "~zlib"
SETTLED = "SELECT kind, request FROM research_journalentry WHERE run_id = {run} AND \
status <> 'pending' AND kind <> 'decision'"
HEAD = "SELECT id, status, lease_owner, lease_epoch, crashes FROM research_run ORDER BY id DESC \
LIMIT 1"
NAMES = {"model": "prompt", "search": "query", "fetch": "url"}
ENDS = ("completed", "failed", "cancelled", "stalled")

Rows = Callable[[str], list[tuple[Any, ...]]]
Call = tuple[str, str]


@dataclass(frozen=True)
class Head:
    """The row of the newest run."""

    id: int
    status: str
    owner: str
    epoch: int
    crashes: int


@dataclass(frozen=True)
class Database:
    """A database. `url` is the worker's connection; `rows` reads directly; `outages` disable it."""

    name: str
    url: str
    rows: Rows
    outages: Mapping[str, Callable[[], AbstractContextManager[None]]]

    def head(self) -> Head | None:
        found = self.rows(HEAD)
        return Head(*found[0]) if found else None

    def settled(self, run: int) -> set[Call]:
        found = set()
        for kind, request in self.rows(SETTLED.format(run=run)):
            asked = json.loads(request) if isinstance(request, str) else request
            found.add(call_key(kind, unpacked(asked)[NAMES[kind]]))
        return found


@dataclass
class Found:
    """The results of one kind of disturbance.

    `compared` counts settled calls, by kind, that also appear in the servers' logs.
    """

    what: str
    disturbances: int = 0
    runs: int = 0
    completed: int = 0
    asked_again: int = 0
    compared: dict[str, int] = field(default_factory=dict)
    deaths_counted: int = 0
    seconds: float = 0.0
    others: list[str] = field(default_factory=list)

    @property
    def holds(self) -> bool:
        was_compared = NAMES.keys() == self.compared.keys()
        return self.runs == self.completed > 0 and not self.asked_again and was_compared


# --- the worker -----------------------------------------------------------------------------


class WorkerBroke(Exception):
    """The worker's process ended with an error, which is in its log."""


class Worker:
    """The product's worker as a process that can be killed and restarted."""

    def __init__(self, running: RunningWorld, home: Path, database: Database, redis: str) -> None:
        self.environment = {
            **os.environ, **running.environment(), "DATABASE_URL": database.url,
            "PLUMBLINE_HOME": str(home), "DEEPRESEARCH_ENV_FILE": os.devnull,
            "FETCH_INTERVAL_SECONDS": "0", "NETWORK_PROBE": "none", "REDIS_URL": redis,
            "PAGE_MAX_AGE_HOURS": "0",
        }  # fmt: skip
        self.process: subprocess.Popen[str] | None = None
        self.log = (home / "worker.log").open("a")

    def start(self, *questions: str) -> None:
        command = [sys.executable, "-m", "bench.working_off", "--slots", "1"]
        self.process = subprocess.Popen(
            [*command, "--lease-seconds", str(LEASE_SECONDS)],
            cwd=ROOT, env=self.environment, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=self.log,
        )  # fmt: skip
        assert self.process.stdin
        self.process.stdin.write(json.dumps(questions))
        self.process.stdin.close()

    def kill(self) -> None:
        assert self.process
        with suppress(ProcessLookupError):
            self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    @property
    def has_failed(self) -> bool:
        return self.process is not None and bool(self.process.poll())

    def close(self) -> None:
        if self.process is not None and self.process.poll() is None:
            self.kill()
        self.log.close()


class Trial:
    """One disturbance on one database: consecutive runs, disturbed at random moments."""

    def __init__(
        self, found: Found, running: RunningWorld, database: Database, worker: Worker, seed: int
    ) -> None:
        self.found = found
        self.running = running
        self.database = database
        self.worker = worker
        self.chance = random.Random(seed)
        self.questions = [q.text for q in running.world.questions if q.needed]

    def kills(self, number: int) -> None:
        while self.found.disturbances < number:
            epoch = self._begin()
            for _ in range(min(KILLS_OF_A_RUN, number - self.found.disturbances)):
                if not self._worked_on(epoch):
                    break
                self.worker.kill()
                epoch = self._note_settled()
                self.found.disturbances += 1
                self.worker.start()
            self._end()

    def outages(self, number: int, seconds: float, outage: Callable[[], Any]) -> None:
        for _ in range(number):
            if self._worked_on(self._begin()):
                self._note_settled()
                with outage():
                    time.sleep(seconds)
                self.found.disturbances += 1
            self._end()

    # --- steps ------------------------------------------------------------------------------

    def _begin(self) -> int:
        """Ask the next question; return epoch 0, as no worker has claimed its run."""
        before = self.database.head()
        self.worker.start(self.questions[self.found.runs % len(self.questions)])
        self.found.runs += 1
        self.running.reset()
        self.snapshots: list[tuple[float, set[Call]]] = []
        self.run = self._until(lambda head: before is None or head.id != before.id).id
        return 0

    def _worked_on(self, epoch: int) -> bool:
        """Wait for a new claim and a random delay; return False if the run has ended."""
        self._until(lambda head: (head.epoch > epoch and head.owner) or head.status in ENDS)
        time.sleep(self.chance.uniform(0, LONGEST_DELAY_SECONDS))
        return not self._ended()

    def _ended(self) -> bool:
        head = self.database.head()
        return head is not None and head.status in ENDS

    def _note_settled(self) -> int:
        """Record the settled calls, which must not be repeated; return the current epoch."""
        self.snapshots.append((time.time(), self.database.settled(self.run)))
        head = self.database.head()
        assert head
        return head.epoch

    def _end(self) -> None:
        head = self._until(lambda head: head.status in ENDS)
        if head.status == "completed":
            self.found.completed += 1
        else:
            self.found.others.append(head.status)
        self.found.deaths_counted += head.crashes
        entries = self.running.log()["entries"]
        for then, settled in self.snapshots:
            later = {logged_call(entry) for entry in entries if entry["start"] > then}
            self.found.asked_again += len(settled & later)
        whole = {logged_call(entry) for entry in entries}
        for kind, _ in self.database.settled(self.run) & whole:
            self.found.compared[kind] = self.found.compared.get(kind, 0) + 1
        assert self.worker.process
        self.worker.process.wait(PATIENCE_SECONDS)

    def _until(self, holds: Callable[[Head], object]) -> Head:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < deadline:
            head = self.database.head()
            if head is not None and holds(head):
                return head
            if self.worker.has_failed:
                raise WorkerBroke(f"{self.found.what}: the worker ended by itself")
            time.sleep(0.05)
        raise TimeoutError(f"{self.found.what}: nothing came of a run in {PATIENCE_SECONDS:.0f} s")


def unpacked(request: dict[str, Any]) -> dict[str, Any]:
    """Return a request as it was before `research/models/journal.py` stored it, which can't be
    imported without Django.
    """
    if PACKED not in request:
        return request
    original: dict[str, Any] = json.loads(zlib.decompress(base64.b85decode(request[PACKED])))
    return original


def call_key(kind: str, words: str) -> Call:
    """Return the key of a call, equal for the journal and the world's log."""
    if kind == "model":
        return kind, hashlib.sha256(words.encode()).hexdigest()
    if kind == "fetch":  # sites differ by address; their log omits the port
        parts = urlsplit(words)
        return kind, urlunsplit(parts._replace(netloc=parts.hostname or ""))
    return kind, words


def logged_call(entry: Mapping[str, Any]) -> Call:
    if entry["server"] == "model":
        return "model", entry["prompt_sha256"]
    if entry["server"] == "search":
        return "search", entry["query"]
    return call_key("fetch", entry["url"])


# --- databases ------------------------------------------------------------------------------


@contextmanager
def sqlite_database(home: Path) -> Iterator[Database]:
    path = home / "outages.sqlite3"

    def rows(query: str) -> list[tuple[Any, ...]]:
        try:
            with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=30)) as asked:
                return asked.execute(query).fetchall()
        except sqlite3.OperationalError:
            return []

    @contextmanager
    def locked() -> Iterator[None]:
        with closing(sqlite3.connect(path, timeout=30, isolation_level=None)) as holding:
            holding.execute("BEGIN IMMEDIATE")
            yield
            holding.execute("ROLLBACK")

    yield Database("SQLite", f"sqlite:///{path}", rows, {"locked": locked})


@contextmanager
def postgresql_database(home: Path) -> Iterator[Database]:
    """Create a temporary database and role on the server named by the environment."""
    server, name = urlsplit(DATABASE_SERVER), f"plumbline_outages_{os.getpid()}"
    direct = urlunsplit(server._replace(path=f"/{name}"))

    def rows(query: str) -> list[tuple[Any, ...]]:
        try:
            with psycopg.connect(direct) as asked:
                return asked.execute(query.encode()).fetchall()
        except psycopg.errors.UndefinedTable:
            return []

    with (
        psycopg.connect(DATABASE_SERVER, autocommit=True) as admin,
        Proxy(server.hostname or "127.0.0.1", server.port or 5432) as proxy,
    ):

        @contextmanager
        def cut() -> Iterator[None]:
            proxy.cut()
            yield
            proxy.restore()

        @contextmanager
        def full() -> Iterator[None]:
            admin.execute(f"ALTER ROLE {name} CONNECTION LIMIT 0")
            admin.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = %s", [name]
            )
            yield
            admin.execute(f"ALTER ROLE {name} CONNECTION LIMIT -1")

        admin.execute(f"CREATE ROLE {name} LOGIN")
        admin.execute(f"CREATE DATABASE {name} OWNER {name}")
        try:
            url = f"postgresql://{name}@127.0.0.1:{proxy.port}/{name}"
            outages = {"connections cut": cut, "connection limit reached": full}
            yield Database("PostgreSQL", url, rows, outages)
        finally:
            admin.execute(f"DROP DATABASE {name} WITH (FORCE)")
            admin.execute(f"DROP ROLE {name}")


DATABASES = {"sqlite": sqlite_database, "postgresql": postgresql_database}


# --- measuring ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Extent:
    """The extent of a measurement: kills per database, outages of each kind, their duration."""

    kills: int = 60
    outages: int = 3
    seconds: float = 30.0
    seed: int = 1


def measure(running: RunningWorld, on: str, extent: Extent) -> Iterator[Found]:
    """Measure each disturbance in turn, on an empty database."""
    with (
        tempfile.TemporaryDirectory() as folder,
        DATABASES[on](Path(folder)) as database,
        _redis() as redis,
    ):

        def trial(what: str, disturb: Callable[[Trial], None]) -> Found:
            found, began = Found(f"{database.name}, {what}"), time.monotonic()
            worker = Worker(running, Path(folder), database, redis.url)
            try:
                disturb(Trial(found, running, database, worker, extent.seed))
            except (TimeoutError, WorkerBroke) as late:
                found.others.append(str(late))
            finally:
                worker.close()
            found.seconds = round(time.monotonic() - began, 1)
            return found

        if extent.kills:
            yield trial("killed", lambda each: each.kills(extent.kills))
        for what, outage in {**database.outages, "without Redis": redis.without}.items():
            yield trial(
                f"{what} for {extent.seconds:g} s",
                lambda each, outage=outage: each.outages(extent.outages, extent.seconds, outage),
            )


@dataclass(frozen=True)
class Redis:
    url: str
    without: Callable[[], AbstractContextManager[None]]


@contextmanager
def _redis() -> Iterator[Redis]:
    """Yield the Redis server of the environment, behind a proxy."""
    server = urlsplit(REDIS_SERVER)
    with Proxy(server.hostname or "127.0.0.1", server.port or 6379) as proxy:

        @contextmanager
        def cut() -> Iterator[None]:
            proxy.cut()
            yield
            proxy.restore()

        yield Redis(f"redis://127.0.0.1:{proxy.port}{server.path}", cut)


def main() -> int:
    parser = argparse.ArgumentParser(prog="bench.outages", description=__doc__)
    parser.add_argument("--kills", type=int, default=60, help="on each database")
    parser.add_argument("--outages", type=int, default=3, help="of each kind")
    parser.add_argument("--seconds", type=float, default=30.0, help="of each outage")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--on", choices=DATABASES, action="append", help="both where not named")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # runs the cleanup
    extent = Extent(options.kills, options.outages, options.seconds, options.seed)
    held = True
    with running_world(options.seed, latency=True) as running:
        for on in options.on or DATABASES:
            for found in measure(running, on, extent):
                print(json.dumps(asdict(found)), flush=True)
                held &= found.holds
    print("every run completed, nothing settled was asked again" if held else "it does not hold")
    return int(not held)


if __name__ == "__main__":
    sys.exit(main())
