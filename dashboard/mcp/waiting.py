"""Waiting for a run: until it ends, needs its user, or the time is over."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from time import monotonic

from dashboard.mcp.results import RunState, describe_run
from research.models import Run
from research.runtime.db_threads import query_async
from research.runtime.wait import wait_at_most
from research.worker import notify

POLL_SECONDS = 1.0
"""Interval for changes that another process commits; those of this process arrive at once."""

Report = Callable[[RunState], Awaitable[None]]


async def wait_for_run(run: Run, seconds: float, report: Report) -> RunState:
    """Return the state at the end of the wait; pass every state on the way to `report`."""
    deadline = monotonic() + seconds
    sequence = -1
    with _woken_by_changes(run.public_id) as changed:
        while True:
            now = await query_async(_sequence, run.pk)
            if now != sequence:
                sequence, state = now, await query_async(describe_run, run)
                await report(state)
                if must_act(state):
                    return state
            left = deadline - monotonic()
            if left <= 0:
                return state
            await wait_at_most(changed, min(left, POLL_SECONDS))


def must_act(state: RunState) -> bool:
    """Return whether the run has ended or waits for its user."""
    return state.ended or state.next_tool != "wait"


def _sequence(key: int) -> int:
    return int(Run.objects.values_list("sequence", flat=True).get(pk=key))


@contextmanager
def _woken_by_changes(public_id: str) -> Iterator[asyncio.Event]:
    changed, running = asyncio.Event(), asyncio.get_running_loop()

    def committed(run: str, sequence: int) -> None:
        if run == public_id:
            running.call_soon_threadsafe(changed.set)

    notify.on_committed.append(committed)
    try:
        yield changed
    finally:
        notify.on_committed.remove(committed)
