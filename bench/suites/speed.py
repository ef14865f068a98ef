"""The speed suite: CPU time of the engine's steps, without network or database."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from bench import page
from bench.speed import Timed, measure


def section(files: Sequence[Path]) -> str:
    machine = page.machine()
    rows = [_cells(timed) for timed in measure()]
    return page.rendered(
        "speed.md", machine=machine, table=page.table(("CPU time", "bar", "median", ""), rows)
    )


def _cells(timed: Timed) -> list[str]:
    reached = "reached" if timed.median_ms <= timed.bound_ms else "**not reached**"
    return [timed.what, f"≤ {timed.bound_ms:g} ms", f"{timed.median_ms:.2f} ms", reached]
