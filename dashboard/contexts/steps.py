"""The steps of a run under way, with what each has done so far."""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext_lazy as _

from dashboard import words
from dashboard.contexts.aspects import exclude_dropped
from dashboard.queries.run_rows import RunRows
from research.engine.records import Status
from research.readmodel.phases import Phase

UNDER_WAY = frozenset({Status.INTAKE, Status.RESEARCHING, Status.PAUSED, Status.WRITING})
STEPS = (_("Planning"), _("Searching"), _("Reading"), _("Judging"), _("Writing"))
PLANNING, SEARCHING, READING, JUDGING, WRITING = range(len(STEPS))
READS = "Reading"
"""How the engine's own words for reading begin."""


def list_steps(rows: RunRows) -> list[dict[str, Any]]:
    """Return name, number and noun of each step; a round goes from searching to judging again.

    Nothing is returned while a run waits for its turn or for a person.
    """
    run, now = rows.run, rows.progress
    if run.ended or run.status not in UNDER_WAY:
        return []
    current = _current(rows)
    score = now.quality.score
    counts = (
        (len(exclude_dropped(now.aspects)), "sub-question"),
        (now.usage["searches"], "search"),
        (sum(row.pages_read for row in rows.rounds), "page"),
        (now.evidence.count, "claim"),
    )
    shown = [_counted(number, noun) for number, noun in counts]
    if score is not None:
        shown[JUDGING] = {"number": words.format_score(score), "noun": str(_("of 10"))}
    return [
        {"name": str(name), "is_now": place == current, "is_done": place < current, **told}
        for place, (name, told) in enumerate(zip(STEPS, [*shown, _counted(0, "")], strict=True))
    ]


def _counted(number: int, noun: str) -> dict[str, str]:
    if not number:
        return {"number": "", "noun": ""}
    value, _space, name = words.count_noun(number, noun).partition(" ")
    return {"number": value, "noun": name}


def _current(rows: RunRows) -> int:
    status = rows.run.status
    if status == Status.INTAKE:
        return PLANNING
    if status == Status.WRITING:
        return WRITING
    if rows.progress.run.phase is Phase.EVALUATING:
        return JUDGING
    action = rows.progress.action
    return READING if action and action.text.startswith(READS) else SEARCHING
