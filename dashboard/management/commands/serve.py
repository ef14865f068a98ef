"""`manage.py serve`: migrate, then run the web server and, by default, a worker in one process."""

from __future__ import annotations

import signal
import sys
import threading
import webbrowser
from argparse import ArgumentParser
from collections.abc import Sequence
from functools import partial
from types import FrameType
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.urls import reverse

from config.environment import is_loopback
from research.runtime.garbage import spare_what_is_loaded
from research.runtime.program import program_name
from research.runtime.schema import migrate_database
from research.runtime.settings_check import TAG

VENV_PYTHON = ".venv/bin/python"
EVERY_ADDRESS = ("0.0.0.0", "::")
NOBODY_ELSE = """\
Network     other machines are refused until .env says by which names they may ask:
            ALLOWED_HOSTS=NAME,ADDRESS"""


class Command(BaseCommand):
    help = "Serves the pages and works on the runs, in one process."
    requires_system_checks = (TAG,)

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--host", default=settings.HOST, help="default: HOST, else 127.0.0.1")
        parser.add_argument(
            "--port", type=int, default=settings.PORT, help="default: PORT, else 8000"
        )

        parser.add_argument(
            "--no-worker",
            action="store_false",
            dest="works",
            help="serve the pages only; `manage.py worker` executes the runs",
        )

    def handle(self, *args: Any, host: str, port: int, works: bool, **options: Any) -> None:
        signal.signal(signal.SIGTERM, _end_early)
        try:
            self.serve(host, port, works)
        except KeyboardInterrupt:
            sys.exit(0)

    def serve(self, host: str, port: int, works: bool) -> None:
        from dashboard.serving.server import (
            Address,
            EmbeddedServer,
            ListenError,
            check_free,
        )

        address = Address(host, port)
        try:
            check_free(address)
            migrate_database()
            refuse_open_door(host)
            allow_host(host)
            from config.asgi import application
            from dashboard.mcp import http as mcp
            from research.queue import QUEUES
            from research.queue.processes import make_workers
            from research.queue.workers import InThread, Together
            from research.runtime import tool_factory
            from research.services import documents

            documents.take_in(settings.DOCUMENTS)
            worker = InThread(
                make_workers(QUEUES, settings.RESEARCH_SLOTS) if works else Together()
            )
            spare_what_is_loaded()
            EmbeddedServer(
                application,
                Together([worker, mcp.endpoint]),
                address,
                on_ready=lambda: self.announce(host, port),
                close=partial(worker.close, tool_factory.close_tools),
            ).run()
        except ListenError as error:
            raise CommandError(str(error)) from None

    def announce(self, host: str, port: int) -> None:
        from research.runtime import status_summary

        signing_in = sign_in_line(host, port)
        lines = [signing_in, *status_summary.describe_installation()]
        if host in EVERY_ADDRESS and not names_for_others():
            lines.append(NOBODY_ELSE)
        for line in (*lines, "Stop with Ctrl-C."):
            self.stdout.write(line)
        self.stdout.flush()
        if is_loopback(host) and self.stdout.isatty():
            self.lead_on(signing_in.split()[-1])

    def lead_on(self, link: str) -> None:
        """Print what to do next, and open the link in a browser if there is one."""
        from research.runtime.installation import current_installation

        opens = has_browser()
        has_model = current_installation().model_settings is not None
        for line in next_steps(has_model, opens):
            self.stdout.write(line)
        self.stdout.flush()
        if opens:
            open_browser(link)


def _end_early(signum: int, frame: FrameType | None) -> None:
    """Exit immediately; the server replaces this handler once it runs."""
    sys.exit(0)


def refuse_open_door(host: str) -> None:
    """Raise `CommandError` if other machines can connect and no user has a password."""
    from dashboard.sign_in import has_accounts

    if is_loopback(host) or has_accounts():
        return
    raise CommandError(
        f"{host} can be reached from other machines, and nobody has a password yet. "
        f"Make an account first: {program_name(VENV_PYTHON)} createsuperuser"
    )


def allow_host(host: str) -> None:
    """Add the served address to ALLOWED_HOSTS."""
    if host not in EVERY_ADDRESS:
        settings.ALLOWED_HOSTS.append(in_a_link(host))


def names_for_others() -> list[str]:
    """Return the allowed hosts other than loopback."""
    return [name for name in settings.ALLOWED_HOSTS if not is_loopback(name)]


def in_a_link(host: str) -> str:
    if host in EVERY_ADDRESS:
        named = [name.lstrip(".") for name in names_for_others() if name != "*"]
        return named[0] if named else "localhost"
    return f"[{host}]" if ":" in host else host


def sign_in_line(host: str, port: int) -> str:
    """Return a line with a sign-in link; off loopback only the address of the sign-in page.

    A link in the log of a server that others can reach would leak a credential.
    """
    from dashboard.sign_in import void_links

    shown = in_a_link(host)
    if not is_loopback(host):
        void_links()
        return f"Plumbline   http://{shown}:{port}{reverse('sign_in')}"
    return f"Sign in     {sign_in_link(host, port)}"


def sign_in_link(host: str, port: int) -> str:
    """Return a new link that signs in once; older ones are void."""
    from dashboard.sign_in import new_link_token

    return f"http://{in_a_link(host)}:{port}{reverse('sign_in_link', args=[new_link_token()])}"


def next_steps(has_model: bool, opens_browser: bool) -> Sequence[str]:
    """Return what to do first, in three lines."""
    opened = "It opens in your browser now." if opens_browser else "It works once."
    connect = (
        "Change model and search under Setup."
        if has_model
        else "Connect a model under Setup; until then you get passages, not answers."
    )
    return (
        f"Next        1. Open the sign-in link above. {opened}",
        "            2. Ask a question, or read one of the three sample reports.",
        f"            3. {connect}",
    )


def has_browser() -> bool:
    """Return whether a graphical browser may be opened here.

    A text browser would take the terminal over: `webbrowser` knows those as `GenericBrowser`.
    """
    if not (settings.OPEN_BROWSER and settings.HAS_DISPLAY):
        return False
    try:
        return type(webbrowser.get()) is not webbrowser.GenericBrowser
    except webbrowser.Error:
        return False


def open_browser(address: str) -> None:
    """Open an address without waiting for the browser."""
    threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()
