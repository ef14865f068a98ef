"""`manage.py retry RUN`: resumes a run that was set aside."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from research.runtime.schema import migrate_database

BAD_USE = 2


class Command(BaseCommand):
    help = "Resumes a run that was set aside after its workers died repeatedly."

    requires_system_checks: list[str] = []  # noqa: RUF012 - Django's own declaration

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("run", metavar="RUN", help="the run's id, as in its address")

    def handle(self, *args: Any, run: str, **options: Any) -> None:
        from research.models import Run
        from research.services import ServiceError, people, runs

        migrate_database()
        found = Run.objects.filter(public_id=run).first()
        if found is None:
            raise CommandError(f"There is no run {run}.", returncode=BAD_USE)
        try:
            runs.retry_run(people.local_admin(), found)
        except ServiceError as refused:
            raise CommandError(str(refused), returncode=BAD_USE) from None
        self.stdout.write(f"Run {found.public_id} resumes as soon as a worker is free.")
