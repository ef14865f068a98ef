"""`manage.py research "QUESTION"`: a run in the foreground, its report on standard output."""

from __future__ import annotations

import asyncio
import json
import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from research.engine.config import ResearchConfig
from research.engine.knobs import ConfigError
from research.engine.ports import ToolFailedError
from research.engine.records import Status, StopReason
from research.runtime import installation
from research.runtime.program import program_name
from research.runtime.schema import migrate_database
from research.runtime.source_choices import DOCUMENTS, NONE, check_searches
from research.services.errors import ServiceError

BAD_USE = 2
WITHOUT_ANSWER = frozenset({StopReason.NOTHING_FOUND, StopReason.PAGES_UNREADABLE})
NO_TERMINAL = (
    "There is no terminal to ask you on: add --yes to go on without clarification and approval."
)


class Command(BaseCommand):
    help = "Researches a question to the end and prints the report."
    requires_system_checks: list[str] = []  # noqa: RUF012 - Django's own declaration

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("question")
        parser.add_argument("--mode", choices=("adaptive", "fixed"))
        parser.add_argument("--search", metavar="NAME[,NAME]", help="searches, preferred first")
        parser.add_argument(
            "--documents", metavar="PATH", action="append", default=[], help="a folder; repeatable"
        )
        parser.add_argument(
            "--set", metavar="KNOB=VALUE", action="append", default=[], help="repeatable"
        )
        parser.add_argument("--yes", action="store_true", help="ask nothing, start at once")
        parser.add_argument("--json", action="store_true", help="print the run as one JSON object")

    def handle(self, *args: Any, question: str, **options: Any) -> None:
        from research.runtime import terminal

        build_config(options["mode"], options["set"], settings.RESEARCH_DEFAULTS)
        if not options["yes"] and not terminal.is_terminal():
            raise CommandError(NO_TERMINAL, returncode=BAD_USE)
        migrate_database()
        config = build_config(
            options["mode"], options["set"], installation.current_installation().defaults
        )
        sources = command_line_sources(options["search"], options["documents"])
        run = self._work(question, config, sources, options)
        if options["json"]:
            from research.readmodel.run_json import run_resource

            self.stdout.write(json.dumps(run_resource(run), ensure_ascii=False, indent=1))
        else:
            self._print(run)
            self.stderr.write(next_commands(run), style_func=str)
        if run.status != Status.COMPLETED:
            sys.exit(1)

    def _work(
        self, question: str, config: ResearchConfig, sources: dict[str, Any] | None, options: Any
    ) -> Any:
        from research.runtime import terminal
        from research.services import people, runs
        from research.worker.leases import new_owner

        actor = people.local_admin()
        try:
            run, lease = runs.ask_and_claim(
                actor, question, new_owner(), agreed=options["yes"], config=config, sources=sources
            )
        except ServiceError as refused:
            raise CommandError(str(refused), returncode=BAD_USE) from None
        quiet = options["json"] and not sys.stderr.isatty()
        foreground = terminal.Foreground(actor, run, lease, quiet=quiet)
        return asyncio.run(foreground.work())

    def _print(self, run: Any) -> None:
        report = run.reports.order_by("-number").first()
        if report is not None and report.markdown:
            self.stdout.write(report.markdown)
        else:
            self.stdout.write(run.verdict or run.termination_text or run.get_status_display())
        if run.status == Status.FAILED or run.termination_reason in WITHOUT_ANSWER:
            problems = [f"{each.where}: {each.message}" for each in run.problems.all()]
            for problem in dict.fromkeys(problems):
                self.stderr.write(problem)


def next_commands(run: Any) -> str:
    """Return the run's id and the commands that accept it."""
    program = program_name()
    ways = [f"{program} replay {run.public_id}"]
    if run.reports.exclude(markdown="").exists():
        ways.insert(0, f"{program} runs export {run.public_id} pdf")
    if run.status == Status.STALLED:
        ways.insert(0, f"{program} runs resume {run.public_id}")
    return f"Run {run.public_id}: {', '.join(ways)}"


def build_config(
    mode: str | None, assignments: list[str], defaults: ResearchConfig
) -> ResearchConfig:
    """Return the knobs of the installation, overridden by the command line's.

    Raise `CommandError` with exit status 2 for an invalid one.
    """
    values: dict[str, str] = {"DEEP_RESEARCH_MODE": mode} if mode else {}
    for assignment in assignments:
        name, equals, value = assignment.partition("=")
        if not equals:
            raise CommandError(f"--set takes KNOB=VALUE, not {assignment!r}.", returncode=BAD_USE)
        values[name.strip()] = value
    try:
        return ResearchConfig.from_strings(values, defaults)
    except ConfigError as error:
        raise CommandError(str(error), returncode=BAD_USE) from None


def command_line_sources(search: str | None, documents: list[str]) -> dict[str, Any] | None:
    """Return the sources: folders of documents first, or alone if no search is named; None for the
    installation's default. Raise `CommandError` with exit status 2 if one is unusable.
    """
    folders = [Path(folder).expanduser().resolve() for folder in documents]
    for folder, given in zip(folders, documents, strict=True):
        if not folder.is_dir():
            raise CommandError(f"{given} is not a readable folder.", returncode=BAD_USE)
    names = [name.strip() for name in (search or "").split(",") if name.strip()]
    if not names and not folders:
        return None
    if folders and DOCUMENTS not in names:
        names = [DOCUMENTS, *(name for name in names if name != NONE)]
    elif DOCUMENTS in names and not folders:
        folders = [Path(folder) for folder in settings.DOCUMENTS]
    try:
        check_searches(names, folders)
    except ToolFailedError as unusable:
        raise CommandError(unusable.reason, returncode=BAD_USE) from None
    return {"search": names, "documents": [str(folder) for folder in folders]}
