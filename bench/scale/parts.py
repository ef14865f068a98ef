"""Runs a measurement in a subprocess whose database is empty."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from bench.completing import ROOT, empty_database

PARTS = ("places", "fairness", "claims", "throughput")

Figures = dict[str, float]


def measure(part: str) -> Figures:
    """Return a measurement's figures by name; raise `CalledProcessError` if it fails."""
    with tempfile.TemporaryDirectory() as home, empty_database("postgresql", Path(home)) as url:
        environment = {
            **os.environ, "DATABASE_URL": url, "PLUMBLINE_HOME": home, "NETWORK_PROBE": "none",
            "DEEPRESEARCH_ENV_FILE": os.devnull,
        }  # fmt: skip
        done = subprocess.run(
            [sys.executable, "-m", f"bench.scale.{part}"],
            cwd=ROOT, env=environment, text=True, stdout=subprocess.PIPE, check=True,
        )  # fmt: skip
    figures: Figures = json.loads(done.stdout)
    return figures


def prepare_django() -> None:
    """Set up Django and its tables in the process of a measurement."""
    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    from research.runtime.schema import migrate_database

    migrate_database()


def percentile(values: list[float], share: float) -> float:
    """Return the value below which this share lies; 0 if there are none."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))] if ordered else 0.0
