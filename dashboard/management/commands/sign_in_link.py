"""`manage.py sign_in_link`: print a new sign-in link while the server is running."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from dashboard.command_line.output import show
from dashboard.management.commands.serve import sign_in_link
from research.runtime.schema import migrate_database

LOOPBACK = "127.0.0.1"


class Command(BaseCommand):
    help = "Prints a link that signs in on this machine, once; older ones are void."
    requires_system_checks: list[str] = []  # noqa: RUF012 - Django's own declaration

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--port", type=int, default=settings.PORT, help="that is served on")
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *args: Any, port: int, **options: Any) -> None:
        migrate_database()
        link = {"link": sign_in_link(LOOPBACK, port)}
        show(
            self.stdout,
            link,
            as_json=options["json"],
            shorten=lambda _: f"Sign in     {link['link']}",
        )
