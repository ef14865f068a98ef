"""Bytes, statements and CPU seconds of a run on each database.

    python -m bench.run_size --runs 20 [--on sqlite] [--stages]

The product's worker researches questions of the simulated world with the scripted model, in a
process of its own. Measured are the growth of each table with its indexes, the statements sent to
the database, the CPU time, and what journal and page texts would take without compression. With
`--stages` the CPU time is divided by stages (`cpu_stages.py`), which takes some more.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from bench.completing import DATABASES, ROOT, empty_database
from bench.cpu_stages import StageClock
from bench.world.running import RunningWorld, running_world

LARGEST = 8


def measure(running: RunningWorld, database: str, runs: int, stages: bool) -> dict[str, Any]:
    """Return the figures of one run: the mean over `runs` on an empty database."""
    questions = [question.text for question in running.world.questions if question.needed]
    asked = [questions[number % len(questions)] for number in range(runs)]
    with tempfile.TemporaryDirectory() as home, empty_database(database, Path(home)) as url:
        environment = {
            **os.environ, **running.environment(), "DATABASE_URL": url, "PLUMBLINE_HOME": home,
            "DEEPRESEARCH_ENV_FILE": os.devnull, "FETCH_INTERVAL_SECONDS": "0",
            "NETWORK_PROBE": "none",
        }  # fmt: skip
        done = subprocess.run(
            [sys.executable, "-m", "bench.run_size", "--inside", *["--stages"] * stages],
            cwd=ROOT, env=environment, input=json.dumps(asked), text=True,
            stdout=subprocess.PIPE, check=True,
        )  # fmt: skip
    found: dict[str, Any] = json.loads(done.stdout)
    return {"database": database, "runs": runs, **_each(found, runs)}


def _each(found: dict[str, Any], runs: int) -> dict[str, Any]:
    return {
        name: _each(value, runs) if isinstance(value, dict) else round(value / runs, 3)
        for name, value in found.items()
    }


# --- in the process that does the work --------------------------------------------------------


def work_and_measure(questions: Sequence[str], stages: bool = False) -> dict[str, Any]:
    """Research the questions on the database of the environment; return sums over all of them."""
    from django.db.backends.signals import connection_created

    from bench import working_off  # sets Django up

    statements: Counter[str] = Counter()

    def count(execute: Any, sql: str, parameters: Any, many: bool, context: Any) -> Any:
        statements[sql.split(None, 1)[0].upper()] += 1
        return execute(sql, parameters, many, context)

    def watch(connection: Any, **_: Any) -> None:
        connection.execute_wrappers.append(count)

    working_off.migrate_database()
    working_off.ask(questions)
    before = table_bytes()
    connection_created.connect(watch, weak=False)
    began, clock = time.process_time(), StageClock()
    with clock if stages else nullcontext():
        asyncio.run(working_off.work(4, working_off.Timing(poll_seconds=0.05)))
    cpu = time.process_time() - began
    used = statements.copy()
    grown = {name: size - before.get(name, 0) for name, size in table_bytes().items()}
    largest = sorted(grown.items(), key=lambda item: -item[1])[:LARGEST]
    return {
        "cpu_seconds": cpu,
        "cpu_by_stage": dict(sorted(clock.stages.items(), key=lambda item: -item[1])),
        "bytes": sum(grown.values()),
        "tables": dict(largest),
        "statements": used.total(),
        "by_kind": dict(used.most_common(5)),
        "contents": content_bytes(),
    }


def table_bytes() -> dict[str, int]:
    """Return the bytes of each table with its indexes."""
    from django.db import connection

    if connection.vendor == "sqlite":
        sql = (
            "SELECT m.tbl_name, SUM(s.pgsize) FROM dbstat s JOIN sqlite_master m ON m.name = s.name"
            " GROUP BY 1"
        )
    else:
        sql = "SELECT relname, pg_total_relation_size(relid) FROM pg_stat_user_tables"
    with connection.cursor() as cursor:
        cursor.execute(sql)
        return {name: int(size) for name, size in cursor.fetchall()}


def content_bytes() -> dict[str, int]:
    """Return the bytes of journal and page texts as stored, and as written without compression."""
    from django.db import connection

    from research.models import JournalEntry, PageText

    size = "pg_column_size({})" if connection.vendor == "postgresql" else "LENGTH(CAST({} AS BLOB))"
    parts = {
        "requests": ("request", "research_journalentry"),
        "answers": ("answer", "research_journalentry"),
        "page_texts": ("text", "research_pagetext"),
    }
    stored = {}
    with connection.cursor() as cursor:
        for name, (column, table) in parts.items():
            cursor.execute(f"SELECT COALESCE(SUM({size.format(column)}), 0) FROM {table}")
            stored[f"{name}_stored"] = int(cursor.fetchone()[0])
    entries = list(JournalEntry.objects.values_list("request", "answer"))
    texts = PageText.objects.values_list("text", flat=True)
    return stored | {
        "requests_plain": sum(len(json.dumps(request).encode()) for request, _ in entries),
        "answers_plain": sum(len(json.dumps(answer).encode()) for _, answer in entries),
        "page_texts_plain": sum(len(text.encode()) for text in texts),
    }


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench.run_size", description=__doc__)
    parser.add_argument("--runs", type=int, default=20, help="on each database")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--on", choices=DATABASES, action="append", help="both where not named")
    parser.add_argument("--stages", action="store_true", help="divide the CPU time by stages")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.inside:
        print(json.dumps(work_and_measure(json.load(sys.stdin), options.stages)))
        return
    with running_world(options.seed) as running:
        for database in options.on or DATABASES:
            found = measure(running, database, options.runs, options.stages)
            print(json.dumps(found, indent=1), flush=True)


if __name__ == "__main__":
    main()
