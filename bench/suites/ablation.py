"""Ablation of the engine: one gate, cap, stop rule or prefetch disabled at a time."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from bench import page
from bench.comparison import begun
from bench.comparison.ablation import Row, Setting, rows
from bench.comparison.rules import ABLATIONS, READY, ablate_all
from bench.comparison.shards import measured_in
from bench.world.facts import KINDS
from bench.world.hostile import HONEST
from bench.world.supply import SUPPLIES

SEEDS = (141, 142, 143, 144)
PER_KIND = 1
HEAD = ("rule", "condition", "what changes without it", "questions whose outcome changes")
BEGUN_HEAD = (
    "begun ahead", "analyst", "question", "questions", "begun a question", "time ÷",
    "model calls", "tokens ÷", "searches", "dollars ÷",
)  # fmt: skip


def section(files: Sequence[Path]) -> str:
    machine = page.machine()
    measured = measured_in(ablate_all, SEEDS, PER_KIND, "ablations", tuple(SUPPLIES))
    order = [ablation.rule for ablation in ABLATIONS]
    found = sorted(rows(measured), key=lambda row: order.index(row.rule))
    ahead = measured_in(begun.time_begun, SEEDS, PER_KIND, "begun ahead", latency=True)
    ahead += measured_in(begun.count_begun, SEEDS, PER_KIND, "begun in vain")
    return page.rendered(
        "ablation.md",
        machine=machine,
        rules=len(ABLATIONS),
        questions=len(SEEDS) * PER_KIND * len(KINDS),
        table=page.table(HEAD, map(_cells, found), texts=3),
        idle=idle(found),
        ready=READY,
        begun=page.table(BEGUN_HEAD, map(_begun_cells, begun.rows(ahead)), texts=3),
    )


def idle(found: Sequence[Row]) -> list[str]:
    """Return the rules that change nothing under any of their conditions."""
    acting = {row.rule for row in found if row.changed}
    return [rule for rule in dict.fromkeys(row.rule for row in found) if rule not in acting]


def _cells(row: Row) -> list[str]:
    return [row.rule, row.setting, row.how or "–", f"{row.changed} of {row.questions}"]


def _begun_cells(row: begun.Row) -> list[str]:
    time = f"{row.seconds:.2f}" if row.analyst == HONEST else "–"
    return [
        row.what, str(Setting(row.analyst)), row.kind, str(row.questions), f"{row.begun:.1f}", time,
        f"{row.calls:+.1f}", f"{row.tokens:.2f}", f"{row.searches:+.1f}", f"{row.usd:.2f}",
    ]  # fmt: skip
