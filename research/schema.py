"""Brings the database to the present schema before a command needs it."""

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

from research.private_files import for_owner

LOCK = int.from_bytes(b"migrate", "big")
"""Of PostgreSQL's advisory locks, which are numbers for programs to agree on."""


def migrate() -> None:
    """Migrate where there is something to migrate; two processes take turns, on any machine.

    Raises `CommandError` with a sentence where the database cannot be used.
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
    """Asking for the plan is cheap; a full migrate costs a start half a second."""
    executor = MigrationExecutor(connection)
    return bool(executor.migration_plan(executor.loader.graph.leaf_nodes()))


@contextmanager
def _alone() -> Iterator[None]:
    """Whoever comes second waits: for the database's own lock where several machines may ask."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_lock(%s)", [LOCK])
        yield  # held until `migrate` closes the connection
        return
    with open(settings.STATE_DIR / "migrating", "w", opener=for_owner) as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
