"""`manage.py export RUN FORMAT`: a run's report as a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from dashboard.exports import FORMATS, NothingToExport, export
from research.models import Run


class Command(BaseCommand):
    help = "Write a run's report to a file in the working folder, or where --output says."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("run", help="the run's id, as its address shows it")
        parser.add_argument("format", choices=sorted(FORMATS))
        parser.add_argument("--output", type=Path, help="the file to write")

    def handle(self, *, run: str, format: str, output: Path | None, **options: Any) -> None:
        found = Run.objects.filter(public_id=run).first()
        if found is None:
            raise CommandError(f"There is no run {run}.")
        try:
            written = export(found, FORMATS[format])
            target = output or Path(written.filename)
            target.write_bytes(written.content)
        except (NothingToExport, OSError) as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"{target}: {len(written.content):,} bytes")
