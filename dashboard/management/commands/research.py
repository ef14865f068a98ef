"""`manage.py research "QUESTION"`: the command of the research app, also on a server."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from functools import partial
from typing import Any

from dashboard.command_line.output import BadUseError, show
from dashboard.command_line.remote import RemoteRuns, add_place, chosen_server
from dashboard.management.commands.runs import summarise
from research.engine.records import Status
from research.management.commands import research

ASKS_NOTHING = "Research on a server asks nothing here: add --yes."
HERE_ONLY = "--search and --documents name what this installation has; leave them out."


class Command(research.Command):
    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        add_place(parser)

    def handle(self, *args: Any, question: str, **options: Any) -> None:
        server = chosen_server(options)
        if server is None:
            super().handle(*args, question=question, **options)
            return
        if not options["yes"]:
            raise BadUseError(ASKS_NOTHING)
        if options["search"] or options["documents"]:
            raise BadUseError(HERE_ONLY)
        report = partial(self.stderr.write, style_func=str)
        run = RemoteRuns(server).research(question, knobs_of(options), report)
        show(self.stdout, run, as_json=options["json"], shorten=summarise)
        if run["status"] != Status.COMPLETED:
            sys.exit(1)


def knobs_of(options: dict[str, Any]) -> dict[str, str]:
    """Return the settings as the API names them; the server checks their values."""
    pairs = [assignment.partition("=") for assignment in options["set"]]
    unreadable = [name for name, sign, _ in pairs if not sign]
    if unreadable:
        raise BadUseError(f"--set takes KNOB=VALUE, not {unreadable[0]!r}.")
    knobs = {name.strip().lower(): value.strip() for name, _, value in pairs}
    return knobs | ({"deep_research_mode": options["mode"]} if options["mode"] else {})
