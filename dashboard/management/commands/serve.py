"""`manage.py serve`: migrate, then web server and worker in one process."""

from __future__ import annotations

import signal
import sys
from argparse import ArgumentParser
from types import FrameType
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.urls import reverse

from dashboard.environment import is_loopback
from research.schema import migrate

ACCOUNT_COMMAND = ".venv/bin/python manage.py createsuperuser"
EVERY_ADDRESS = ("0.0.0.0", "::")
NOBODY_ELSE = """\
Network     other machines are refused until .env says by which names they may ask:
            ALLOWED_HOSTS=NAME,ADDRESS"""


class Command(BaseCommand):
    help = "Serves the pages and works on the runs, in one process."
    requires_system_checks: list[str] = []  # noqa: RUF012 - Django's own declaration

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--host", default=settings.HOST, help="default: HOST, else 127.0.0.1")
        parser.add_argument(
            "--port", type=int, default=settings.PORT, help="default: PORT, else 8000"
        )

    def handle(self, *args: Any, host: str, port: int, **options: Any) -> None:
        signal.signal(signal.SIGTERM, _end_early)
        try:
            self.serve(host, port)
        except KeyboardInterrupt:
            sys.exit(0)

    def serve(self, host: str, port: int) -> None:
        from dashboard.server import Address, CannotListen, EmbeddedServer, Together, check_free

        address = Address(host, port)
        try:
            check_free(address)
            migrate()
            refuse_open_door(host)
            allow_host(host)
            from dashboard.asgi import application
            from research import assembly
            from research.indexing import Indexer
            from research.retention import Retention
            from research.services import documents
            from research.worker import EmbeddedWorker

            documents.take_in(settings.DOCUMENTS)
            worker = EmbeddedWorker(assembly.build_tools, settings.RESEARCH_SLOTS)
            beside = [worker, Indexer(assembly.documents), Retention(settings.KEEP_RUNS_DAYS)]
            EmbeddedServer(
                application,
                Together(beside),
                address,
                on_ready=lambda: self.announce(host, port),
                close=assembly.close,
            ).run()
        except CannotListen as error:
            raise CommandError(str(error)) from None

    def announce(self, host: str, port: int) -> None:
        from research import at_work

        lines = [sign_in_line(host, port), *at_work.describe()]
        if host in EVERY_ADDRESS and not names_for_others():
            lines.append(NOBODY_ELSE)
        for line in (*lines, "Stop with Ctrl-C."):
            self.stdout.write(line)
        self.stdout.flush()


def _end_early(signum: int, frame: FrameType | None) -> None:
    """Until the server takes the signal over, an end is an exit at once."""
    sys.exit(0)


def refuse_open_door(host: str) -> None:
    """Raises `CommandError` where other machines could come in and nobody has a password."""
    from dashboard.sign_in import has_accounts

    if is_loopback(host) or has_accounts():
        return
    raise CommandError(
        f"{host} can be reached from other machines, and nobody has a password yet. "
        f"Make an account first: {ACCOUNT_COMMAND}"
    )


def allow_host(host: str) -> None:
    """An address that is served on may be asked for by its name."""
    if host not in EVERY_ADDRESS:
        settings.ALLOWED_HOSTS.append(in_a_link(host))


def names_for_others() -> list[str]:
    """What other machines may ask for. With every address served on, only a person can say."""
    return [name for name in settings.ALLOWED_HOSTS if not is_loopback(name)]


def in_a_link(host: str) -> str:
    if host in EVERY_ADDRESS:
        named = [name.lstrip(".") for name in names_for_others() if name != "*"]
        return named[0] if named else "localhost"
    return f"[{host}]" if ":" in host else host


def sign_in_line(host: str, port: int) -> str:
    """Off loopback no link is made: a printed link in a server's log is a key left outside."""
    from dashboard.sign_in import new_link_token, void_links

    shown = in_a_link(host)
    if not is_loopback(host):
        void_links()
        return f"Plumbline   http://{shown}:{port}{reverse('sign_in')}"
    path = reverse("sign_in_link", args=[new_link_token()])
    return f"Sign in     http://{shown}:{port}{path}"
