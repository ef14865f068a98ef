"""The clock of live runs."""

from __future__ import annotations

import time
from datetime import UTC, datetime


class SystemClock:
    """The system clock, in UTC."""

    def now(self) -> datetime:
        return datetime.now(UTC)

    def monotonic(self) -> float:
        return time.monotonic()
