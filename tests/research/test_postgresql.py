"""The same tests on the other database, in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
HISTORY = HERE.parent / "dashboard" / "test_history.py"
SUITES = [
    HERE / f"{name}.py"
    for name in (
        "worker/test_leases",
        "worker/test_writer",
        "worker/test_journal_store",
        "worker/test_projection",
        "worker/test_embedded",
        "queue/test_admission",
        "queue/test_presence",
        "queue/test_draining",
        "worker/test_notify",
        "worker/test_prepared",
        "limits/test_limiter",
        "test_with_model",
        "test_runs",
        "worker/test_retention",
        "readmodel/test_progress",
        "test_admin",
        "runtime/test_db_threads",
        "runtime/test_outages",
        "test_uploads_at_once",
        "documents/test_indexing",
        "operations/test_backup",
        "operations/test_metrics",
        "test_compressed",
        "test_document_runs",
    )
]
COMPRESSED = (HERE / "test_compressed.py").relative_to(ROOT)
OPTIONS = [
    "-q", "-n0", "-p", "no:cacheprovider", "-p", "no:schemathesis",
    "--deselect", f"{COMPRESSED}::test_every_value_comes_back",
]  # fmt: skip


@pytest.mark.requirement("F8")
@pytest.mark.slow
@pytest.mark.services("postgresql")
def test_the_same_holds_on_postgresql(postgresql_url: str, tmp_path: Path) -> None:
    database = urlsplit(postgresql_url)._replace(path=f"/plumbline_{os.getpid()}")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *OPTIONS, *SUITES, HISTORY],
        env={
            **os.environ,
            "DATABASE_URL": urlunsplit(database),
            "PLUMBLINE_HOME": str(tmp_path),
        },
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=1500,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
