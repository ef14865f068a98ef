"""`manage.py what_if`: what other quality thresholds would have saved and lost, over many runs."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from dataclasses import asdict
from typing import Any

from django.core.management.base import BaseCommand

from research.runtime.schema import migrate_database


class Command(BaseCommand):
    help = "Replays the newest finished runs under other quality thresholds, offline; stores them."
    requires_system_checks: list[str] = []  # noqa: RUF012 - Django's own declaration

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--last", type=int, default=50, metavar="N", help="runs; default 50")
        parser.add_argument("--json", action="store_true", help="print one JSON list")

    def handle(self, *args: Any, last: int, **options: Any) -> None:
        from research.services import what_if

        migrate_database()
        what_if.store_replays(None, last)
        effects = what_if.threshold_effects(last)
        if options["json"]:
            self.stdout.write(json.dumps([asdict(each) for each in effects], indent=1))
            return
        if not effects:
            self.stdout.write("There is no finished run to replay.")
            return
        self.stdout.write("threshold  runs  left out  cost saved  calls saved  evidence lost")
        for each in effects:
            cost = "unknown" if each.cost_saved is None else f"{each.cost_saved:.0%}"
            self.stdout.write(
                f"{each.threshold:9.1f}{each.runs:6}{each.left_out:10}{cost:>12}"
                f"{each.calls_saved:13.0%}{each.evidence_lost:15.0%}"
            )
        self.stdout.write("Left out: runs that would have gone on where their journal ends.")
