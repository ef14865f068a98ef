"""Waiting for an event or a timeout, whichever comes first."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

from research.worker import notify


@contextmanager
def woken_by_commands(run_id: int) -> Iterator[asyncio.Event]:
    """Yield an event that is set when a command for the run is committed, in any thread."""
    woken, running = asyncio.Event(), asyncio.get_running_loop()

    def hook(commanded: int) -> None:
        if commanded == run_id:
            running.call_soon_threadsafe(woken.set)

    notify.on_command.append(hook)
    try:
        yield woken
    finally:
        notify.on_command.remove(hook)


async def wait_at_most(event: asyncio.Event, seconds: float, *, clear: bool = True) -> None:
    """Wait until the event is set or the seconds have passed; `clear` the event if it was set."""
    try:
        await asyncio.wait_for(event.wait(), seconds)
    except TimeoutError:
        return
    if clear:
        event.clear()
