"""The same tests on the other database, in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import pytest

HERE = Path(__file__).parent
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


@pytest.mark.requirement("F8")
@pytest.mark.slow
@pytest.mark.services("postgresql")
def test_the_same_holds_on_postgresql(postgresql_url: str, tmp_path: Path) -> None:
    database = urlsplit(postgresql_url)._replace(path=f"/plumbline_{os.getpid()}")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *SUITES, HISTORY],
        env={
            **os.environ,
            "DATABASE_URL": urlunsplit(database),
            "PLUMBLINE_HOME": str(tmp_path),
        },
        cwd=HERE.parents[1],
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
