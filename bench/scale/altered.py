"""`manage.py` with a clock that is off, another engine version, or a watch on its event loop."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
import threading
import time
from datetime import datetime, timedelta
from pathlib import Path

from django.utils import timezone

WATCH_SECONDS = 0.02
LONG_SECONDS = 0.05
"""An answer that takes longer is a block of the loop, whose place is noted every so often."""
LONGEST = 5


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
    """Write how long, in seconds, the loop that executes runs took to answer, from its start on,
    the CPU time that it took meanwhile, and where it was half-way through the longest waits.
    """
    from research.queue.processes import EmbeddedWorker

    start = EmbeddedWorker.start

    async def watched(self: EmbeddedWorker) -> None:
        await start(self)
        loop = asyncio.get_running_loop()
        watched = (loop, threading.get_ident(), told)
        threading.Thread(target=_watch, args=watched, daemon=True).start()

    EmbeddedWorker.start = watched  # type: ignore[method-assign]


def _watch(loop: asyncio.AbstractEventLoop, thread: int, told: Path) -> None:
    answers: list[float] = []
    computed: list[float] = []
    longest: list[tuple[float, list[str]]] = []
    clock = time.pthread_getcpuclockid(thread)
    while not loop.is_closed():
        answered, began, before = threading.Event(), time.perf_counter(), time.clock_gettime(clock)
        loop.call_soon_threadsafe(answered.set)
        stacks: list[list[str]] = []
        while not answered.wait(LONG_SECONDS):
            stacks.append(_stack_of(thread))
        answers.append(time.perf_counter() - began)
        computed.append(time.clock_gettime(clock) - before)
        if stacks:
            longest.append((computed[-1], stacks[len(stacks) // 2]))
            longest = sorted(longest, reverse=True)[:LONGEST]
        if len(answers) % 50 == 0:
            known = {"answers": answers, "computed": computed, "longest": longest}
            told.write_text(json.dumps(known))
        time.sleep(WATCH_SECONDS)


def _stack_of(thread: int) -> list[str]:
    """Return the functions that a thread is in, outermost first."""
    frame, found = sys._current_frames().get(thread), list[str]()
    while frame is not None:
        found.insert(0, f"{Path(frame.f_code.co_filename).name}:{frame.f_code.co_qualname}")
        frame = frame.f_back
    return found


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
