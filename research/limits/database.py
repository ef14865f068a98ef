"""States of limits in a table of PostgreSQL: one row each, written where it is as it was read."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import TypeVar

from django.db import connection, connections

from research.limits.state import LimitState
from research.models import SharedLimit
from research.runtime.db_threads import with_fresh_connection
from research.worker.leases import database_now

T = TypeVar("T")

UNUSED_AFTER = timedelta(hours=1)

READ = """
SELECT state::text, extract(epoch FROM clock_timestamp())::float8
FROM research_sharedlimit WHERE name = %s
"""
WRITE = """
UPDATE research_sharedlimit SET state = %s, changed_at = clock_timestamp()
FROM (SELECT set_config('synchronous_commit', 'off', true) AS wait) AS commit
WHERE name = %s AND state = %s::jsonb AND commit.wait = 'off'
"""
"""What is lost when the server crashes is at most a moment's use: no commit waits for the disk."""
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

    Where another process changes the state meanwhile, the function is called again with that.
    """
    while True:
        with connection.cursor() as cursor:
            cursor.execute(READ, [name])
            row = cursor.fetchone()
            if row is None:
                cursor.execute(INSERT, [name])
                continue
            stored, now = row
            state = LimitState.load(json.loads(stored))
            result = function(state, now)
            cursor.execute(WRITE, [json.dumps(state.dump()), name, stored])
            if cursor.rowcount:
                return result


def free_places(prefix: str) -> None:
    """Free the places of a dead process."""
    held = SharedLimit.objects.filter(state__places__isnull=False).exclude(state__places={})
    for name in held.values_list("name", flat=True):
        change_state(name, lambda state, now: state.release_all(prefix))


def delete_unused() -> None:
    """Delete limits that nothing has used for a while, such as those of hosts."""
    SharedLimit.objects.filter(changed_at__lt=database_now() - UNUSED_AFTER).delete()
