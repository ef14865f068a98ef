"""States of limits in a table of PostgreSQL: one row each, changed under its lock."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import TypeVar

from django.db import connection, connections, transaction

from research.limits.state import LimitState
from research.models import SharedLimit
from research.runtime.db_threads import with_fresh_connection
from research.worker.leases import database_now

T = TypeVar("T")

UNUSED_AFTER = timedelta(hours=1)

READ = """
SELECT state, extract(epoch FROM clock_timestamp())::float8
FROM research_sharedlimit WHERE name = %s FOR UPDATE
"""
WRITE = """
UPDATE research_sharedlimit SET state = %s, changed_at = clock_timestamp() WHERE name = %s
"""
INSERT = """
INSERT INTO research_sharedlimit (name, state, changed_at) VALUES (%s, '{}', clock_timestamp())
ON CONFLICT DO NOTHING
"""


class DatabaseStore:
    """The store that all processes share; it has a thread and a connection of its own."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="limits")

    async def change(self, name: str, function: Callable[[LimitState, float], T]) -> T:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(
            self._thread, with_fresh_connection, change_state, name, function
        )

    def close(self) -> None:
        self._thread.submit(connections.close_all)
        self._thread.shutdown()


def change_state(name: str, function: Callable[[LimitState, float], T]) -> T:
    """Apply a function to a stored state, and return its result.

    What is lost when the server crashes is at most a moment's use, so no commit waits for the disk.
    """
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL synchronous_commit TO OFF")
        cursor.execute(READ, [name])
        row = cursor.fetchone()
        if row is None:
            cursor.execute(INSERT, [name])
            cursor.execute(READ, [name])
            row = cursor.fetchone()
        stored, now = row
        state = LimitState.load(json.loads(stored) if isinstance(stored, str) else stored)
        result = function(state, now)
        cursor.execute(WRITE, [json.dumps(state.dump()), name])
    return result


def free_places(prefix: str) -> None:
    """Free the places of a dead process."""
    held = SharedLimit.objects.filter(state__places__isnull=False).exclude(state__places={})
    for name in held.values_list("name", flat=True):
        change_state(name, lambda state, now: state.release_all(prefix))


def delete_unused() -> None:
    """Delete limits that nothing has used for a while, such as those of hosts."""
    SharedLimit.objects.filter(changed_at__lt=database_now() - UNUSED_AFTER).delete()
