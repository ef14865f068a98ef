"""Milliseconds to claim a run, and to poll an empty queue, with many queued and parked runs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import date
from pathlib import Path

from bench.completing import ROOT
from bench.scale.parts import Figures, percentile, prepare_django

prepare_django()

from django.contrib.auth import get_user_model  # noqa: E402 - after the setup
from django.db import connection  # noqa: E402

from research.models import Run, Thread, WorkerProcess  # noqa: E402
from research.queue.admission import Caps, claim_next, place_of  # noqa: E402
from research.worker import notify  # noqa: E402
from research.worker.leases import release_lease  # noqa: E402

QUEUED, PARKED = 10_000, 5_000
CLAIMS = 60
POLLS = 200
PROCESSES = 6
START_SECONDS, SETTLE_SECONDS, IDLE_SECONDS = 60.0, 10.0, 30.0


def fill(people: int) -> None:
    """Queue runs of so many people, in turns, and park others that wait for their owners."""
    Run.objects.all().delete()
    users = get_user_model()._default_manager
    names = [f"person {n}" for n in range(people)]
    users.bulk_create([get_user_model()(username=name) for name in names], ignore_conflicts=True)
    owners = list(users.filter(username__in=names))
    thread = Thread.objects.create(owner=owners[0], title="Questions")
    Run.objects.bulk_create(
        (
            Run(
                owner=owners[number % people],
                thread=thread,
                question=f"Question {number}",
                today=date(2026, 3, 1),
                status="queued" if number < QUEUED else "awaiting_approval",
                turn=number // people,
            )
            for number in range(QUEUED + PARKED)
        ),
        batch_size=1_000,
    )
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE research_run")


def timed(call: Callable[[], object]) -> float:
    began = time.perf_counter()
    call()
    return (time.perf_counter() - began) * 1_000


def database_cpu_seconds() -> float:
    """Return the CPU time of this database's server processes, which have to be on this host."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pid FROM pg_stat_activity WHERE datname = current_database()")
        pids = [pid for (pid,) in cursor.fetchall()]
    ticks = 0
    for pid in pids:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])  # of user and of system mode
    return ticks / os.sysconf("SC_CLK_TCK")


def idle_share() -> float:
    """Return the database's share of a core while workers have nothing to do."""
    command = [sys.executable, "manage.py", "worker"]
    workers = [
        subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL) for _ in range(PROCESSES)
    ]
    try:
        deadline = time.monotonic() + START_SECONDS
        while WorkerProcess.objects.count() < PROCESSES and time.monotonic() < deadline:
            time.sleep(1.0)
        time.sleep(SETTLE_SECONDS)
        before, began = database_cpu_seconds(), time.monotonic()
        time.sleep(IDLE_SECONDS)
        return (database_cpu_seconds() - before) / (time.monotonic() - began)
    finally:
        for worker in workers:
            worker.kill()
            worker.wait()


def claims(people: int) -> list[float]:
    """Return the milliseconds of claims, each given back before the next."""
    fill(people)
    found = []
    for _ in range(CLAIMS):
        notify.hear(notify.BEAT)  # as in a process that hears the others
        began = time.perf_counter()
        lease = claim_next("bench", caps=Caps(per_person=4))
        found.append((time.perf_counter() - began) * 1_000)
        assert lease
        release_lease(lease)
        Run.objects.filter(pk=lease.run_id).update(status="completed")
    return found[10:]


def main() -> None:
    figures: Figures = {}
    for people in (1, 50, 10_000):
        found = claims(people)
        figures[f"claim_p50_{people}"] = percentile(found, 0.5)
        figures[f"claim_p95_{people}"] = percentile(found, 0.95)
    last = Run.objects.filter(status="queued").order_by("turn").last()
    assert last
    figures["place"] = percentile([timed(lambda: place_of(last)) for _ in range(50)], 0.5)
    Run.objects.filter(status="queued").update(status="completed")
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE research_run")
    idle = [timed(lambda: claim_next("bench", caps=Caps(per_person=4))) for _ in range(POLLS)]
    figures["idle_poll"] = percentile(idle, 0.5)
    figures["idle_core"] = idle_share()
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
