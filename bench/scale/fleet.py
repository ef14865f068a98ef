"""Web processes and workers that research the simulated world while they are disturbed.

An observer reads the database directly. It counts runs that did not complete, settled calls that
were made again, how long the runs of a killed process waited for another one, and runs of which a
web process says something else than the database.
"""

from __future__ import annotations

import json
import os
import random
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import Request, urlopen

import psycopg

from bench.completing import ROOT
from bench.dashboard.processes import free_port
from bench.outages import ENDS, NAMES, Call, call_key, logged_call, unpacked
from bench.scale.parts import percentile
from bench.world.running import RunningWorld

RUNS_AT_ONCE = 6
"""Fewer than the workers have slots, so that there is room for the runs of one that dies."""

LOOK_SECONDS = 0.1
SETTLED_SECONDS = 1.0
PATIENCE_SECONDS = 240.0
READY_SECONDS = 120.0

LEFT = f"SELECT count(*) FROM research_run WHERE status NOT IN {ENDS}"
LEASED = "SELECT id, lease_epoch FROM research_run WHERE lease_owner LIKE %s"
TAKEN = f"SELECT id FROM research_run WHERE id = %s AND (lease_owner <> '' AND lease_epoch > %s \
OR status IN {ENDS})"
SETTLED = "SELECT id FROM research_journalentry WHERE status = 'done' AND kind <> 'decision'"
CALLS = "SELECT id, run_id, kind, request FROM research_journalentry WHERE id = ANY(%s)"
STATES = "SELECT public_id, status FROM research_run"

Disturbance = tuple[float, Callable[[], None]]
"""Seconds after the questions were asked, and what is done then."""


class Member:
    """One process of a fleet."""

    def __init__(self, name: str, command: Sequence[str], environment: Mapping[str, str]) -> None:
        self.name = name
        self.command = command
        self.environment = environment
        self.port = 0
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        with Path(self.environment["PLUMBLINE_HOME"], f"{self.name}.log").open("ab") as log:
            self.process = subprocess.Popen(
                self.command, cwd=ROOT, env=self.environment, stdout=log, stderr=log
            )

    @property
    def pid(self) -> int:
        assert self.process
        return self.process.pid

    def drain(self) -> None:
        """Tell the process to stop, without waiting until it has."""
        assert self.process
        self.process.terminate()

    def kill(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()


@dataclass
class Found:
    """What a trial found; only settled calls that one run alone makes are `compared`."""

    runs: int = 0
    completed: int = 0
    compared: int = 0
    asked_again: int = 0
    disturbances: int = 0
    takeovers: list[float] = field(default_factory=list)
    untrue_pages: int = 0
    pages: int = 0

    @property
    def unfinished(self) -> int:
        return self.runs - self.completed

    @property
    def takeover_p95(self) -> float | None:
        return percentile(self.takeovers, 0.95) if self.takeovers else None


class Fleet:
    """Processes of one installation in its own folder; killed with its `with` block."""

    def __init__(
        self, running: RunningWorld, home: Path, url: str, *, direct: str = "", redis: str = ""
    ) -> None:
        self.running = running
        self.direct = direct or url
        self.environment = {
            **os.environ, **running.environment(), "DATABASE_URL": url, "REDIS_URL": redis,
            "PLUMBLINE_HOME": str(home), "DEEPRESEARCH_ENV_FILE": os.devnull,
            "FETCH_INTERVAL_SECONDS": "0", "NETWORK_PROBE": "none", "PAGE_MAX_AGE_HOURS": "0",
            "RUNS_AT_ONCE": str(RUNS_AT_ONCE), "RUNS_PER_PERSON": "0",
        }  # fmt: skip
        self.web: list[Member] = []
        self.workers: list[Member] = []
        self.tokens: dict[str, str] = {}

    def __enter__(self) -> Fleet:
        return self

    def __exit__(self, *_: object) -> None:
        for member in self.members:
            member.kill()

    @property
    def members(self) -> list[Member]:
        return [*self.web, *self.workers]

    def add_web(self, *alterations: str) -> Member:
        """Add a web process; one that is altered by options of `bench.scale.altered` also works."""
        port = free_port()
        program = ["-m", "bench.scale.altered", *alterations] if alterations else ["manage.py"]
        works = [] if alterations else ["--no-worker"]
        member = self._member("web", *program, "serve", *works, "--port", str(port))
        member.port = port
        self.web.append(member)
        return member

    def add_worker(self, *alterations: str) -> Member:
        """Add a worker, altered by options of `bench.scale.altered`."""
        program = ["-m", "bench.scale.altered", *alterations] if alterations else ["manage.py"]
        member = self._member("worker", *program, "worker", "--concurrency", "2")
        self.workers.append(member)
        return member

    def _member(self, kind: str, *arguments: str) -> Member:
        name = f"{kind}-{len(self.members)}"
        return Member(name, [sys.executable, *arguments], self.environment)

    def ask(self, runs: int) -> None:
        """Ask so many questions, no two the same if there are enough."""
        questions = [each.text for each in self.running.world.questions if each.needed]
        asked = [questions[number % len(questions)] for number in range(runs)]
        self.running.reset()
        self.tokens = json.loads(self.run("-m", "bench.scale.asking", given=json.dumps(asked)))

    def start(self) -> None:
        """Start all processes, and wait until the workers work."""
        for member in self.members:
            member.start()
        self._until_they_work()

    def run(self, *arguments: str, given: str = "") -> str:
        """Return the output of a program that runs beside the fleet."""
        done = subprocess.run(
            [sys.executable, *arguments], cwd=ROOT, env=self.environment, input=given, text=True,
            stdout=subprocess.PIPE, check=True,
        )  # fmt: skip
        return done.stdout

    def _until_they_work(self) -> None:
        deadline = time.monotonic() + READY_SECONDS
        while time.monotonic() < deadline:
            found = self.rows("SELECT count(*) FROM research_workerprocess WHERE slots > 0")
            if found and found[0][0] >= len(self.workers):
                return
            time.sleep(LOOK_SECONDS)
        raise TimeoutError("the workers did not start")

    def until_ready(self, member: Member) -> None:
        """Wait until a web process answers."""
        self._answer(member, "/readyz", "")

    def shown(self, member: Member, public_id: str) -> str:
        """Return the state that a web process shows of a run, "" if it doesn't answer."""
        token = self.tokens.get(public_id, "")
        answer = self._answer(member, f"/api/v1/runs/{public_id}", token)
        return str(json.loads(answer)["status"]) if answer else ""

    def _answer(self, member: Member, path: str, token: str) -> bytes:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        request = Request(f"http://127.0.0.1:{member.port}{path}", headers=headers)
        deadline = time.monotonic() + READY_SECONDS
        while time.monotonic() < deadline:
            with (
                suppress(URLError, ConnectionError, TimeoutError),
                urlopen(request, timeout=10) as answer,
            ):
                return bytes(answer.read())
            time.sleep(1.0)
        return b""

    def rows(self, query: str, *values: object) -> list[tuple[Any, ...]] | None:
        """Return what the database answers, None if it is away or has no such tables yet."""
        try:
            with psycopg.connect(self.direct, connect_timeout=2) as connection:
                return connection.execute(query.encode(), values).fetchall()
        except (psycopg.OperationalError, psycopg.errors.UndefinedTable):
            return None


class Trial:
    """Observes a fleet from its start until every run has ended."""

    def __init__(
        self, fleet: Fleet, seed: int = 1, look: Callable[[], None] = lambda: None
    ) -> None:
        self.fleet = fleet
        self.look = look
        self.chance = random.Random(seed)
        self.found = Found()
        self._seen: dict[int, float] = {}
        self._abandoned: dict[int, tuple[float, int]] = {}

    def run(self, disturbances: Sequence[Disturbance] = ()) -> Found:
        """Return what was found; runs that have not ended in time count as unfinished."""
        self.fleet.start()
        began = looked = time.monotonic()
        left = list(disturbances)
        deadline = began + max([0.0, *(at for at, _ in left)]) + PATIENCE_SECONDS
        while time.monotonic() < deadline:
            if left and time.monotonic() - began >= left[0][0]:
                left.pop(0)[1]()
                self.found.disturbances += 1
            self._note_takeovers()
            self.look()
            if time.monotonic() - looked >= SETTLED_SECONDS:
                looked = time.monotonic()
                self._note_settled()
                if not left and self.fleet.rows(LEFT) == [(0,)]:
                    break
            time.sleep(LOOK_SECONDS)
        self._compare()
        return self.found

    def kill_one(self) -> None:
        """Kill a process at random, note its runs, and start it again."""
        member = self.chance.choice(self.fleet.members)
        member.kill()
        self._note_settled()
        leased = self.fleet.rows(LEASED, f"{socket.gethostname()[:60]}:{member.pid}:%")
        self._abandoned |= {run: (time.monotonic(), epoch) for run, epoch in leased or ()}
        member.start()

    def _note_takeovers(self) -> None:
        for run, (since, epoch) in list(self._abandoned.items()):
            if self.fleet.rows(TAKEN, run, epoch):
                self.found.takeovers.append(time.monotonic() - since)
                del self._abandoned[run]

    def _note_settled(self) -> None:
        now = time.time()
        for (entry,) in self.fleet.rows(SETTLED) or ():
            self._seen.setdefault(entry, now)

    def _compare(self) -> None:
        states = dict(self.fleet.rows(STATES) or ())
        self.found.runs = len(states)
        self.found.completed = sum(state == "completed" for state in states.values())
        self.found.takeovers += [PATIENCE_SECONDS] * len(self._abandoned)
        self._compare_calls()
        for member in self.fleet.web:
            for public_id, state in states.items():
                self.found.pages += 1
                self.found.untrue_pages += self.fleet.shown(member, public_id) != state

    def _compare_calls(self) -> None:
        """Count calls that began after they had been seen settled, if one run alone makes them."""
        runs: dict[Call, set[int]] = {}
        settled: dict[Call, float] = {}
        for entry, run, kind, request in self.fleet.rows(CALLS, list(self._seen)) or ():
            if kind in NAMES:
                key = call_key(kind, unpacked(request)[NAMES[kind]])
                runs.setdefault(key, set()).add(run)
                settled[key] = max(settled.get(key, 0.0), self._seen[entry])
        own = {key for key, makers in runs.items() if len(makers) == 1}
        logged = [
            (logged_call(each), each["start"]) for each in self.fleet.running.log()["entries"]
        ]
        self.found.compared = len(own & {key for key, _ in logged})
        self.found.asked_again = sum(start > settled[key] for key, start in logged if key in own)
