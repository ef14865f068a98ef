"""A server for `bench.live`: the real one, with a worker that commits changes at a given pace.

Prints one line of JSON when it is ready and one with the times of its commits when it is done.
The commits go the engine's way: records through the projection and the writer, under a lease.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import os
import random
import sys
import time
from datetime import UTC, date, datetime
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dashboard.settings")
django.setup()

from django.conf import settings  # noqa: E402 - after the setup
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY  # noqa: E402
from django.contrib.auth.models import AbstractUser  # noqa: E402
from django.contrib.sessions.backends.db import SessionStore  # noqa: E402

from dashboard.asgi import application  # noqa: E402
from dashboard.server import Address, EmbeddedServer  # noqa: E402
from research import notify  # noqa: E402
from research.engine import records  # noqa: E402
from research.engine.records import AspectState, Status  # noqa: E402
from research.leases import claim, release  # noqa: E402
from research.models import Run, Thread  # noqa: E402
from research.projection import Projection  # noqa: E402
from research.schema import migrate  # noqa: E402
from research.services import people  # noqa: E402
from research.writer import Writer  # noqa: E402

BACKEND = "django.contrib.auth.backends.ModelBackend"
QUOTE = "A sentence of usual length that stands word for word on the page which was read for it."


class PacedWorker:
    """Waits for a line on standard input, then commits `commits` changes and ends the run."""

    def __init__(self, run: Run, commits: int, per_second: float) -> None:
        self.run = run
        self.commits = commits
        self.per_second = per_second
        self.writer = Writer()
        self.told: list[tuple[int, float]] = []

    async def start(self) -> None:
        notify.on_committed.append(lambda run, sequence: self.told.append((sequence, time.time())))
        self.writer.start()
        self.task = asyncio.get_running_loop().create_task(self._work(), name="paced worker")
        self.task.add_done_callback(lambda task: task.cancelled() or task.result())

    async def stop(self) -> None:
        self.task.cancel()
        await self.writer.stop()

    async def _work(self) -> None:
        await asyncio.to_thread(sys.stdin.readline)
        lease = await self.writer.call(claim, self.run.pk, "bench")
        assert lease is not None
        projection = Projection(lease, self.writer)
        await projection.load()
        for number in range(1, self.commits + 1):
            for record in changed(number):
                projection.receive(record)
            await self.writer.flush(lease)
            await asyncio.sleep(random.uniform(0.5, 1.5) / self.per_second)
        projection.receive(state(self.commits, Status.COMPLETED))
        await self.writer.flush(lease)
        await self.writer.call(release, lease)
        await asyncio.sleep(1)
        print(json.dumps({"commits": self.told}), flush=True)


def changed(number: int) -> list[Any]:
    """What one step of an engine may change: always the action, at times much more."""
    found: list[Any] = [records.Action(f"Reading site-{number % 7}.test/page-{number}")]
    if number % 3 == 0:
        found.append(evidence(number // 3))
        found.append(aspect(number % 6, AspectState.ANSWERED))
    if number % 10 == 1:
        found += [records.Round(number // 10 + 1, records.Stage.OVERVIEW, score=5 + number % 4)]
        found += [state(number, Status.RESEARCHING), records.Usage(searches=number)]
    return found


def state(number: int, status: Status) -> records.RunState:
    return records.RunState(
        status, round=number // 10 + 1, verdict=f"Going on: step {number} is done, more to come."
    )


def aspect(number: int, state: AspectState = AspectState.OPEN) -> records.Aspect:
    text = f"What is part {number} of the question about?"
    return records.Aspect(f"A{number}", text, text, "plan", 1, state)


def evidence(number: int) -> records.Evidence:
    quoted = records.Quoted(
        url=f"https://site-{number % 7}.test/page-{number}",
        title=f"Page {number}",
        domain=f"site-{number % 7}.test",
        independence_key=f"site-{number % 7}.test",
        quote=f"{QUOTE} ({number})",
        start=0,
        end=len(QUOTE),
        text_sha256=hashlib.sha256(QUOTE.encode()).hexdigest(),
        fetched_at=datetime(2026, 1, 1, tzinfo=UTC),
    )
    return records.Evidence(f"E{number}", f"Claim {number}.", f"A{number % 6}", 1, (quoted,), 0.8)


def make_run(owner: AbstractUser) -> Run:
    return Run.objects.create(
        owner=owner,
        thread=Thread.objects.create(owner=owner, title="bench"),
        question="How fast does a change arrive?",
        today=date(2026, 1, 1),
        config=settings.RESEARCH_DEFAULTS.model_dump(mode="json"),
        status=Status.RESEARCHING,
    )


def make_sessions(owner: AbstractUser, count: int) -> list[str]:
    return [_session(owner) for _ in range(count)]


def _session(owner: AbstractUser) -> str:
    session = SessionStore()
    session[SESSION_KEY] = str(owner.pk)
    session[BACKEND_SESSION_KEY] = BACKEND
    session[HASH_SESSION_KEY] = owner.get_session_auth_hash()
    session.create()
    return str(session.session_key)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--viewers", type=int, required=True)
    parser.add_argument("--commits", type=int, required=True)
    parser.add_argument("--per-second", type=float, required=True)
    options = parser.parse_args()
    migrate()
    owner = people.local_admin()
    run = make_run(owner)
    ready = {"run": run.public_id, "sessions": make_sessions(owner, options.viewers + 1)}

    async def close() -> None:
        return None

    EmbeddedServer(
        application,
        PacedWorker(run, options.commits, options.per_second),
        Address("127.0.0.1", options.port),
        on_ready=lambda: print(json.dumps(ready), flush=True),
        close=close,
    ).run()


if __name__ == "__main__":
    main()
