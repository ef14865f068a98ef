"""Subprocess of the tests: executes calls from standard input, each in a forked process.

Each line is a JSON list of a function name and its arguments. Everything is imported once before
the forks, so that killing one is cheap.
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

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
django.setup()

from research.engine import loop  # noqa: E402
from research.engine.config import ResearchConfig  # noqa: E402
from research.engine.journal import Entry, Journal, Store  # noqa: E402
from research.engine.records import ENDED  # noqa: E402
from research.extract import pool  # noqa: E402, F401
from research.llm import client  # noqa: E402, F401 - imported once for all
from research.models import Run  # noqa: E402
from research.queue.processes import EmbeddedWorker  # noqa: E402
from research.readmodel.run_json import run_resource  # noqa: E402
from research.runtime import tool_factory  # noqa: E402
from research.runtime.schema import migrate_database  # noqa: E402
from research.services import people, runs  # noqa: E402
from research.worker import leases  # noqa: E402 - after the setup
from research.worker.replay import replay_run as replayed  # noqa: E402
from research.worker.run_executor import Timing  # noqa: E402

POLL_SECONDS = 0.02


def main() -> None:
    migrate_database()
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
    return runs.ask_question(people.local_admin(), question, agreed=agreed).public_id


def tell(run: str, command: str, arguments: Iterable[Any] = ()) -> None:
    getattr(runs, command)(people.local_admin(), _run(run), *arguments)


def expire(run: str) -> None:
    """Advance the clock beyond the expiry of the run's lease."""
    past = leases.database_now() - timedelta(seconds=1)
    Run.objects.filter(public_id=run).update(lease_until=past)


# --- workers --------------------------------------------------------------------------------


def work(
    run: str, die_after: int | str = 0, until: Iterable[str] = (), then_die: bool = False
) -> Any:
    """Run a worker until the run has ended or has a status in `until`.

    With `die_after` the process is killed once that number of journal entries, or the settled entry
    at that place, is durable. Return the journal places of model calls that may have been paid
    twice.
    """
    return asyncio.run(_work(run, die_after, set(until) or {s.value for s in ENDED}, then_die))


async def _work(run: str, die_after: int | str, until: set[str], then_die: bool) -> list[str]:
    paid_twice: list[str] = []

    async def engine(question: Any, config: ResearchConfig, journal: Journal) -> None:
        journal.store = Deadly(journal.store, die_after)
        paid_twice.extend(journal.paid_twice)
        await loop.run_research(question, config, journal)

    timing = Timing(heartbeat_seconds=1.0, poll_seconds=POLL_SECONDS)
    worker = EmbeddedWorker(tool_factory.build_tools, 1, timing=timing, engine=engine)
    await worker.start()
    while not _is_free_and(await worker.writer.call(_run, run), until):
        await asyncio.sleep(POLL_SECONDS)
    if then_die:
        die()
    await worker.stop()
    await tool_factory.close_tools()
    return paid_twice


def _is_free_and(run: Run, states: set[str]) -> bool:
    return run.status in states and not run.lease_owner


class Deadly:
    """A journal store that kills its process once `last` is durable.

    `last` is a number of entries, or the place of a settled one.
    """

    def __init__(self, store: Store, last: int | str) -> None:
        self._store = store
        self._last = last
        self._written = 0

    async def put(self, entry: Entry) -> None:
        await self._store.put(entry)
        self._written += 1
        is_settled = entry.place == self._last and entry.status == "done"
        if is_settled or self._written == self._last:
            die()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)


# --- looking --------------------------------------------------------------------------------


def latest() -> str | None:
    """Return the id of the newest run."""
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
