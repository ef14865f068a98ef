"""The sub-questions: how each stands, and what may be changed of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dashboard import words
from dashboard.contexts.heard import topics_told
from dashboard.run_rows import RunRows
from research.commands import Kind, possible
from research.engine.marks import ANSWERED
from research.engine.text import heading
from research.progress_parts import AspectPart


def aspects(rows: RunRows) -> list[dict[str, Any]]:
    """Rows in parts; the only sub-question that is left cannot be left out."""
    parts = rows.progress.aspects
    told = topics_told(rows.progress)
    can_steer = Kind.DROP_TOPIC in possible(rows.run.status, rows.run.mode)
    may_drop = len(asked(parts)) > 1
    return [
        aspect(part, can_steer and part.text not in told and (part.dropped or may_drop))
        for part in parts
    ]


def aspect(part: AspectPart, can_change: bool) -> dict[str, Any]:
    return {
        "id": part.id,
        "text": {"text": heading(part.text)},
        "standing": {
            "state": words.LEFT_OUT if part.dropped else words.aspect(part.mark, part.sources),
            "claim": part.best_claim or "",
            "raised_by": raised_by(part.raised_by),
        },
        "menu": {"can_change": can_change, "text": part.text, "dropped": part.dropped},
    }


def raised_by(origin: str) -> str:
    if origin in ("", "plan"):
        return ""
    return "you" if origin == "user" else words.place(origin)


def asked(aspects: Sequence[AspectPart]) -> list[AspectPart]:
    """Those that nobody left out."""
    return [part for part in aspects if not part.dropped]


def answered(aspects: Sequence[AspectPart]) -> int:
    return sum(part.mark in ANSWERED for part in aspects)
