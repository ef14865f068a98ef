"""`manage.py restore PATH`: restores a backup into this installation."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from research.runtime.schema import migrate_database


class Command(BaseCommand):
    help = "Replaces database, uploaded files and secret key by those of a backup. Stop serving."
    requires_system_checks: list[str] = []  # noqa: RUF012 - Django's own declaration

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("path", type=Path, help="a file that manage.py backup wrote")
        parser.add_argument(
            "--replace", action="store_true", help="even if this installation has runs already"
        )
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *args: Any, path: Path, replace: bool, **options: Any) -> None:
        from research.operations.backup import BackupError, restore_backup

        migrate_database()
        try:
            restored = restore_backup(path, replace=replace)
        except BackupError as failure:
            raise CommandError(str(failure)) from None
        if options["json"]:
            told = {
                "created_at": restored.created_at,
                "files": len(restored.members),
                "bytes": restored.total_bytes,
            }
            self.stdout.write(json.dumps(told, indent=1))
            return
        self.stdout.write(f"Restored the backup of {restored.created_at}.")
