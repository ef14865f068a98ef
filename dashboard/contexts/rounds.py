"""The rounds of a run as columns, with the topics of each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.utils.translation import gettext as _

from dashboard import words
from dashboard.contexts.aspects import count_answered, exclude_dropped
from dashboard.contexts.quality import cap_sentence, dimension_scores
from dashboard.queries.run_rows import RunRows
from dashboard.stored_texts import worded
from research.engine.report.messages import bar_percent, format_percent
from research.models import Round, Unit
from research.models.runs import Mode

TREND = 5
"""Number of recent rounds whose novelty is shown."""


def round_column(row: Round, rows: RunRows) -> dict[str, Any]:
    """Return a column of the strip: its head, and the details that it expands to."""
    head = {
        "number": row.number,
        "stage": str(words.STAGE[row.stage]),
        "closed": row.closed,
        "answered": row.answered
        if row.closed
        else count_answered(exclude_dropped(rows.progress.aspects)),
        "aspects": len(exclude_dropped(rows.progress.aspects)),
        "score": row.score,
        "pages": row.pages_read,
        "found": row.new_evidence,
        "decision": worded(row.decision),
        "ended": rows.run.ended,
    }
    units = [unit_context(each, rows) for each in rows.units if each.round == row.number]
    more = {
        "units": units,
        "skipped": row.skipped,
        "marks": dimension_scores(row),
        "cap": cap_sentence(row),
    }
    return {"id": str(row.number), "head": head, "more": more}


def novelty_context(rows: RunRows) -> dict[str, Any]:
    """Return the novelty of recent rounds; the first round has nothing to compare with.

    `bar` is the novelty below which research can end; '' if the run never ends for that reason.
    """
    config, ends = rows.config, rows.run.mode == Mode.ADAPTIVE
    shares = [
        _("%(share)s in round %(n)s") % {"share": format_percent(row.novelty), "n": row.number}
        for row in rows.rounds
        if row.number > 1 and row.novelty is not None
    ]
    bar = config.min_novelty_threshold if ends and config.enable_early_termination else 0
    return {
        "shares": shares[-TREND:],
        "waits": bool(rows.rounds) and not rows.run.ended,
        "bar": bar_percent(bar) if bar else "",
    }


def unit_context(row: Unit, rows: RunRows) -> dict[str, Any]:
    return {
        "topic": row.topic,
        "heading": rows.headings.get(row.topic, ""),
        "state": words.UNIT[row.status] if row.status else words.UNIT_RUNNING,
        "seconds": row.seconds,
        "failure": worded(row.failure or ""),
    }


def searches_tried(units: Sequence[Unit]) -> list[str]:
    """Return the distinct queries in the order in which they were sent."""
    return list(dict.fromkeys(query for unit in units for query in unit.queries))
