"""`manage.py export RUN FORMAT`: the same as `manage.py runs export`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandParser

from dashboard.exports import FORMATS


class Command(BaseCommand):
    help = "Write a run's report to a file in the working folder, or where --output says."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("run", help="the run's id, as its address shows it")
        parser.add_argument("format", choices=sorted(FORMATS))
        parser.add_argument("--output", type=Path, help="the file to write")

    def handle(self, *, run: str, format: str, output: Path | None, **options: Any) -> None:
        named = ["--output", str(output)] if output else []
        call_command("runs", "export", run, format, *named, stdout=self.stdout)
