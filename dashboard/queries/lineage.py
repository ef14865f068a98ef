"""The runs that a run was made from."""

from __future__ import annotations

from collections.abc import Sequence

from research.models import Run
from research.models.runs import REWRITES


def ancestor_runs(run: Run) -> Sequence[Run]:
    """Return the runs that a run was made from, nearest first."""
    if run.parent_id is None:
        return []
    earlier = Run.objects.filter(thread=run.thread_id, pk__lt=run.pk)
    rows = {row.pk: row for row in earlier.only("public_id", "kind", "parent")}
    found = []
    parent = rows.get(run.parent_id)
    while parent is not None:
        found.append(parent)
        parent = rows.get(parent.parent_id)
    return found


def run_that_searched(run: Run) -> Run | None:
    """Return the run whose research a rewritten version rests on; None if it was deleted."""
    found = next((row for row in ancestor_runs(run) if row.kind not in REWRITES), None)
    return Run.objects.get(pk=found.pk) if found else None
