"""`manage.py backup PATH`: writes a backup while Plumbline may be serving."""

from __future__ import annotations

import json
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
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *args: Any, path: Path, **options: Any) -> None:
        from research.operations.backup import BackupError, default_name, write_backup

        migrate_database()
        target = path / default_name() if path.is_dir() else path
        try:
            made = write_backup(target)
        except BackupError as failure:
            raise CommandError(str(failure)) from None
        if options["json"]:
            told = {
                "path": str(target),
                "created_at": made.created_at,
                "files": len(made.members),
                "bytes": made.total_bytes,
            }
            self.stdout.write(json.dumps(told, ensure_ascii=False, indent=1))
            return
        size = filesizeformat(made.total_bytes).replace("\xa0", " ")
        self.stdout.write(f"Backed up {len(made.members)} files, {size} before compression.")
