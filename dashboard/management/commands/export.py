"""`manage.py export RUN FORMAT`: the same as `manage.py runs export`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandParser

from dashboard.exports import FORMATS
from dashboard.management.commands.runs import WITHOUT_QUOTES


class Command(BaseCommand):
    help = "Write a run's report to a file in the working folder, or where --output says."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("run", help="the run's id, as its address shows it")
        parser.add_argument("format", choices=sorted(FORMATS))
        parser.add_argument("--without-quotes", action="store_true", help=WITHOUT_QUOTES)
        parser.add_argument("--output", type=Path, help="the file to write")

    def handle(
        self, *, run: str, format: str, without_quotes: bool, output: Path | None, **options: Any
    ) -> None:
        named = ["--output", str(output)] if output else []
        named += ["--without-quotes"] if without_quotes else []
        call_command("runs", "export", run, format, *named, stdout=self.stdout)
