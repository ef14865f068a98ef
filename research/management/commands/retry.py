"""`manage.py retry RUN`: have a run that was put aside taken up again."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from research.schema import migrate

BAD_USE = 2


class Command(BaseCommand):
    help = "Lets a run that was put aside, after its workers died, go on where its journal ends."

    requires_system_checks: list[str] = []  # noqa: RUF012 - Django's own declaration

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("run", metavar="RUN", help="the run's id, as in its address")

    def handle(self, *args: Any, run: str, **options: Any) -> None:
        from research.models import Run
        from research.services import ServiceError, people, runs

        migrate()
        found = Run.objects.filter(public_id=run).first()
        if found is None:
            raise CommandError(f"There is no run {run}.", returncode=BAD_USE)
        try:
            runs.retry(people.local_admin(), found)
        except ServiceError as refused:
            raise CommandError(str(refused), returncode=BAD_USE) from None
        self.stdout.write(f"Run {found.public_id} goes on as soon as a worker is free.")
