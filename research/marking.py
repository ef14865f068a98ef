"""How well a sub-question is answered, from its row: `research/engine/marks.py` says it."""

from __future__ import annotations

from collections.abc import Collection

from research.engine.marks import Marked, marked
from research.engine.records import AspectState, Standing
from research.models import Aspect


def marked_row(row: Aspect, keys: Collection[str]) -> Marked:
    """`keys` are the independent sources behind its evidence."""
    told = row.standing
    standing = Standing(tuple(told["sources"]), told["agree"]) if told else None
    return marked(AspectState(row.state), standing, len(keys))
