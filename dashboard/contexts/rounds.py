"""The rounds, column by column, with the topics that each researched."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dashboard import words
from dashboard.contexts.aspects import answered, asked
from dashboard.contexts.quality import cap_sentence, marks
from dashboard.run_rows import RunRows
from research.engine.wording import bar_percent, percent
from research.models import Round, Unit
from research.models.runs import Mode

TREND = 5
"""How many of the last rounds tell what share of their words was new."""


def column(row: Round, rows: RunRows) -> dict[str, Any]:
    """A column of the strip: its head, and what opens beneath it."""
    head = {
        "number": row.number,
        "stage": words.STAGE[row.stage],
        "closed": row.closed,
        "answered": row.answered if row.closed else answered(asked(rows.progress.aspects)),
        "aspects": len(asked(rows.progress.aspects)),
        "score": row.score,
        "pages": row.pages_read,
        "found": row.new_evidence,
        "decision": row.decision,
    }
    units = [unit(each) for each in rows.units if each.round == row.number]
    more = {"units": units, "skipped": row.skipped, "marks": marks(row), "cap": cap_sentence(row)}
    return {"id": str(row.number), "head": head, "more": more}


def news(rows: RunRows) -> dict[str, Any]:
    """The share of new words in the last rounds; the first has nothing to compare with.

    `bar` is the share below which research can end, '' where none ends it.
    """
    config, ends = rows.config, rows.run.mode == Mode.ADAPTIVE
    shares = [
        f"{percent(row.novelty)} in round {row.number}"
        for row in rows.rounds
        if row.number > 1 and row.novelty is not None
    ]
    bar = config.min_novelty_threshold if ends and config.enable_early_termination else 0
    return {
        "shares": shares[-TREND:],
        "waits": bool(rows.rounds) and not rows.run.ended,
        "bar": bar_percent(bar) if bar else "",
    }


def unit(row: Unit) -> dict[str, Any]:
    return {
        "topic": row.topic,
        "state": words.UNIT[row.status] if row.status else words.UNIT_RUNNING,
        "seconds": row.seconds,
        "failure": row.failure,
    }


def searches_tried(units: Sequence[Unit]) -> list[str]:
    """Each query once, in the order in which they were put."""
    return list(dict.fromkeys(query for unit in units for query in unit.queries))
