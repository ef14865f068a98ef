"""`manage.py` with a clock that is off, another engine version, or a watch on its event loop."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import threading
import time
from datetime import datetime, timedelta
from pathlib import Path

from django.utils import timezone

WATCH_SECONDS = 0.02


def shift_clock(seconds: float) -> None:
    """Shift this process's clock; durations are measured by another one and stay as they are."""
    real_time, real_now = time.time, timezone.now
    time.time = lambda: real_time() + seconds

    def now() -> datetime:
        return real_now() + timedelta(seconds=seconds)

    timezone.now = now
    from research.runtime.program import SystemClock

    SystemClock.now = lambda self: now()  # type: ignore[method-assign]


def take_version(name: str) -> None:
    """Replay runs of this engine version only."""
    from research.runtime import program

    program.ENGINE_VERSION = name
    program.REPLAY_VERSIONS = frozenset({name})


def watch_loop(told: Path) -> None:
    """Write how long, in seconds, the loop that executes runs took to answer, from its start on."""
    from research.queue.embedded import EmbeddedWorker

    start = EmbeddedWorker.start

    async def watched(self: EmbeddedWorker) -> None:
        await start(self)
        loop = asyncio.get_running_loop()
        threading.Thread(target=_watch, args=(loop, told), daemon=True).start()

    EmbeddedWorker.start = watched  # type: ignore[method-assign]


def _watch(loop: asyncio.AbstractEventLoop, told: Path) -> None:
    answers: list[float] = []
    while not loop.is_closed():
        answered, began = threading.Event(), time.perf_counter()
        loop.call_soon_threadsafe(answered.set)
        answered.wait()
        answers.append(time.perf_counter() - began)
        if len(answers) % 50 == 0:
            told.write_text(json.dumps(answers))
        time.sleep(WATCH_SECONDS)


def main() -> None:
    parser = argparse.ArgumentParser("bench.scale.altered")
    parser.add_argument("--clock", type=float, default=0.0)
    parser.add_argument("--version", default="")
    parser.add_argument("--watch", type=Path)
    options, command = parser.parse_known_args()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    if options.clock:
        shift_clock(options.clock)
    if options.version:
        take_version(options.version)
    if options.watch:
        import django

        django.setup()
        watch_loop(options.watch)
    from django.core.management import execute_from_command_line

    execute_from_command_line(["manage.py", *command])


if __name__ == "__main__":
    main()
