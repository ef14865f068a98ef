"""Prepared statements: PostgreSQL plans them once per connection; Django prepares none."""

from __future__ import annotations

from typing import Any

from django.db import connection

from research.worker import notify

THRESHOLD = 5
"""Psycopg's default. Any number enables preparing, None disables it."""

ONE_PLAN = "SET plan_cache_mode = force_generic_plan"


def fetch_row(statement: str, values: dict[str, Any]) -> tuple[Any, ...] | None:
    """Return the first row that a statement finds, if any.

    What is prepared belongs to a session, which a pooler that hands out connections by transaction
    doesn't keep. Such a pooler passes no notifications on either, so while some are heard, the
    session is ours.
    """
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql" and notify.is_heard():
            if connection.connection.prepare_threshold is None:
                cursor.execute(ONE_PLAN)
                connection.connection.prepare_threshold = THRESHOLD
            cursor.cursor = _preparing_cursor(connection.connection)
        cursor.execute(statement, values)
        row: tuple[Any, ...] | None = cursor.fetchone()
        return row


def _preparing_cursor(session: Any) -> Any:
    from psycopg import Cursor  # on PostgreSQL only

    class Preparing(Cursor[tuple[Any, ...]]):
        def execute(self, query: Any, params: Any = None, **_: Any) -> Any:
            return super().execute(query, params, prepare=True)

    return Preparing(session)
