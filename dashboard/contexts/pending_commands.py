"""User commands that a run has not processed yet, and topics that it rejected."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from dashboard.queries.run_rows import RunRows
from research.engine.records import Status
from research.models import Problem
from research.readmodel.progress_parts import CommandPart, Progress
from research.worker.commands import Kind

WISH = "your topic "


@dataclass(frozen=True)
class CommandNotice:
    """A sentence and its icon."""

    text: str
    icon: str


def list_pending_commands(rows: RunRows) -> list[CommandNotice]:
    """Return a notice for each pending command, oldest first, then rejected topics."""
    if rows.run.ended:
        return []
    when = "when it goes on" if rows.run.status == Status.PAUSED else "after this round"
    said = [_describe_command(part, when) for part in rows.progress.control.told if not part.taken]
    return [*filter(None, said), *_refusals(rows)]


def _describe_command(part: CommandPart, when: str) -> CommandNotice | None:
    """Return a notice; None for a command that the verdict sentence already covers."""
    match part.kind:
        case Kind.PAUSE:
            return CommandNotice(f"Pausing {when}…", "pause")
        case Kind.DIG_DEEPER:
            return CommandNotice(f"It digs deeper {when}.", "plus")
        case Kind.ADD_TOPIC:
            return CommandNotice(f"“{part.topic}” is added {when}.", "plus")
        case Kind.DROP_TOPIC:
            return CommandNotice(f"“{part.topic}” is left out {when}.", "none")
    return None


def _refusals(rows: RunRows) -> Iterator[CommandNotice]:
    for row in rows.problems:
        if is_refused_wish(row):
            yield CommandNotice(f"{row.where[:1].upper()}{row.where[1:]}: {row.message}", "cross")


def is_refused_wish(row: Problem) -> bool:
    """Return whether a problem is the rejection of a topic that a user added."""
    return row.where.startswith(WISH)


def topics_told(payload: Progress) -> frozenset[str]:
    """Return the topics of pending commands to add or drop a topic."""
    return frozenset(part.topic for part in payload.control.told if part.topic and not part.taken)
