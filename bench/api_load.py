"""Clients that poll and stream over the HTTP API while runs are researched.

`python -m bench.api_load` starts a server with an empty database and the simulated world, whose
model, search and pages take their time, and researches one question after another. Pollers read the
run at work once a second, at times fixed beforehand, and a poll's latency counts from the time when
it was due: a wait of one second after each answer would neither count what a stall holds up nor
keep the pollers apart, since all that waited for one stall would go on in step. Streams follow it
by server-sent events, drop their connection after one to three events, and reconnect with
`Last-Event-ID` after the time that the server's `retry` field names. Every event is the whole
state, so a stream has lost something if it never received the final one, or if an event's number
was not above the last one that it had. Milliseconds stray with the load of the machine; the
server's CPU time for a poll, measured once no run is at work, hardly does.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import ssl
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import cycle
from pathlib import Path
from typing import Any

import httpx

from bench.comparison.statistics import percentile
from bench.dashboard.processes import ROOT, cpu_seconds, free_port
from bench.world.running import running_world

SEED = 1
POLL_SECONDS = 1.0
MOST_EVENTS = 3
LONGEST_SECONDS = 60.0
COUNTED_POLLS = 300
LATENESS_SECONDS = 0.02
UNLIMITED = "1000000"
MAKE_TOKEN = """
from research.services import api_tokens, people
print(api_tokens.create_token(people.local_admin(), "bench")[1])
"""


@dataclass
class Measured:
    """Milliseconds of polls, and from a stream's request to its first event."""

    polls: list[float] = field(default_factory=list)
    first_events: list[float] = field(default_factory=list)
    runs: int = 0
    followed: int = 0
    events: int = 0
    reconnects: int = 0
    repeated: int = 0
    unfinished: int = 0
    errors: int = 0
    cpu_milliseconds: dict[str, float] = field(default_factory=dict)
    cores: dict[str, float] = field(default_factory=dict)
    late: list[float] = field(default_factory=list)

    def figures(self) -> dict[str, Any]:
        return {
            "runs": self.runs,
            "polls": len(self.polls),
            "poll p50 / p95 / max, ms": _spread(self.polls),
            "streams followed to their end": self.followed - self.unfinished,
            "streams": self.followed,
            "events": self.events,
            "reconnects": self.reconnects,
            "first event p50 / p95 / max, ms": _spread(self.first_events),
            "final states lost": self.unfinished,
            "events repeated or out of order": self.repeated,
            "requests failed": self.errors,
            "server's CPU per poll, ms": self.cpu_milliseconds,
            "cores used meanwhile": self.cores,
            "clients' event loop late p50 / p95 / max, ms": _spread(self.late),
        }


@dataclass
class Stream:
    """What a client knows of the events that it follows."""

    last: int = -1
    ended: bool = False
    reconnect_seconds: float = 1.0


class Load:
    """The clients of one measurement."""

    def __init__(
        self,
        make_client: Callable[[], httpx.AsyncClient],
        seed: int,
        server: int | None = None,
        questions: Sequence[str] = (),
    ) -> None:
        self.make_client = make_client
        self.server = server
        self.questions = cycle(questions)
        self.measured = Measured()
        self.random = random.Random(seed)
        self.run = ""
        self.done = False

    async def measure(self, pollers: int, streams: int, seconds: float) -> Measured:
        """Research one run after another for `seconds`, with all clients on the current one."""
        async with AsyncExitStack() as opened:
            made = [
                await opened.enter_async_context(self.make_client())
                for _ in range(1 + pollers + streams)
            ]
            own, polls, follows = made[0], made[1 : 1 + pollers], made[1 + pollers :]
            await self._warm_up(own)
            await self._start_run(own)
            begun, used = time.monotonic(), self._cpu_seconds()
            waiting = [asyncio.create_task(self._poll(http)) for http in polls]
            waiting.append(asyncio.create_task(self._count_lateness()))
            while True:
                followed = self.run
                await asyncio.gather(*(self._follow(http, followed) for http in follows))
                if time.monotonic() - begun >= seconds:
                    break
                await self._start_run(own)
            self.done = True
            await asyncio.gather(*waiting)
            passed = time.monotonic() - begun
            for name, now in self._cpu_seconds().items():
                self.measured.cores[name] = round((now - used[name]) / passed, 2)
            if self.server is not None:
                await self._count_cpu(own, self.server)
        return self.measured

    def _cpu_seconds(self) -> dict[str, float]:
        of_server = {} if self.server is None else {"server": cpu_seconds(self.server)}
        return of_server | {"clients": time.process_time()}

    async def _count_lateness(self) -> None:
        while not self.done:
            begun = time.perf_counter()
            await asyncio.sleep(LATENESS_SECONDS)
            self.measured.late.append(_since(begun) - 1000 * LATENESS_SECONDS)

    async def _start_run(self, http: httpx.AsyncClient) -> None:
        answer = await http.post("/api/v1/runs", json={"question": next(self.questions)})
        answer.raise_for_status()
        self.run = answer.json()["id"]
        self.measured.runs += 1

    async def _warm_up(self, http: httpx.AsyncClient) -> None:
        """Follow a run that isn't counted: a new server imports much at its first requests."""
        await self._start_run(http)
        await self._follow(http, self.run)
        await http.get(f"/api/v1/runs/{self.run}")
        self.measured = Measured()

    async def _poll(self, http: httpx.AsyncClient) -> None:
        due = time.perf_counter() + self.random.random() * POLL_SECONDS
        while not self.done:
            await asyncio.sleep(due - time.perf_counter())
            answer = await http.get(f"/api/v1/runs/{self.run}")
            self.measured.polls.append(_since(due))
            self.measured.errors += answer.status_code != 200
            due += POLL_SECONDS

    async def _count_cpu(self, http: httpx.AsyncClient, server: int) -> None:
        path = f"/api/v1/runs/{self.run}"
        tag = (await http.get(path)).headers["ETag"]
        for name, headers in (("whole", {}), ("unchanged", {"If-None-Match": tag})):
            before = cpu_seconds(server)
            for _ in range(COUNTED_POLLS):
                await http.get(path, headers=headers)
            spent = 1000 * (cpu_seconds(server) - before) / COUNTED_POLLS
            self.measured.cpu_milliseconds[name] = round(spent, 1)

    async def _follow(self, http: httpx.AsyncClient, run: str) -> None:
        """Follow a run to its end over many connections."""
        self.measured.followed += 1
        stream = Stream()
        deadline = time.monotonic() + LONGEST_SECONDS
        while not stream.ended and time.monotonic() < deadline:
            await self._connect(http, run, stream)
            if not stream.ended:
                self.measured.reconnects += 1
                await asyncio.sleep(stream.reconnect_seconds)
        self.measured.unfinished += not stream.ended

    async def _connect(self, http: httpx.AsyncClient, run: str, stream: Stream) -> None:
        """Read one to three events, or those until the run ends."""
        headers = {"Last-Event-ID": str(stream.last)} if stream.last >= 0 else {}
        wanted = self.random.randint(1, MOST_EVENTS)
        begun, taken = time.perf_counter(), 0
        async with http.stream("GET", f"/api/v1/runs/{run}/events", headers=headers) as answer:
            if answer.status_code != 200:
                # 204: the run ended with the event that this client had already
                self.measured.errors += answer.status_code != 204
                return
            number = -1
            async for line in answer.aiter_lines():
                if line.startswith("retry: "):
                    stream.reconnect_seconds = int(line.removeprefix("retry: ")) / 1000
                elif line.startswith("id: "):
                    number = int(line.removeprefix("id: "))
                elif line.startswith("data: "):
                    if not taken:
                        self.measured.first_events.append(_since(begun))
                    taken += 1
                    self.measured.events += 1
                    self.measured.repeated += number <= stream.last
                    stream.last = number
                    if json.loads(line.removeprefix("data: "))["run"]["finished_at"]:
                        stream.ended = True
                        return
                    if taken == wanted:
                        return


def _since(begun: float) -> float:
    return (time.perf_counter() - begun) * 1000


def _spread(values: list[float]) -> str:
    return " / ".join(f"{percentile(values, share):.0f}" for share in (0.5, 0.95, 1.0))


@dataclass(frozen=True)
class Served:
    """A server: its address, an API token, the id of its process, and questions to ask it."""

    address: str
    token: str
    process: int
    questions: Sequence[str]


@contextmanager
def serving(*, apart: bool = False) -> Iterator[Served]:
    """Yield a new server that researches in a simulated world, or has a worker that does so."""
    with running_world(SEED, latency=True) as running, tempfile.TemporaryDirectory() as home:
        settings = Path(home) / "no-settings"
        settings.touch()
        environment = {
            **running.environment(),
            "PATH": os.environ["PATH"],
            "PLUMBLINE_HOME": home,
            "DEEPRESEARCH_ENV_FILE": str(settings),
            "NETWORK_PROBE": "none",
            "API_REQUESTS_PER_MINUTE": UNLIMITED,
        }
        manage = [sys.executable, "manage.py"]
        shared: dict[str, Any] = {"cwd": ROOT, "env": environment, "stdout": subprocess.PIPE}
        subprocess.run([*manage, "migrate", "--verbosity", "0"], check=True, **shared)
        made = subprocess.run(
            [*manage, "shell", "--no-imports", "-c", MAKE_TOKEN], check=True, text=True, **shared
        )
        port = free_port()
        alone = ["--no-worker"] if apart else []
        server = subprocess.Popen(
            [*manage, "serve", "--port", str(port), *alone], stderr=subprocess.DEVNULL, **shared
        )
        worker = None
        try:
            if apart:
                worker = subprocess.Popen([*manage, "worker"], stderr=subprocess.DEVNULL, **shared)
            if server.stdout is None or not server.stdout.readline():
                raise RuntimeError("the server did not start")
            questions = [each.text for each in running.world.questions if each.needed]
            yield Served(f"http://127.0.0.1:{port}", made.stdout.strip(), server.pid, questions)
        finally:
            for process in filter(None, (worker, server)):
                process.terminate()
                process.communicate(timeout=30)


async def measure(served: Served, pollers: int, streams: int, seconds: float) -> Measured:
    headers = {"Authorization": f"Bearer {served.token}", "Accept-Encoding": "identity"}
    options: dict[str, Any] = {
        "base_url": served.address,
        "headers": headers,
        "timeout": LONGEST_SECONDS,
        "trust_env": False,
        "verify": ssl.create_default_context(),  # shared: making one takes longer than a request
    }
    load = Load(lambda: httpx.AsyncClient(**options), SEED, served.process, served.questions)
    return await load.measure(pollers, streams, seconds)


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench.api_load", description=__doc__)
    parser.add_argument("--pollers", type=int, default=50)
    parser.add_argument("--streams", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=60, help="for which runs are started")
    parser.add_argument("--apart", action="store_true", help="research in a process of its own")
    options = parser.parse_args()
    load_before = os.getloadavg()[0]
    with serving(apart=options.apart) as served:
        measured = asyncio.run(measure(served, options.pollers, options.streams, options.seconds))
    told = {**measured.figures(), "load average before": round(load_before, 1)}
    print(json.dumps(told, indent=1))


if __name__ == "__main__":
    main()
