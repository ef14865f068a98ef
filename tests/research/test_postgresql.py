"""The same tests on the other database, in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import pytest

HERE = Path(__file__).parent
SUITES = [
    HERE / f"test_{name}.py"
    for name in (
        "leases",
        "writer",
        "journal_store",
        "projection",
        "worker",
        "with_model",
        "runs",
        "retention",
        "progress",
        "admin",
        "connections",
        "uploads_at_once",
        "indexing",
        "document_runs",
    )
]


@pytest.mark.requirement("F8")
@pytest.mark.services("postgresql")
def test_the_same_holds_on_postgresql(postgresql_url: str, tmp_path: Path) -> None:
    database = urlsplit(postgresql_url)._replace(path=f"/plumbline_{os.getpid()}")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *SUITES],
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
