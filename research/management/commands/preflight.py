"""`manage.py preflight`: checks everything that a run needs, and suggests how to fix it."""

from __future__ import annotations

import asyncio
import json
import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

MARKS = {"good": "✓", "fair": "~", "bad": "✗", "idle": "-"}


class Command(BaseCommand):
    help = "Tries model, search, pages, database and live updates, and says what to do."
    requires_system_checks: list[str] = []  # noqa: RUF012 - Django's own declaration

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--json", action="store_true", help="print one object")
        parser.add_argument(
            "--qualify",
            action="store_true",
            help="have the model judge 160 labelled pairs: is it fit to check statements?",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        from research.runtime.preflight import run_preflight

        found = asyncio.run(run_preflight(options["qualify"]))
        if options["json"]:
            self.stdout.write(json.dumps(found.as_dict(), ensure_ascii=False, indent=1))
        else:
            for check in found.checks:
                self.stdout.write(f"{MARKS[check.state]} {check.name:<15} {check.found}")
                if check.advice:
                    self.stdout.write(f"  {'':<15} {check.advice}")
        if not found.ready:
            sys.exit(1)
