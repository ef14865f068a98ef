"""Clients that poll and stream over the HTTP API while runs are researched.

`python -m bench.api_load` starts a server with an empty database and researches one question of the
sample library after another, without a model. Pollers read the run at work once a second. Streams
follow it by server-sent events, drop their connection after one to three events, and reconnect with
`Last-Event-ID`. Every event is the whole state, so a stream has lost something if it never received
the final one, or if an event's number was not above the last one that it had. Milliseconds stray
with the load of the machine; the server's CPU time for a poll, measured once no run is at work,
hardly does.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from bench.comparison.statistics import percentile
from bench.dashboard.processes import ROOT, cpu_seconds, free_port

QUESTION = "How to make scrambled eggs?"
POLL_SECONDS = 1.0
RECONNECT_SECONDS = 0.05
MOST_EVENTS = 3
LONGEST_SECONDS = 60.0
COUNTED_POLLS = 300
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
        }


class Load:
    """The clients of one measurement."""

    def __init__(self, http: httpx.AsyncClient, seed: int, server: int | None = None) -> None:
        self.http = http
        self.server = server
        self.measured = Measured()
        self.random = random.Random(seed)
        self.run = ""
        self.done = False

    async def measure(self, pollers: int, streams: int, seconds: float) -> Measured:
        """Research one run after another for `seconds`, with all clients on the current one."""
        await self._start_run()
        polling = [asyncio.create_task(self._poll()) for _ in range(pollers)]
        end = time.monotonic() + seconds
        while True:
            followed = self.run
            await asyncio.gather(*(self._follow(followed) for _ in range(streams)))
            if time.monotonic() >= end:
                break
            await self._start_run()
        self.done = True
        await asyncio.gather(*polling)
        if self.server is not None:
            await self._count_cpu(self.server)
        return self.measured

    async def _start_run(self) -> None:
        answer = await self.http.post(
            "/api/v1/runs", json={"question": QUESTION, "sources": "samples"}
        )
        answer.raise_for_status()
        self.run = answer.json()["id"]
        self.measured.runs += 1

    async def _poll(self) -> None:
        await asyncio.sleep(self.random.random() * POLL_SECONDS)
        while not self.done:
            begun = time.perf_counter()
            answer = await self.http.get(f"/api/v1/runs/{self.run}")
            self.measured.polls.append(_since(begun))
            self.measured.errors += answer.status_code != 200
            await asyncio.sleep(POLL_SECONDS)

    async def _count_cpu(self, server: int) -> None:
        path = f"/api/v1/runs/{self.run}"
        tag = (await self.http.get(path)).headers["ETag"]
        for name, headers in (("whole", {}), ("unchanged", {"If-None-Match": tag})):
            before = cpu_seconds(server)
            for _ in range(COUNTED_POLLS):
                await self.http.get(path, headers=headers)
            spent = 1000 * (cpu_seconds(server) - before) / COUNTED_POLLS
            self.measured.cpu_milliseconds[name] = round(spent, 1)

    async def _follow(self, run: str) -> None:
        """Follow a run to its end over many connections."""
        self.measured.followed += 1
        last, ended = -1, False
        deadline = time.monotonic() + LONGEST_SECONDS
        while not ended and time.monotonic() < deadline:
            last, ended = await self._connect(run, last)
            if not ended:
                self.measured.reconnects += 1
                await asyncio.sleep(RECONNECT_SECONDS)
        self.measured.unfinished += not ended

    async def _connect(self, run: str, last: int) -> tuple[int, bool]:
        """Read one to three events; return the last number, and whether the run has ended."""
        headers = {"Last-Event-ID": str(last)} if last >= 0 else {}
        wanted = self.random.randint(1, MOST_EVENTS)
        begun, taken = time.perf_counter(), 0
        async with self.http.stream("GET", f"/api/v1/runs/{run}/events", headers=headers) as answer:
            if answer.status_code != 200:
                # 204: the run ended with the event that this client had already
                self.measured.errors += answer.status_code != 204
                return last, False
            number = -1
            async for line in answer.aiter_lines():
                if line.startswith("id: "):
                    number = int(line.removeprefix("id: "))
                elif line.startswith("data: "):
                    if not taken:
                        self.measured.first_events.append(_since(begun))
                    taken += 1
                    self.measured.events += 1
                    self.measured.repeated += number <= last
                    last = number
                    if json.loads(line.removeprefix("data: "))["run"]["finished_at"]:
                        return last, True
                    if taken == wanted:
                        return last, False
        return last, False


def _since(begun: float) -> float:
    return (time.perf_counter() - begun) * 1000


def _spread(values: list[float]) -> str:
    return " / ".join(f"{percentile(values, share):.0f}" for share in (0.5, 0.95, 1.0))


@contextmanager
def serving() -> Iterator[tuple[str, str, int]]:
    """Yield the address of a new server, a token, and the id of its process."""
    with tempfile.TemporaryDirectory() as home:
        settings = Path(home) / "no-settings"
        settings.touch()
        environment = {
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
        server = subprocess.Popen(
            [*manage, "serve", "--port", str(port)], stderr=subprocess.DEVNULL, **shared
        )
        try:
            if server.stdout is None or not server.stdout.readline():
                raise RuntimeError("the server did not start")
            yield f"http://127.0.0.1:{port}", made.stdout.strip(), server.pid
        finally:
            server.terminate()
            server.communicate(timeout=30)


async def measure(
    address: str, token: str, server: int, pollers: int, streams: int, seconds: float, seed: int = 1
) -> Measured:
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=None)
    headers = {"Authorization": f"Bearer {token}", "Accept-Encoding": "identity"}
    options: dict[str, Any] = {"limits": limits, "timeout": LONGEST_SECONDS, "trust_env": False}
    async with httpx.AsyncClient(base_url=address, headers=headers, **options) as http:
        return await Load(http, seed, server).measure(pollers, streams, seconds)


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench.api_load", description=__doc__)
    parser.add_argument("--pollers", type=int, default=50)
    parser.add_argument("--streams", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=60, help="for which runs are started")
    options = parser.parse_args()
    load_before = os.getloadavg()[0]
    with serving() as served:
        asked = (options.pollers, options.streams, options.seconds)
        measured = asyncio.run(measure(*served, *asked))
    told = {**measured.figures(), "load average before": round(load_before, 1)}
    print(json.dumps(told, indent=1))


if __name__ == "__main__":
    main()
