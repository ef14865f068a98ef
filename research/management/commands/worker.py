"""`manage.py worker`: execute runs and background work without serving pages."""

from __future__ import annotations

import asyncio
from argparse import ArgumentParser, ArgumentTypeError
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from research.queue import QUEUES
from research.runtime.schema import migrate_database
from research.runtime.settings_check import TAG


class Command(BaseCommand):
    help = "Executes runs, without serving pages; SIGTERM or Ctrl-C drains it."
    requires_system_checks = (TAG,)

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--queues",
            type=queue_names,
            default=list(QUEUES),
            help=f"what to work on, separated by commas: {', '.join(QUEUES)} (default: all)",
        )
        parser.add_argument(
            "--concurrency",
            type=at_least_one,
            default=settings.RESEARCH_SLOTS,
            help="runs to execute at once; default: RESEARCH_SLOTS, else 2",
        )

    def handle(self, *args: Any, queues: list[str], concurrency: int, **options: Any) -> None:
        migrate_database()
        from research.queue.processes import make_workers, work_until_stopped
        from research.runtime import tool_factory
        from research.runtime.garbage import spare_what_is_loaded

        spare_what_is_loaded()
        worker = make_workers(queues, concurrency, settings.DRAIN_SECONDS)
        self.stdout.write(f"Working on {', '.join(queues)}, {concurrency} runs at once.")
        self.stdout.flush()
        asyncio.run(work_until_stopped(worker, tool_factory.close_tools))
        self.stdout.write("Stopped; unfinished runs continue elsewhere.")


def queue_names(text: str) -> list[str]:
    """Return the names of a comma-separated list; raise `ArgumentTypeError` for unknown ones."""
    names = list(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))
    if unknown := [name for name in names if name not in QUEUES]:
        raise ArgumentTypeError(f"no such queue: {', '.join(unknown)}; use {', '.join(QUEUES)}")
    if not names:
        raise ArgumentTypeError("name at least one queue")
    return names


def at_least_one(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise ArgumentTypeError(f"{text} is not a whole number from 1")
    return int(text)
