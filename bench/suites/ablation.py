"""The engine without one gate, cap or stop rule at a time."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from bench import page
from bench.comparison.ablation import ORDINARY, Row, ablate_all, rows
from bench.comparison.shards import measured_in

SEEDS = (141, 142, 143, 144)
PER_KIND = 1
HEAD = ("rule", "runs", "outcomes changed", "rounds", "recall", "model calls", "where")


def section(files: Sequence[Path]) -> str:
    machine = page.machine()
    found = list(rows(measured_in(ablate_all, SEEDS, PER_KIND, "ablations")))
    return page.rendered(
        "ablation.md",
        machine=machine,
        questions=len(SEEDS) * PER_KIND * 4,
        settings=", ".join(setting.name for setting in ORDINARY),
        table=page.table(HEAD, map(_cells, found)),
        idle=[row.rule for row in found if not row.changed],
    )


def _cells(row: Row) -> list[str]:
    differences = (f"{row.rounds:+.1f}", f"{row.recall:+.2f}", f"{row.calls:+.1f}")
    shown = differences if row.changed else ("–", "–", "–")
    return [row.rule, str(row.runs), str(row.changed), *shown, row.where or "–"]
