"""`manage.py evaluate FILE.jsonl…`: measures the product on questions with known answers."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from argparse import ArgumentParser
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from rich.console import Console

from bench.evaluation import pool, table
from bench.evaluation.cases import Case, DataError, read_cases, read_pages
from bench.evaluation.results import Failed, Job, Outcome, Results, case_key, source_hash
from bench.evaluation.run_questions import WorkerBroke, run_cases
from bench.evaluation.summary import recall, summarise
from research.engine.ports import ToolFailedError
from research.management.commands.research import BAD_USE, build_config
from research.runtime.installation import of_the_environment

PAGES_A_ROUND = "MAX_PAGES_PER_ROUND=5"
WIDTH = 120
TOLD_EVERY = 10


class Command(BaseCommand):
    help = (
        "Measures retrieval, stop rule, answers and quotes on questions with known answers. All "
        "their pages are one library."
    )
    requires_system_checks: list[str] = []  # noqa: RUF012 - Django's own declaration

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("files", metavar="FILE.jsonl", type=Path, nargs="+")
        parser.add_argument(
            "--pool",
            metavar="FILE.jsonl",
            type=Path,
            nargs="+",
            action="extend",
            default=[],
            help="more pages for the library, without their questions",
        )
        parser.add_argument(
            "--limit", metavar="N", type=int, help="number of questions, from the files in turn"
        )
        parser.add_argument(
            "--set",
            metavar="KNOB=VALUE",
            action="append",
            default=[],
            help=f"repeatable; {PAGES_A_ROUND} is the default",
        )
        parser.add_argument("--json", action="store_true", help="print one JSON object")
        parser.add_argument(
            "--out", metavar="FOLDER", type=Path, help="write the figures and all outcomes there"
        )

    def handle(self, *args: Any, files: list[Path], **options: Any) -> None:
        started = time.monotonic()
        config = build_config(None, [PAGES_A_ROUND, *options["set"]], settings.RESEARCH_DEFAULTS)
        try:
            cases = read_cases(files, options["limit"])
            library = pool.build(
                read_pages([*files, *options["pool"]]), settings.STATE_DIR / "evaluation"
            )
            asyncio.run(pool.index(library, self._indexed))
            job = Job(library, config, of_the_environment().model_settings)
            outcomes, failed = self._outcomes(cases, job)
        except (DataError, ToolFailedError) as unusable:
            raise CommandError(str(unusable), returncode=BAD_USE) from None
        except WorkerBroke as broke:
            raise CommandError(str(broke)) from None
        result = {
            "pages": library.pages,
            "analyst": settings.RESEARCH_MODEL or "extractive",
            "source": source_hash()[:16],
            "knobs": config.model_dump(mode="json", exclude_defaults=True),
            "seconds": round(time.monotonic() - started, 1),
            **summarise(outcomes, failed),
        }
        self._tell(result, outcomes, options)

    def _outcomes(self, cases: Sequence[Case], job: Job) -> tuple[list[Outcome], list[Failed]]:
        """Return the stored outcomes and those of the remaining questions, storing each at once."""
        results = Results.of(job, settings.RESEARCH_MODEL or "extractive")
        keys = [case_key(case) for case in cases]
        kept = results.load()
        done = {key: kept[key] for key in keys if key in kept}
        failed: list[Failed] = []
        left = [case for case, key in zip(cases, keys, strict=True) if key not in done]
        if done:
            self.stderr.write(f"{len(done)} of {len(keys)} questions were done before.")
        for outcome in run_cases(left, job):
            if isinstance(outcome, Failed):
                failed.append(outcome)
            else:
                results.add(outcome)
                done[outcome.key] = outcome
            self._progress(len(done) + len(failed), len(keys), list(done.values()))
        return [done[key] for key in keys if key in done], failed

    def _indexed(self, done: int, total: int) -> None:
        if done == total or sys.stderr.isatty():
            self._print_status(f"{done} of {total} pages indexed", done == total)

    def _progress(self, number: int, total: int, outcomes: Sequence[Outcome]) -> None:
        if not (sys.stderr.isatty() or number % TOLD_EVERY == 0 or number == total):
            return
        share = sum(recall(o, o.stopped.round) for o in outcomes) / max(1, len(outcomes))
        self._print_status(
            f"{number} of {total} questions, {share:.2f} of the gold pages at the stop",
            number == total,
        )

    def _print_status(self, text: str, last: bool) -> None:
        """Print the status: on a terminal in one line that changes, elsewhere on a new line."""
        on_terminal = sys.stderr.isatty()
        self.stderr.write(f"\r{text}" if on_terminal else text, ending="" if on_terminal else "\n")
        if last and on_terminal:
            self.stderr.write("")

    def _tell(self, result: dict[str, Any], outcomes: list[Outcome], options: Any) -> None:
        told = json.dumps(result, ensure_ascii=False, indent=1)
        if options["out"]:
            _write(options["out"], told, result, outcomes)
        if options["json"]:
            self.stdout.write(told)
        else:
            table.write(Console(file=self.stdout, width=WIDTH), result)
        if result["failed"]:
            sys.exit(1)


def _write(folder: Path, told: str, result: dict[str, Any], outcomes: list[Outcome]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "evaluation.json").write_text(told + "\n", "utf-8")
    lines = [json.dumps(asdict(outcome), ensure_ascii=False) for outcome in outcomes]
    (folder / "questions.jsonl").write_text("".join(f"{line}\n" for line in lines), "utf-8")
    with (folder / "evaluation.txt").open("w", encoding="utf-8") as file:
        table.write(Console(file=file, width=WIDTH), result)
