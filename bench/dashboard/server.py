"""The product's server with a worker that commits changes at a given pace.

Prints one line of JSON when ready. Each input line `{"steps": N}` commits N changes, and `{"end":
true}` ends the run; the response to each is a line with the sequences and times of its commits.
Commits take the same path as the engine's: records through projection and writer, under a lease.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import sys
import time
from datetime import date
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
django.setup()

from django.conf import settings  # noqa: E402 - after the setup
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY  # noqa: E402
from django.contrib.auth.models import AbstractUser  # noqa: E402
from django.contrib.sessions.backends.db import SessionStore  # noqa: E402

from bench.dashboard import changes  # noqa: E402
from config.asgi import application  # noqa: E402
from dashboard.serving.server import Address, EmbeddedServer  # noqa: E402
from research.engine import Status  # noqa: E402
from research.models import Run, Thread  # noqa: E402
from research.runtime.schema import migrate_database  # noqa: E402
from research.services import people  # noqa: E402
from research.worker import notify  # noqa: E402
from research.worker.leases import Lease, claim_run, release_lease  # noqa: E402
from research.worker.projection import Projection  # noqa: E402
from research.worker.writer import Writer  # noqa: E402

BACKEND = "django.contrib.auth.backends.ModelBackend"


class PacedWorker:
    """Executes commands from standard input."""

    def __init__(self, run: Run, per_second: float) -> None:
        self.run = run
        self.per_second = per_second
        self.number = 0
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
        lease = await self.writer.call(claim_run, self.run.pk, "bench")
        assert lease is not None
        projection = Projection(lease, self.writer)
        await projection.load()
        while said := await asyncio.to_thread(sys.stdin.readline):
            self.told.clear()
            asked = json.loads(said)
            for _ in range(asked.get("steps", 0)):
                self.number += 1
                await self._commit(lease, projection, changes.step(self.number))
                await asyncio.sleep(random.uniform(0.5, 1.5) / self.per_second)
            if asked.get("end"):
                ended = changes.state(self.number, Status.COMPLETED)
                await self._commit(lease, projection, [ended])
                await self.writer.call(release_lease, lease)
            await asyncio.sleep(1)
            print(json.dumps(self.told), flush=True)

    async def _commit(self, lease: Lease, projection: Projection, changed: list[Any]) -> None:
        for record in changed:
            projection.receive(record)
        await self.writer.flush(lease)


def make_run(owner: AbstractUser) -> Run:
    return Run.objects.create(
        owner=owner,
        thread=Thread.objects.create(owner=owner, title="bench"),
        question=changes.QUESTION,
        today=date(2026, 1, 1),
        config=settings.RESEARCH_DEFAULTS.model_dump(mode="json"),
        status=Status.RESEARCHING,
    )


def make_session(owner: AbstractUser) -> str:
    session = SessionStore()
    session[SESSION_KEY] = str(owner.pk)
    session[BACKEND_SESSION_KEY] = BACKEND
    session[HASH_SESSION_KEY] = owner.get_session_auth_hash()
    session.create()
    return str(session.session_key)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--sessions", type=int, required=True)
    parser.add_argument("--per-second", type=float, required=True)
    options = parser.parse_args()
    migrate_database()
    owner = people.local_admin()
    run = make_run(owner)
    ready = {
        "run": run.public_id,
        "sessions": [make_session(owner) for _ in range(options.sessions)],
    }

    async def close() -> None:
        return None

    EmbeddedServer(
        application,
        PacedWorker(run, options.per_second),
        Address("127.0.0.1", options.port),
        on_ready=lambda: print(json.dumps(ready), flush=True),
        close=close,
    ).run()


if __name__ == "__main__":
    main()
