"""Hooks called after commits: for live views and sleeping workers, on PostgreSQL of all processes.

Hooks are called in the committing thread, or on the event loop that listens to other processes;
they must neither block nor raise.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from time import monotonic
from typing import Any

from django.db import connection, transaction

from research.models import Run
from research.worker import notify

on_committed: list[Callable[[str, int], None]] = []
"""Called with a run's public id and its sequence after each visible change."""

on_wake: list[Callable[[], None]] = []
"""Called when there may be work: a new run, a command for one, a free place, a delivery."""

on_command: list[Callable[[int], None]] = []
"""Called with the key of a run that was given a command."""

CHANNEL = "plumbline_work"
"""Where processes notify each other. The payload is a run's key for a command."""

WORK, BEAT = "work", "beat"

HEARD_SECONDS = 15.0
"""Without any notification for this long, heartbeats included, the channel counts as broken."""

PATIENCE_SECONDS = 5.0
"""Polling interval while notifications arrive: expired leases and due dates send none."""

AGAIN_SECONDS = 2.0

_heard_at: float | None = None
log = logging.getLogger(__name__)


def after_commit(public_id: str, sequence: int) -> None:
    """Call `on_committed` once the current transaction is durable."""
    transaction.on_commit(partial(_call_commit_hooks, public_id, sequence), robust=True)


def wake_after_commit() -> None:
    """Let workers look for work once the current transaction is durable."""
    tell_processes(WORK)
    transaction.on_commit(wake, robust=True)


def command_after_commit(run_id: int) -> None:
    """After the commit, notify the run's worker, or any that can resume it, of a command."""
    tell_processes(str(run_id))
    transaction.on_commit(partial(_command, run_id), robust=True)


def sequence_after_commit(run_id: int) -> None:
    """Call `on_committed` after the commit, with the run's new sequence."""
    public_id, sequence = Run.objects.values_list("public_id", "sequence").get(pk=run_id)
    after_commit(public_id, sequence)


def tell_processes(what: str) -> None:
    """Notify all processes on PostgreSQL; in a transaction, once it is committed."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_notify(%s, %s)", [CHANNEL, what])


def hear(what: str) -> None:
    """Handle a notification of any process, including this one."""
    global _heard_at
    _heard_at = monotonic()
    if what == WORK:
        wake()
    elif what.isdecimal():
        _command(int(what))


def patience(seconds: float) -> float:
    """Return the polling interval in seconds: longer while notifications arrive."""
    return max(seconds, PATIENCE_SECONDS) if is_heard() else seconds


def is_heard() -> bool:
    """Return whether notifications arrive."""
    return _heard_at is not None and monotonic() - _heard_at < HEARD_SECONDS


def _call_commit_hooks(public_id: str, sequence: int) -> None:
    for hook in tuple(on_committed):
        hook(public_id, sequence)


def wake() -> None:
    """Let this process look for work."""
    for hook in tuple(on_wake):
        hook()


def _command(run_id: int) -> None:
    for hook in tuple(on_command):
        hook(run_id)
    wake()


class Listener:
    """Receives notifications of other processes (LISTEN/NOTIFY) on a separate connection.

    A background task from `start` to `stop`; does nothing on SQLite. Without notifications, as
    behind a pooler that hands out connections by transaction, processes look for work as often as
    on SQLite.
    """

    def __init__(self) -> None:
        self._task: asyncio.Task[None] | None = None
        self._is_deaf = False

    async def start(self) -> None:
        if connection.vendor == "postgresql":
            self._task = asyncio.get_running_loop().create_task(self._work(), name="listener")

    async def stop(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])
            self._task = None

    async def _work(self) -> None:
        import psycopg  # on PostgreSQL only

        while True:
            reason = "nobody is heard"
            try:
                await self._listen()
            except (psycopg.Error, OSError) as error:
                reason = str(error)
            self._note(reason)
            await asyncio.sleep(AGAIN_SECONDS)

    async def _listen(self) -> None:
        """Pass notifications on until none has come for too long; raise `psycopg.Error`."""
        import psycopg

        opened = psycopg.AsyncConnection.connect(**_parameters(), autocommit=True)
        async with await opened as connected:
            await connected.execute(f"LISTEN {CHANNEL}")
            wake()  # for what was not heard before
            is_silent = False
            while not is_silent:
                is_silent = True
                async for each in connected.notifies(timeout=HEARD_SECONDS):
                    is_silent = False
                    self._note("")
                    hear(each.payload)

    def _note(self, deaf: str) -> None:
        """Log that other processes are not heard, for the reason given, or are again."""
        if bool(deaf) == self._is_deaf:
            return
        self._is_deaf = bool(deaf)
        if deaf:
            log.warning("other processes are not heard, work is looked for more often: %s", deaf)
        else:
            log.info("other processes are heard again")


def _parameters() -> dict[str, Any]:
    """Return where Django connects to, without what makes a cursor Django's."""
    given = connection.get_connection_params()
    return {name: given[name] for name in given if name not in ("cursor_factory", "context")}


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
