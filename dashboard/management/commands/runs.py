"""`manage.py runs …`: list, show, export, resume, cancel and delete runs."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from dashboard.command_line.output import BadUseError, print_json, print_rows, show
from dashboard.command_line.remote import RemoteRuns, add_place, chosen_server
from dashboard.exports import FORMATS
from research.engine.records import ENDED, Status

WITHOUT_QUOTES = "docx, pdf, md and html: end with the report, without the quotes behind it"
COLUMNS = ("id", "status", "score", "created_at", "question")


class Command(BaseCommand):
    help = "Lists, shows, exports, resumes, cancels and deletes runs."
    requires_system_checks: list[str] = []  # noqa: RUF012 - Django's own declaration

    def add_arguments(self, parser: ArgumentParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
        listing = _action(actions, "list", "list the newest runs", run=False)
        listing.add_argument("text", nargs="?", default="", help="words of the question")
        listing.add_argument("--limit", type=int, default=20, metavar="N", help="20 if not given")
        _action(actions, "show", "print a run: its report, or where it is")
        export = _action(actions, "export", "write a report to a file")
        export.add_argument("format", choices=sorted(FORMATS))
        export.add_argument("--without-quotes", action="store_true", help=WITHOUT_QUOTES)
        export.add_argument("--output", type=Path, metavar="FILE", help="'-': standard output")
        resume = _action(actions, "resume", "take up a paused or stalled run again")
        resume.add_argument(
            "--here", action="store_true", help="execute it in this process, also without a server"
        )
        _action(actions, "cancel", "end a run without a report")
        _action(actions, "delete", "delete an ended run with its journal and its pages")

    def handle(self, *args: Any, action: str, **options: Any) -> None:
        from dashboard.command_line.local_runs import LocalRuns

        server = chosen_server(options)
        if server and options.get("here"):
            raise BadUseError("--here resumes runs of this installation only.")
        getattr(self, f"_{action}")(RemoteRuns(server) if server else LocalRuns(), options)

    def _list(self, runs: Any, options: Any) -> None:
        if options["limit"] < 1:
            raise CommandError("--limit is a number from 1.", returncode=2)
        rows = runs.list(options["limit"], options["text"])
        if options["json"]:
            print_json(self.stdout, rows)
        else:
            print_rows(self.stdout, rows, COLUMNS, "There are no such runs.")

    def _show(self, runs: Any, options: Any) -> None:
        show(self.stdout, runs.show(options["run"]), as_json=options["json"], shorten=summarise)

    def _export(self, runs: Any, options: Any) -> None:
        made = runs.export(
            options["run"], options["format"], with_quotes=not options["without_quotes"]
        )
        target = options["output"] or Path(made.filename)
        if str(target) == "-":
            sys.stdout.buffer.write(made.content)
            return
        try:
            target.write_bytes(made.content)
        except OSError as error:
            raise CommandError(str(error)) from None
        written = {"file": str(target), "bytes": len(made.content)}
        show(self.stdout, written, as_json=options["json"], shorten=_written)

    def _resume(self, runs: Any, options: Any) -> None:
        run = options["run"]
        if not options["here"]:
            self._tell(run, runs.resume(run), options, "resumes as soon as a worker is free")
            return
        if runs.find(run).status in {Status.PAUSED, Status.STALLED}:
            runs.resume(run)
        ended = runs.work(run, quiet=options["json"] and not sys.stderr.isatty())
        self._show(runs, options)
        if ended.status != Status.COMPLETED:
            sys.exit(1)

    def _cancel(self, runs: Any, options: Any) -> None:
        status = runs.cancel(options["run"])
        said = "is cancelled" if status in ENDED else "ends as soon as its worker notices"
        self._tell(options["run"], status, options, said)

    def _delete(self, runs: Any, options: Any) -> None:
        runs.delete(options["run"])
        self._tell(options["run"], "deleted", options, "was deleted")

    def _tell(self, run: str, status: str, options: Any, said: str) -> None:
        told = {"id": run, "status": status}
        show(self.stdout, told, as_json=options["json"], shorten=lambda _: f"Run {run} {said}.")


def _action(actions: Any, name: str, help_text: str, *, run: bool = True) -> ArgumentParser:
    parser: ArgumentParser = actions.add_parser(name, help=help_text, description=help_text)
    if run:
        parser.add_argument("run", metavar="RUN", help="the run's id, as in its address")
    parser.add_argument("--json", action="store_true", help="print one JSON value")
    add_place(parser)
    return parser


def summarise(run: dict[str, Any]) -> str:
    """Return the report of a run, else its state and its sub-questions."""
    if run["report_markdown"]:
        return str(run["report_markdown"])
    lines = [run["question"], f"{run['status']}. {run['termination_text'] or ''}".strip()]
    lines += [f"- {aspect['text']}: {aspect['mark']}" for aspect in run["aspects"]]
    return "\n".join(lines)


def _written(made: dict[str, Any]) -> str:
    return f"{made['file']}: {made['bytes']:,} bytes"
