"""What is missing, and what was until a round closed it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dashboard.run_rows import RunRows
from research.engine.text import heading
from research.progress_parts import GapPart


def gaps(rows: RunRows) -> list[dict[str, Any]]:
    """In the order in which they were raised; at the end what is missing comes first."""
    raised = [gap(part) for part in rows.progress.gaps]
    return sorted(raised, key=lambda one: bool(one["closed"])) if rows.run.ended else raised


def gap(part: GapPart) -> dict[str, Any]:
    closed = part.closed_round is not None
    earlier = "from the earlier run"
    life = f"closed in round {part.closed_round}" if part.closed_round else earlier
    since = f"since round {part.opened_round}" if part.opened_round else earlier
    return {
        "id": part.id,
        "text": heading(part.text),
        "closed": closed,
        "critical": part.critical and not closed,
        "life": life if closed else since,
    }


def gaps_title(parts: Sequence[GapPart], *, ended: bool) -> dict[str, Any]:
    still_open = sum(part.closed_round is None for part in parts)
    return {"any": bool(parts), "open": still_open, "ended": ended}
