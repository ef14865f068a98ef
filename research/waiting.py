"""Waiting for whichever comes first: something that was said, or the time."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

from research import notify


@contextmanager
def woken_by_commands() -> Iterator[asyncio.Event]:
    """An event that a command's commit sets, from whatever thread."""
    woken, running = asyncio.Event(), asyncio.get_running_loop()
    hook = partial(running.call_soon_threadsafe, woken.set)
    notify.on_wake.append(hook)
    try:
        yield woken
    finally:
        notify.on_wake.remove(hook)


async def wait_at_most(event: asyncio.Event, seconds: float, *, clear: bool = True) -> None:
    """Until the event is set or the seconds have passed; `clear` it once it was set."""
    try:
        await asyncio.wait_for(event.wait(), seconds)
    except TimeoutError:
        return
    if clear:
        event.clear()
