"""`manage.py`, on a machine whose clock is off by the seconds given first."""

from __future__ import annotations

import os
import sys
import time
from datetime import datetime, timedelta

from django.utils import timezone


def shift_clock(seconds: float) -> None:
    """Shift this process's clock; durations are measured by another one and stay as they are."""
    real_time, real_now = time.time, timezone.now
    time.time = lambda: real_time() + seconds

    def now() -> datetime:
        return real_now() + timedelta(seconds=seconds)

    timezone.now = now
    from research.runtime.clock import SystemClock

    SystemClock.now = lambda self: now()  # type: ignore[method-assign]


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    shift_clock(float(sys.argv[1]))
    from django.core.management import execute_from_command_line

    execute_from_command_line(["manage.py", *sys.argv[2:]])


if __name__ == "__main__":
    main()
