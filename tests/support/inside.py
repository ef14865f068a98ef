"""A program of the tests: does what it is told on standard input, each time in a new process.

Each line is a JSON list of a function's name and its arguments. Everything is imported
once; a process for each call is forked from that, so that killing one is cheap.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import Callable, Iterable
from datetime import timedelta
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dashboard.settings")
django.setup()

from research import assembly, leases  # noqa: E402 - after the setup
from research.advancing import Timing  # noqa: E402
from research.engine import loop  # noqa: E402
from research.engine.config import ResearchConfig  # noqa: E402
from research.engine.journal import Entry, Journal, Store  # noqa: E402
from research.engine.records import ENDED  # noqa: E402
from research.llm import client  # noqa: E402, F401 - imported once for all
from research.models import Run  # noqa: E402
from research.replaying import replay as replayed  # noqa: E402
from research.resource import run_resource  # noqa: E402
from research.retrieval import fallback, fetch, index, pool, providers  # noqa: E402, F401
from research.schema import migrate  # noqa: E402
from research.services import people, runs  # noqa: E402
from research.worker import EmbeddedWorker  # noqa: E402

POLL_SECONDS = 0.02


def main() -> None:
    migrate()
    for line in sys.stdin:
        name, arguments = json.loads(line)
        pid = os.fork()
        if pid == 0:
            _say({"result": CALLS[name](**arguments)})
            os._exit(0)
        _say({"exit": os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])})


def _say(value: dict[str, Any]) -> None:
    print(json.dumps(value, default=str), flush=True)


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


# --- people ---------------------------------------------------------------------------------


def ask(question: str, agreed: bool = True) -> str:
    return runs.ask(people.local_admin(), question, agreed=agreed).public_id


def tell(run: str, command: str, arguments: Iterable[Any] = ()) -> None:
    getattr(runs, command)(people.local_admin(), _run(run), *arguments)


def expire(run: str) -> None:
    """Turn the clock on to where the run's lease is over."""
    past = leases.database_now() - timedelta(seconds=1)
    Run.objects.filter(public_id=run).update(lease_until=past)


# --- workers --------------------------------------------------------------------------------


def work(run: str, die_after: int = 0, until: Iterable[str] = (), then_die: bool = False) -> Any:
    """Run a worker until the run has ended, or is in one of the states of `until`.

    With `die_after` the process is killed as soon as so many entries of the journal are
    durable. Returns the places of model calls that may have been paid for twice.
    """
    return asyncio.run(_work(run, die_after, set(until) or {s.value for s in ENDED}, then_die))


async def _work(run: str, die_after: int, until: set[str], then_die: bool) -> list[str]:
    paid_twice: list[str] = []

    async def engine(question: Any, config: ResearchConfig, journal: Journal) -> None:
        journal.store = Deadly(journal.store, die_after)
        paid_twice.extend(journal.paid_twice)
        await loop.research(question, config, journal)

    timing = Timing(heartbeat_seconds=1.0, poll_seconds=POLL_SECONDS)
    worker = EmbeddedWorker(assembly.build_tools, 1, timing=timing, engine=engine)
    await worker.start()
    while not _is_free_and(await worker.writer.call(_run, run), until):
        await asyncio.sleep(POLL_SECONDS)
    if then_die:
        die()
    await worker.stop()
    await assembly.close()
    return paid_twice


def _is_free_and(run: Run, states: set[str]) -> bool:
    return run.status in states and not run.lease_owner


class Deadly:
    """A journal's store that kills its process once `entries` of them are durable."""

    def __init__(self, store: Store, entries: int) -> None:
        self._store = store
        self._left = entries

    async def put(self, entry: Entry) -> None:
        await self._store.put(entry)
        self._left -= 1
        if self._left == 0:
            die()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)


# --- looking --------------------------------------------------------------------------------


def latest() -> str | None:
    """The id of the newest run."""
    return Run.objects.order_by("-pk").values_list("public_id", flat=True).first()


def resource(run: str) -> dict[str, Any]:
    return run_resource(_run(run), with_pages=True)


def journal(run: str) -> list[dict[str, Any]]:
    columns = ("place", "attempt", "kind", "status", "request", "answer")
    return list(_run(run).journal.order_by("pk").values(*columns))


def head(run: str) -> dict[str, Any]:
    columns = ("status", "crashes", "plan", "lease_owner", "lease_until", "lease_epoch", "sequence")
    return Run.objects.values(*columns, "sources").get(public_id=run)


def replay(run: str) -> dict[str, Any]:
    return asyncio.run(replayed(_run(run), {})).as_dict()


def _run(public_id: str) -> Run:
    return Run.objects.get(public_id=public_id)


CALLS: dict[str, Callable[..., Any]] = {
    call.__name__: call
    for call in (ask, tell, expire, work, latest, resource, journal, head, replay)
}

if __name__ == "__main__":
    main()
