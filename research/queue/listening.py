"""Receives notifications of other processes (LISTEN/NOTIFY) on a separate PostgreSQL connection.

Without them, as behind a pooler that hands out connections by transaction, processes look for work
as often as on SQLite.
"""

from __future__ import annotations

import asyncio
import logging
from typing import Any

from django.db import connection

from research.worker import notify

log = logging.getLogger(__name__)

AGAIN_SECONDS = 2.0


class Listener:
    """Background task from `start` to `stop`; does nothing on SQLite."""

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
            await connected.execute(f"LISTEN {notify.CHANNEL}")
            notify.wake()  # for what was not heard before
            is_silent = False
            while not is_silent:
                is_silent = True
                async for each in connected.notifies(timeout=notify.HEARD_SECONDS):
                    is_silent = False
                    self._note("")
                    notify.hear(each.payload)

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
