"""Brings the database to the present schema before a command needs it."""

from __future__ import annotations

from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.db.utils import OperationalError


def migrate() -> None:
    """Migrate where there is something to migrate; asking for the plan is cheap.

    Raises `CommandError` with a sentence where the database cannot be used.
    """
    try:
        executor = MigrationExecutor(connection)
        if executor.migration_plan(executor.loader.graph.leaf_nodes()):
            call_command("migrate", verbosity=0, interactive=False)
    except OperationalError as error:
        raise CommandError(f"The database cannot be used: {str(error).strip()}.") from None
    finally:
        connection.close()
