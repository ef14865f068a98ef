"""`manage.py backup PATH`: writes a backup while Plumbline may be serving."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.template.defaultfilters import filesizeformat

from research.runtime.schema import migrate_database


class Command(BaseCommand):
    help = "Writes database, uploaded files and secret key to one file; Plumbline may be serving."
    requires_system_checks: list[str] = []  # noqa: RUF012 - Django's own declaration

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("path", type=Path, help="a new file, or an existing folder")

    def handle(self, *args: Any, path: Path, **options: Any) -> None:
        from research.operations.backup import BackupFailure, write_backup

        migrate_database()
        try:
            made = write_backup(path)
        except BackupFailure as failure:
            raise CommandError(str(failure)) from None
        size = filesizeformat(made.total_bytes).replace("\xa0", " ")
        self.stdout.write(f"Backed up {len(made.members)} files, {size} before compression.")
