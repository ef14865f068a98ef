"""Completion rate of runs on each database without any faults.

    python -m bench.completing --runs 100 --slots 4

The product's worker researches questions of the simulated world with the scripted model, several
runs in parallel, in a separate process: first on SQLite, then on PostgreSQL (the server of
TEST_DATABASE_URL). The last line counts completed runs per database. Other runs are printed with
their reason, and the exit status is 1.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import psycopg

from bench.world.running import RunningWorld, running_world

ROOT = Path(__file__).resolve().parents[1]
SERVER = os.environ.get("TEST_DATABASE_URL", "postgresql://postgres@127.0.0.1:5432/postgres")
DATABASES = ("sqlite", "postgresql")


@dataclass(frozen=True)
class Completed:
    """Results on one database; `others` are the reasons of runs that did not complete."""

    database: str
    runs: int
    completed: int
    calls: int
    seconds: float
    others: tuple[str, ...] = ()


def measure(running: RunningWorld, database: str, runs: int, slots: int) -> Completed:
    """Research the given number of questions of the world, in turn, on an empty database."""
    questions = [question.text for question in running.world.questions if question.needed]
    asked = [questions[number % len(questions)] for number in range(runs)]
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as home, empty_database(database, Path(home)) as url:
        told = _worked(running, home, url, asked, slots)
    reasons = [_reason(run) for run in told if run["status"] != "completed"]
    return Completed(
        database=database,
        runs=len(told),
        completed=len(told) - len(reasons),
        calls=sum(run["usage"].get("llm_calls", 0) for run in told),
        seconds=round(time.monotonic() - began, 1),
        others=tuple(reasons),
    )


def _worked(
    running: RunningWorld, home: str, url: str, asked: Sequence[str], slots: int
) -> list[dict[str, Any]]:
    environment = {
        **os.environ, **running.environment(), "DATABASE_URL": url, "PLUMBLINE_HOME": home,
        "DEEPRESEARCH_ENV_FILE": os.devnull, "FETCH_INTERVAL_SECONDS": "0",
        "DEEP_RESEARCH_CONCURRENCY": str(slots), "NETWORK_PROBE": "none",
    }  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-m", "bench.working_off", "--slots", str(slots)],
        cwd=ROOT, env=environment, input=json.dumps(asked), text=True,
        stdout=subprocess.PIPE, check=True,
    )  # fmt: skip
    told: list[dict[str, Any]] = json.loads(done.stdout)
    return told


def _reason(run: dict[str, Any]) -> str:
    return f"{run['question']}: {run['status']}: {run['termination_text'] or 'without a reason'}"


@contextmanager
def empty_database(kind: str, home: Path) -> Iterator[str]:
    """Yield the URL of a temporary database."""
    if kind == "sqlite":
        yield f"sqlite:///{home / 'completing.sqlite3'}"
        return
    name = f"plumbline_completing_{os.getpid()}"
    with psycopg.connect(SERVER, autocommit=True) as server:
        server.execute(f"CREATE DATABASE {name}")
        try:
            yield urlunsplit(urlsplit(SERVER)._replace(path=f"/{name}"))
        finally:
            server.execute(f"DROP DATABASE {name} WITH (FORCE)")


def main() -> int:
    parser = argparse.ArgumentParser(prog="bench.completing", description=__doc__)
    parser.add_argument("--runs", type=int, default=100, help="on each database")
    parser.add_argument("--slots", type=int, default=4, help="runs at once, and topics at once")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--on", choices=DATABASES, action="append", help="both where not named")
    options = parser.parse_args()
    with running_world(options.seed) as running:
        found = [
            measure(running, database, options.runs, options.slots)
            for database in options.on or DATABASES
        ]
    for each in found:
        print(json.dumps(asdict(each), indent=1))
    print(", ".join(f"{each.database}: {each.completed} of {each.runs}" for each in found))
    return int(any(each.completed < options.runs for each in found))


if __name__ == "__main__":
    sys.exit(main())
