"""What people told a run that it has not taken up yet, and what it could not do."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from dashboard.run_rows import RunRows
from research.commands import Kind
from research.engine.records import Status
from research.models import Problem
from research.progress_parts import CommandPart, Progress

WISH = "your topic "


@dataclass(frozen=True)
class Heard:
    """A sentence and its icon."""

    text: str
    icon: str


def heard(rows: RunRows) -> list[Heard]:
    """In the order in which it was said; refusals last, in the engine's words."""
    if rows.run.ended:
        return []
    when = "when it goes on" if rows.run.status == Status.PAUSED else "after this round"
    said = [_said(part, when) for part in rows.progress.control.told if not part.taken]
    return [*filter(None, said), *_refusals(rows)]


def _said(part: CommandPart, when: str) -> Heard | None:
    """None for what the verdict's sentence says."""
    match part.kind:
        case Kind.PAUSE:
            return Heard(f"Pausing {when}…", "pause")
        case Kind.DIG_DEEPER:
            return Heard(f"It digs deeper {when}.", "plus")
        case Kind.ADD_TOPIC:
            return Heard(f"“{part.topic}” is added {when}.", "plus")
        case Kind.DROP_TOPIC:
            return Heard(f"“{part.topic}” is left out {when}.", "none")
    return None


def _refusals(rows: RunRows) -> Iterator[Heard]:
    for row in rows.problems:
        if is_refused_wish(row):
            yield Heard(f"{row.where[:1].upper()}{row.where[1:]}: {row.message}", "cross")


def is_refused_wish(row: Problem) -> bool:
    """Whether it says what became of a topic that somebody asked for."""
    return row.where.startswith(WISH)


def topics_told(payload: Progress) -> frozenset[str]:
    """The topics that were added or left out and stand as they were."""
    return frozenset(part.topic for part in payload.control.told if part.topic and not part.taken)
