"""Many runs at once in one process that serves pages, too: what each costs, and what waits."""

from __future__ import annotations

import json
import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from bench.completing import empty_database
from bench.scale.fleet import LEFT, PATIENCE_SECONDS, Fleet
from bench.scale.parts import Figures, percentile
from bench.world.running import running_world

KINDS = 3
LOOK_SECONDS = 0.5
LONGEST_SECONDS_A_RUN = 6.0
"""Of a machine so busy that the measurement is given up."""


def at_once(runs: int) -> Figures:
    """Ask all questions of a process that has a place for each, and read runs meanwhile."""
    with (
        running_world(1, latency=True, per_kind=-(-runs // KINDS)) as running,
        tempfile.TemporaryDirectory(prefix="plumbline-scale-") as name,
        empty_database("postgresql", Path(name)) as url,
        Fleet(running, Path(name), url) as fleet,
    ):
        places = str(4 * runs)
        fleet.environment |= {
            "RUNS_AT_ONCE": "0", "RESEARCH_SLOTS": str(runs), "MODEL_CONCURRENCY": places,
        }  # fmt: skip
        watched = Path(name) / "watched.json"
        web = fleet.add_web("--watch", str(watched))
        fleet.start()
        fleet.until_ready(web)
        cpu, memory = _cpu_seconds(web.pid), _peak_megabytes(web.pid)
        fleet.ask(runs)
        began, reads = time.monotonic(), list[float]()
        deadline = began + PATIENCE_SECONDS + LONGEST_SECONDS_A_RUN * runs
        while fleet.rows(LEFT) != [(0,)] and time.monotonic() < deadline:
            public_id = next(iter(fleet.tokens))
            read = time.monotonic()
            fleet.shown(web, public_id)
            reads.append(time.monotonic() - read)
            time.sleep(LOOK_SECONDS)
        seconds = time.monotonic() - began
        [(left,)] = fleet.rows(LEFT) or [(runs,)]
        loop = json.loads(watched.read_text())
        blocked = loop["answers"]
        for lasted, stack in loop["longest"]:
            where = " < ".join(stack[:-7:-1])
            print(f"  the loop computed for {lasted * 1_000:.0f} ms in {where}")
        return {
            "at_once_unfinished": left,
            "at_once_cpu": (_cpu_seconds(web.pid) - cpu) / runs,
            "at_once_megabytes": (_peak_megabytes(web.pid) - memory) / runs,
            "at_once_blocked": max(blocked) * 1_000,
            "at_once_computed": max(loop["computed"]) * 1_000,
            "at_once_computed_p99": percentile(loop["computed"], 0.99) * 1_000,
            "at_once_blocked_p99": percentile(blocked, 0.99) * 1_000,
            "at_once_read_p95": percentile(reads, 0.95) * 1_000,
            "at_once_a_minute": (runs - left) * 60 / seconds,
        }


def _cpu_seconds(pid: int) -> float:
    """Return the CPU time of a process and of those that it has started."""
    return sum(ticks for ticks in _ticks(str(pid))) / os.sysconf("SC_CLK_TCK")


def _ticks(pid: str) -> Iterator[int]:
    fields = _stat(pid)
    yield sum(map(int, fields[11:15]))  # of user and of system mode, with children that ended
    for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
        yield from _ticks(child)


def _stat(pid: str) -> list[str]:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()


def _peak_megabytes(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1024
