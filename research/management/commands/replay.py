"""`manage.py replay RUN`: replays a finished run from its journal."""

from __future__ import annotations

import asyncio
import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from research.engine.knobs import ConfigError
from research.runtime.schema import migrate_database

BAD_USE = 2


class Command(BaseCommand):
    help = "Replays a finished run from its journal, offline and without writing."
    requires_system_checks: list[str] = []  # noqa: RUF012 - Django's own declaration

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("run", help="the run's id")
        parser.add_argument(
            "--set", metavar="KNOB=VALUE", action="append", default=[], help="repeatable"
        )
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *args: Any, run: str, **options: Any) -> None:
        from research.engine.journal import EarlierFormError
        from research.models import Run
        from research.worker.replay import replay_run

        changes = dict(pair.split("=", 1) for pair in options["set"] if "=" in pair)
        if len(changes) != len(options["set"]):
            raise CommandError("--set takes KNOB=VALUE.", returncode=BAD_USE)
        migrate_database()
        found = Run.objects.filter(public_id=run).first()
        if found is None:
            raise CommandError(f"There is no run {run}.", returncode=BAD_USE)
        try:
            result = asyncio.run(replay_run(found, changes))
        except (ConfigError, EarlierFormError) as error:
            raise CommandError(str(error), returncode=BAD_USE) from None
        if options["json"]:
            self.stdout.write(json.dumps(result.as_dict(), ensure_ascii=False, indent=1))
            return
        self.stdout.write(f"Rounds: {len(result.rounds)}, in the run as it was: {found.round}.")
        for each in result.rounds:
            self.stdout.write(f"Round {each['number']}, score {each['score']}: {each['decision']}")
        if result.journal_ends:
            self.stdout.write(f"The journal ends here: {result.journal_ends} was never recorded.")
        elif result.identical:
            self.stdout.write("The same decisions, the same report.")
        else:
            self.stdout.write(f"It would have ended differently: {result.termination_text}")
        lost = result.evidence_lost
        kept = result.run_evidence - len(lost)
        self.stdout.write(f"Evidence kept: {kept} of {result.run_evidence} records.")
        for claim in lost:
            self.stdout.write(f"Evidence lost: {claim}")
        if result.divergences:
            reused = len(result.divergences)
            self.stdout.write(f"Recorded answers taken for other requests than before: {reused}.")
        self.stdout.write(f"Used{' up to there' if result.journal_ends else ''}: {result.used}.")
        self.stdout.write(f"Used by the run as it was: {result.run_used}.")
