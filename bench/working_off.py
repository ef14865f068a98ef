"""Researches questions with the product's worker on the database of the environment.

A process of `bench.completing` and `bench.outages`: it reads a JSON list of questions and prints a
JSON list of what came of each.
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

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dashboard.settings")
django.setup()

from research import assembly  # noqa: E402 - after the setup
from research.advancing import Timing  # noqa: E402
from research.leases import LEASE_SECONDS  # noqa: E402
from research.models import Run  # noqa: E402
from research.schema import migrate  # noqa: E402
from research.services import people, runs  # noqa: E402
from research.worker import EmbeddedWorker  # noqa: E402

COLUMNS = ("question", "status", "termination_text", "usage")


def ask(questions: Sequence[str]) -> None:
    person = people.local_admin()
    for question in questions:
        runs.ask(person, question, agreed=True)


async def work(slots: int, timing: Timing) -> None:
    """Advance runs until every one has ended or was put aside."""
    worker = EmbeddedWorker(assembly.build_tools, slots, timing=timing)
    await worker.start()
    while await _left(worker):
        await asyncio.sleep(0.1)
    await worker.stop()
    await assembly.close()


async def _left(worker: EmbeddedWorker) -> bool:
    """Whether a run has not ended; so long as the database doesn't answer, some may not have."""
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
    migrate()
    ask(json.load(sys.stdin))
    asyncio.run(work(options.slots, timing))
    print(json.dumps(outcomes()))


if __name__ == "__main__":
    main()
