"""`manage.py documents …`: add, list, search and remove documents."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand

from dashboard.command_line.output import print_json, print_rows, show
from dashboard.command_line.remote import RemoteDocuments, add_place, chosen_server

COLUMNS = ("name", "state", "documents", "unreadable", "folder")


class Command(BaseCommand):
    help = "Adds, lists, searches and removes documents."
    requires_system_checks: list[str] = []  # noqa: RUF012 - Django's own declaration

    def add_arguments(self, parser: ArgumentParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
        add = _action(actions, "add", "add files, or a folder, and index them")
        add.add_argument("paths", metavar="PATH", type=Path, nargs="+")
        add.add_argument(
            "--collection",
            metavar="NAME",
            default="",
            help="copy the files to this collection; without it one folder is read where it is",
        )
        _action(actions, "list", "list the collections")
        search = _action(actions, "search", "search the documents without a run")
        search.add_argument("query", metavar="QUERY")
        search.add_argument(
            "--collection", metavar="NAME", action="append", default=[], help="repeatable"
        )
        search.add_argument("--limit", type=int, default=10, metavar="N", help="10 if not given")
        remove = _action(actions, "remove", "remove a collection, or one file of it")
        remove.add_argument("collection", metavar="NAME")
        remove.add_argument("--file", default="", metavar="FILE", help="only this file")

    def handle(self, *args: Any, action: str, **options: Any) -> None:
        from dashboard.command_line.local_documents import LocalDocuments

        server = chosen_server(options)
        documents = RemoteDocuments(server) if server else LocalDocuments()
        getattr(self, f"_{action}")(documents, options)

    def _add(self, documents: Any, options: Any) -> None:
        made = documents.add(options["paths"], options["collection"])
        show(self.stdout, made, as_json=options["json"], shorten=_added)
        if made["refused"] or made["problem"]:
            sys.exit(1)

    def _list(self, documents: Any, options: Any) -> None:
        rows = documents.list()
        if options["json"]:
            print_json(self.stdout, rows)
        else:
            print_rows(self.stdout, rows, COLUMNS, "There are no collections.")

    def _search(self, documents: Any, options: Any) -> None:
        found = documents.search(options["query"], options["collection"], options["limit"])
        show(self.stdout, found, as_json=options["json"], shorten=_found)

    def _remove(self, documents: Any, options: Any) -> None:
        name, file = options["collection"], options["file"]
        documents.remove(name, file)
        removed = {"collection": name, "file": file or None}
        show(
            self.stdout,
            removed,
            as_json=options["json"],
            shorten=lambda _: f"{file or name} was removed.",
        )


def _action(actions: Any, name: str, help_text: str) -> ArgumentParser:
    parser: ArgumentParser = actions.add_parser(name, help=help_text, description=help_text)
    parser.add_argument("--json", action="store_true", help="print one JSON value")
    add_place(parser)
    return parser


def _added(made: dict[str, Any]) -> str:
    lines = [f"{made['name']}: {made['state']}, {made['documents']:,} documents can be searched."]
    lines += [f"Refused: {each['name']}: {each['reason']}" for each in made["refused"]]
    lines += [f"{made['left_out']}."] if made.get("left_out") else []
    lines += [made["problem"]] if made["problem"] else []
    return "\n".join(lines)


def _found(found: list[dict[str, Any]]) -> str:
    if not found:
        return "Nothing was found."
    texts = (f"{each['title']}\n{each['url']}\n  {each['quote']}" for each in found)
    return "\n\n".join(texts)
