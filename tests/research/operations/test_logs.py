"""What reaches the log while a fault lasts, and log lines as JSON."""

from __future__ import annotations

import json
import logging
import sys
from io import StringIO

import pytest

from research.operations.logs import PER_PLACE, FaultHandler, JsonFormatter, current_run


class Log:
    """A logger that writes to a string through a `FaultHandler` with a clock set by hand."""

    def __init__(self) -> None:
        self.now = 0.0
        self.out = StringIO()
        self.handler = FaultHandler(self.out, clock=lambda: self.now)
        self.logger = logging.Logger("test")
        self.logger.addHandler(self.handler)

    @property
    def lines(self) -> list[str]:
        return self.out.getvalue().splitlines()


def raise_database_error() -> None:
    raise ConnectionError("the database is away")


def fail(log: Log, text: str, *arguments: object) -> None:
    try:
        raise_database_error()
    except ConnectionError:
        log.logger.warning(text, *arguments, exc_info=True)


def test_a_fault_that_repeats_8000_times_is_one_traceback_and_one_summary() -> None:
    log = Log()
    for number in range(8_000):
        log.now = number / 200
        fail(log, "the database cannot be queried")
    assert log.out.getvalue().count("Traceback") == 1
    assert log.lines[0] == "the database cannot be queried"
    log.now = 61
    log.logger.info("something else")
    assert log.lines[-2:] == [
        "the database cannot be queried (and 7,999 more like this within a minute)",
        "something else",
    ]
    fail(log, "the database cannot be queried")
    assert log.out.getvalue().count("Traceback") == 2


def test_one_fault_of_many_runs_is_limited_too() -> None:
    log = Log()
    for number in range(500):
        fail(log, "run %d: outage", number)
    assert [line for line in log.lines if line.startswith("run ")] == [
        f"run {number}: outage" for number in range(PER_PLACE)
    ]
    assert log.out.getvalue().count("Traceback") == 1
    log.handler.close()
    assert log.lines[-1] == "run 0: outage (and 490 more like this within a minute)"


def test_different_errors_of_one_place_keep_their_tracebacks() -> None:
    log = Log()
    for error in (ValueError("one"), ValueError("two"), KeyError("three")):
        log.logger.error("run failed", exc_info=error)
    told = ["ValueError: one", "ValueError: two", "KeyError: 'three'"]
    assert log.lines == [line for error in told for line in ("run failed", error)]


def test_information_is_never_suppressed_and_other_handlers_see_everything() -> None:
    log, seen = Log(), []
    other = logging.Handler()
    other.emit = lambda record: seen.append(record.exc_info)  # type: ignore[method-assign]
    log.logger.addHandler(other)
    for number in range(30):
        log.logger.info("run finished")
        fail(log, "run %d: outage", number)
    assert log.lines.count("run finished") == 30
    assert len(seen) == 60 and all(seen[1::2])


def test_a_json_line_has_the_run_and_the_error() -> None:
    formatter = JsonFormatter()
    record = logging.LogRecord("a.b", logging.ERROR, "", 1, "broken: %s", ("ö",), None)
    told = json.loads(formatter.format(record))
    assert (told["level"], told["logger"], told["message"]) == ("ERROR", "a.b", "broken: ö")
    assert "run" not in told and "error" not in told
    token = current_run.set("abc")
    try:
        raise_database_error()
    except ConnectionError:
        record.exc_info = sys.exc_info()
        written = formatter.format(record)
    finally:
        current_run.reset(token)
    assert "\n" not in written
    assert json.loads(written)["run"] == "abc"
    assert "ConnectionError: the database is away" in json.loads(written)["error"]


@pytest.mark.parametrize("name", ["text", "json"])
def test_both_formats_are_configured(name: str) -> None:
    from django.conf import settings

    assert name in settings.LOGGING["formatters"]
