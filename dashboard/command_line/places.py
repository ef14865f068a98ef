"""The target of a command: this installation, or a server with a token."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from dashboard.command_line.output import BadUse
from dashboard.command_line.remote import Server


def add_place(parser: ArgumentParser) -> None:
    parser.add_argument("--server", metavar="URL", default="", help="work on this server")
    parser.add_argument("--token", default="", help="a token of the server (page API)")


def chosen_server(options: dict[str, Any]) -> Server | None:
    """Return the server that is named, or None for this installation."""
    if not options["server"]:
        if options["token"]:
            raise BadUse("--token belongs to a --server.")
        return None
    if not options["token"]:
        raise BadUse("--server needs --token, which its page API makes.")
    return Server(options["server"], options["token"])
