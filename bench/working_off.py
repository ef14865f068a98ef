"""Subprocess of `bench.completing` and `bench.outages`: the product's worker on given questions.

It uses the database of the environment, reads a JSON list of questions and prints a JSON list of
the results.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
from collections.abc import Sequence
from typing import Any

import django
from django.db import Error as DatabaseError

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
django.setup()

from research.models import Run  # noqa: E402
from research.queue.processes import EmbeddedWorker  # noqa: E402
from research.runtime import tool_factory  # noqa: E402 - after the setup
from research.runtime.schema import migrate_database  # noqa: E402
from research.services import people, runs  # noqa: E402
from research.worker.leases import LEASE_SECONDS  # noqa: E402
from research.worker.run_executor import Timing  # noqa: E402

COLUMNS = ("question", "status", "termination_text", "usage")


def ask(questions: Sequence[str]) -> None:
    person = people.local_admin()
    for question in questions:
        runs.ask_question(person, question, agreed=True)


async def work(slots: int, timing: Timing) -> None:
    """Execute runs until each one has ended or stalled."""
    worker = EmbeddedWorker(tool_factory.build_tools, slots, timing=timing)
    await worker.start()
    while await _left(worker):
        await asyncio.sleep(0.1)
    await worker.stop()
    await tool_factory.close_tools()


async def _left(worker: EmbeddedWorker) -> bool:
    """Return whether any run may not have ended; True while the database is unavailable."""
    unfinished = Run.objects.filter(finished_at=None).exclude(status="stalled")
    try:
        return await worker.writer.call(unfinished.exists)
    except DatabaseError:
        return True


def outcomes() -> list[dict[str, Any]]:
    return list(Run.objects.order_by("pk").values(*COLUMNS))


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench.working_off", description=__doc__)
    parser.add_argument("--slots", type=int, default=4)
    parser.add_argument("--lease-seconds", type=float, default=LEASE_SECONDS)
    options = parser.parse_args()
    lease = options.lease_seconds
    timing = Timing(lease_seconds=lease, heartbeat_seconds=lease / 5, poll_seconds=0.05)
    migrate_database()
    ask(json.load(sys.stdin))
    asyncio.run(work(options.slots, timing))
    print(json.dumps(outcomes()))


if __name__ == "__main__":
    main()
