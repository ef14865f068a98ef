"""Server time and number of queries of each page over a large database.

    DATABASE_URL=… python -m bench.dashboard.pages [--runs 10000] [--times 9]

Fills the given database, which must be empty, and prints JSON. Every page is opened over three runs
first and then over all of them: the number of queries must be the same.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
django.setup()

from django.core.management import call_command  # noqa: E402 - after the setup
from django.db import connection  # noqa: E402
from django.test import Client  # noqa: E402
from django.test.utils import CaptureQueriesContext  # noqa: E402

from bench.dashboard import filling  # noqa: E402
from bench.dashboard.database import TIMES  # noqa: E402
from dashboard.queries.queries import RUNS_ON_A_PAGE  # noqa: E402
from research.admin.base import COUNTED  # noqa: E402
from research.models import Evidence, EvidenceSource, Run, Thread  # noqa: E402
from research.services import people  # noqa: E402

RUNS = 10_000
FEW = 2
RECORDS_ON_A_PAGE = 50
LOOK_FOR = "glacier 1"
EVIDENCE = "/admin/research/evidence/"


@dataclass(frozen=True)
class Opened:
    """Measurements of a page.

    Median milliseconds of wall time and of the server's CPU time; `few` and `many` are the queries
    over three runs and over all.
    """

    name: str
    path: str
    milliseconds: float
    cpu: float
    few: int
    many: int
    slowest_query: str


def paths(run: Run) -> dict[str, str]:
    """Return every page whose work could grow with the database."""
    last = -(-Run.objects.count() // RUNS_ON_A_PAGE)
    last_records = -(-min(Evidence.objects.count(), COUNTED) // RECORDS_ON_A_PAGE)
    page = f"/runs/{run.public_id}/"
    record = run.evidence.order_by("position")[0].pk
    site = EvidenceSource.objects.order_by("pk").last()
    assert site is not None
    call = run.journal.filter(kind="fetch").order_by("pk")[0].pk
    return {
        "ask": "/",
        "runs: first page": "/runs/",
        "runs: last page": f"/runs/?page={last}",
        "runs: search": f"/runs/?text={LOOK_FOR.replace(' ', '+')}",
        "runs: search without a hit": "/runs/?text=zzzz",
        "runs: by state": "/runs/?state=failed",
        "run with its report": page,
        "citation": f"{page}citations/1/",
        "activity": f"{page}activity/",
        "sources": f"{page}sources/",
        "export: Markdown": f"{page}export/md",
        "export: HTML": f"{page}export/html",
        "admin": "/admin/",
        "admin, runs": "/admin/research/run/",
        "admin, runs: search": f"/admin/research/run/?q={LOOK_FOR.replace(' ', '+')}",
        "admin, runs: by state": "/admin/research/run/?status__exact=failed",
        "admin, one run": f"/admin/research/run/{run.pk}/change/",
        "admin, evidence": EVIDENCE,
        "admin, evidence: of a run": f"{EVIDENCE}?q={run.public_id}",
        "admin, evidence: by words": f"{EVIDENCE}?q=wallets+reuse",
        "admin, evidence: of a site": f"{EVIDENCE}?site={site.domain}",
        "admin, evidence: unreviewed": f"{EVIDENCE}?review=none",
        "admin, evidence: rejected": f"{EVIDENCE}?review=reject",
        "admin, evidence: low confidence": f"{EVIDENCE}?sure=one",
        "admin, evidence: disputed": f"{EVIDENCE}?disputed=yes",
        "admin, evidence: last page": f"{EVIDENCE}?p={last_records}",
        "admin, one record": f"{EVIDENCE}{record}/change/",
        "admin, gates": "/admin/research/gateresult/",
        "admin, rounds": "/admin/research/round/",
        "admin, calls": "/admin/research/journalentry/",
        "admin, one call": f"/admin/research/journalentry/{call}/change/",
        "admin, reports": "/admin/research/report/",
    }


def measure(runs: int, times: int) -> list[Opened]:
    call_command("migrate", verbosity=0)
    client = Client(headers={"host": "localhost"})
    client.force_login(people.local_admin())
    run = filling.first_run()
    filling.copies(run, FEW)
    few = {name: queries(client, path) for name, path in paths(run).items()}
    Thread.objects.exclude(pk=run.thread_id).delete()
    filling.copies(run, runs - 1)
    if connection.vendor == "postgresql":
        vacuum()
    return [opened(client, name, path, len(few[name]), times) for name, path in paths(run).items()]


def vacuum() -> None:
    """Run VACUUM, as autovacuum would in time, to mark pages as visible to all transactions."""
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE")


def opened(client: Client, name: str, path: str, few: int, times: int) -> Opened:
    asked = queries(client, path)
    walls, cpus = zip(*(timed(client, path) for _ in range(times)), strict=True)
    slowest = max(asked, key=lambda query: float(query["time"]))
    return Opened(
        name=name,
        path=path,
        milliseconds=statistics.median(walls),
        cpu=statistics.median(cpus),
        few=few,
        many=len(asked),
        slowest_query=f"{slowest['time']} s: {slowest['sql']}",
    )


def timed(client: Client, path: str) -> tuple[float, float]:
    begun, used = time.perf_counter(), time.process_time()
    client.get(path)
    return (time.perf_counter() - begun) * 1000, (time.process_time() - used) * 1000


def queries(client: Client, path: str) -> list[dict[str, str]]:
    """Return the number of queries once per-process caches are filled."""
    client.get(path)
    with CaptureQueriesContext(connection) as asked:
        answer = client.get(path)
    if answer.status_code != 200:
        raise SystemExit(f"{path} answers {answer.status_code}")
    return list(asked.captured_queries)


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(prog="bench.dashboard.pages")
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--times", type=int, default=TIMES)
    options = parser.parse_args(arguments)
    found = measure(options.runs, options.times)
    counted = {"runs": Run.objects.count(), "evidence": Evidence.objects.count()}
    print(json.dumps({**counted, "pages": [asdict(page) for page in found]}))


if __name__ == "__main__":
    main(sys.argv[1:])
