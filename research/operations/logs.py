"""Log output: as text or JSON lines, with the run's id, and repeated faults in one line."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable
from contextvars import ContextVar
from copy import copy
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, TextIO

current_run: ContextVar[str] = ContextVar("current_run", default="")
"""Public id of the run that the current task executes, '' outside of one."""

WINDOW_SECONDS = 60.0
PER_PLACE = 10
"""Different messages of one logging call that are written within a window."""


class JsonFormatter(logging.Formatter):
    """One JSON object per line: time, level, logger, message, and run and error if there are."""

    def format(self, record: logging.LogRecord) -> str:
        told: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
        }
        if run := getattr(record, "run", "") or current_run.get():
            told["run"] = run
        if record.exc_info:
            told["error"] = self.formatException(record.exc_info)
        return json.dumps(told, ensure_ascii=False, default=str)


@dataclass
class _Window:
    """What one key logged since `began`."""

    began: float
    record: logging.LogRecord
    written: int = 0
    suppressed: int = 0


class FaultHandler(logging.StreamHandler[TextIO]):
    """Writes warnings and errors that repeat within a minute once, and then how often they came.

    The same message of the same place is written once, different messages about the same error up
    to `PER_PLACE` times, and the traceback of that error once. Lower levels are not limited.
    Summaries come with the first record after the minute, and when the handler is closed.
    """

    def __init__(
        self, stream: TextIO | None = None, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        super().__init__(stream)
        self._clock = clock
        self._windows: dict[tuple[object, ...], _Window] = {}

    def emit(self, record: logging.LogRecord) -> None:
        self._summarise(self._clock() - WINDOW_SECONDS)
        written = record if record.levelno < logging.WARNING else self._admit(record)
        if written is not None:
            super().emit(written)

    def close(self) -> None:
        self.acquire()
        try:
            self._summarise(float("inf"))
        finally:
            self.release()
        super().close()

    def _admit(self, record: logging.LogRecord) -> logging.LogRecord | None:
        """Count the record; return what to write: without a traceback already written, or None."""
        error = record.exc_info[1] if record.exc_info else None
        place = (record.name, record.pathname, record.lineno, type(error), str(error)[:200])
        of_place = self._window(place, record)
        of_message = self._window((*place, record.getMessage()), record)
        if of_message.written:
            of_message.suppressed += 1
            return None
        if of_place.written >= PER_PLACE:
            of_place.suppressed += 1
            del self._windows[*place, record.getMessage()]
            return None
        if of_place.written:
            record = copy(record)
            record.exc_info = record.exc_text = None
        of_message.written = 1
        of_place.written += 1
        return record

    def _window(self, key: tuple[object, ...], record: logging.LogRecord) -> _Window:
        return self._windows.setdefault(key, _Window(self._clock(), record))

    def _summarise(self, until: float) -> None:
        """Write how much was suppressed in the windows that began before `until`; forget them."""
        over = [key for key, window in self._windows.items() if window.began <= until]
        for window in [self._windows.pop(key) for key in over]:
            if window.suppressed:
                super().emit(_summary(window))


def _summary(window: _Window) -> logging.LogRecord:
    first = window.record
    text = f"{first.getMessage()} (and {window.suppressed:,} more like this within a minute)"
    return logging.LogRecord(
        first.name, first.levelno, first.pathname, first.lineno, text, None, None
    )
