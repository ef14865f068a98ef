"""In-process hooks called after commits: for live views and sleeping workers.

Hooks are called in the committing thread; they must neither block nor raise.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from django.db import transaction

from research.models import Run

on_committed: list[Callable[[str, int], None]] = []
"""Called with a run's public id and its sequence after each visible change."""

on_wake: list[Callable[[], None]] = []
"""Called when there may be work: a new run, or a command for one."""


def after_commit(public_id: str, sequence: int) -> None:
    """Call `on_committed` once the current transaction is durable."""
    transaction.on_commit(partial(_call_commit_hooks, public_id, sequence), robust=True)


def wake_after_commit() -> None:
    transaction.on_commit(_wake, robust=True)


def sequence_after_commit(run_id: int) -> None:
    """Call `on_committed` after the commit, with the run's new sequence."""
    public_id, sequence = Run.objects.values_list("public_id", "sequence").get(pk=run_id)
    after_commit(public_id, sequence)


def _call_commit_hooks(public_id: str, sequence: int) -> None:
    for hook in tuple(on_committed):
        hook(public_id, sequence)


def _wake() -> None:
    for hook in tuple(on_wake):
        hook()
