"""Migrates the database to the current schema before a command needs it."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.db.utils import OperationalError

from research.runtime.private_files import for_owner

LOCK = int.from_bytes(b"migrate", "big")
"""Key of the PostgreSQL advisory lock that serialises migrations."""


def migrate_database() -> None:
    """Apply pending migrations; concurrent processes, also on other machines, take turns.

    Raise `CommandError` with a sentence if the database is unusable.
    """
    try:
        if _pending():
            with _alone():
                call_command("migrate", verbosity=0, interactive=False)
    except OperationalError as error:
        raise CommandError(f"The database cannot be used: {str(error).strip()}.") from None
    finally:
        connection.close()


def _pending() -> bool:
    """Check the plan first: it is cheap, whereas `migrate` would delay a start by half a second."""
    executor = MigrationExecutor(connection)
    return bool(executor.migration_plan(executor.loader.graph.leaf_nodes()))


@contextmanager
def _alone() -> Iterator[None]:
    """Wait for the migration lock: an advisory lock on PostgreSQL, else a locked file."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_lock(%s)", [LOCK])
        yield  # the lock is released when `migrate_database` closes the connection
        return
    with open(settings.STATE_DIR / "migrating", "w", opener=for_owner) as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
