"""Outages: a resource of the process (database, Redis, disk, memory, sockets) is unavailable.

An outage says nothing about the run that encountered it, so it is not a crash. The process retries
with exponential backoff and claims no other run until it is over (backpressure).
"""

from __future__ import annotations

import asyncio
import errno
import logging
import random
import sqlite3
import sys
from collections.abc import Awaitable, Callable, Iterator
from typing import TypeVar

from django.db import InterfaceError, OperationalError

log = logging.getLogger(__name__)

T = TypeVar("T")

FIRST_SECONDS = 1.0
LONGEST_SECONDS = 60.0
JITTER = 0.25
"""Random share of a wait, so that processes do not retry all at once."""

_SYSTEM = frozenset(
    {errno.ENOSPC, errno.EDQUOT, errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EIO, errno.EROFS}
)
_SQLITE = frozenset(
    {
        *(sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR),
        *(sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_NOMEM, sqlite3.SQLITE_READONLY),
        sqlite3.SQLITE_PROTOCOL,
    }
)
# SQLSTATE prefixes: connection, insufficient resources, shutdown or start, system error; lock
# timeout, serialization failure, deadlock, read-only server.
_SQLSTATES = ("08", "53", "57P", "58", "55P03", "40001", "40P01", "25006")


def is_outage(error: BaseException | None) -> bool:
    """Return whether an error, one of its causes or one of a group's errors is an outage."""
    return any(map(_is_one, _all_of(error)))


def _all_of(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        if isinstance(error, BaseExceptionGroup):
            for each in error.exceptions:
                yield from _all_of(each)
        error = error.__cause__


def _is_one(error: BaseException) -> bool:
    if isinstance(error, sqlite3.Error):
        return getattr(error, "sqlite_errorcode", 0) & 0xFF in _SQLITE
    if isinstance(error, loaded_errors("psycopg", "OperationalError")):
        sqlstate = getattr(error, "sqlstate", None)
        return sqlstate is None or sqlstate.startswith(_SQLSTATES)
    if isinstance(error, OperationalError):
        return error.__cause__ is None  # otherwise the driver's error decides
    if isinstance(error, OSError):
        return error.errno in _SYSTEM
    drivers = (
        *loaded_errors("psycopg", "InterfaceError"),
        *loaded_errors("redis.exceptions", "ConnectionError", "TimeoutError"),
    )
    return isinstance(error, (InterfaceError, *drivers))


def loaded_errors(module: str, *names: str) -> tuple[type[Exception], ...]:
    """Return exceptions of a driver; none if it isn't imported (yet), so that nothing raises them.

    Importing the drivers of PostgreSQL and Redis takes longer than the rest of a small command.
    """
    driver = sys.modules.get(module)
    found = (getattr(driver, name, None) for name in names)
    return tuple(each for each in found if each is not None)


class Outages:
    """Retry policy and outage state of one process. While `is_on`, it claims no runs.

    `sleep` and `chance` (a function from 0 to 1) are parameters for tests.
    """

    def __init__(
        self,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self.sleep = sleep
        self._chance = chance
        self._waiting = 0

    @property
    def is_on(self) -> bool:
        return self._waiting > 0

    def seconds(self, failures: int) -> float:
        """Return the wait after consecutive failures: 1, 2, 4 … 60 seconds, minus some jitter."""
        wait = min(LONGEST_SECONDS, FIRST_SECONDS * 2.0 ** min(failures - 1, 10))
        return wait * (1 - JITTER * self._chance())

    async def outlast(self, call: Callable[[], Awaitable[T]], failures: int = 1) -> T:
        """Retry a call with exponential backoff until no outage stops it, and return its result.

        `failures` is the number of consecutive failures so far. Other errors propagate.
        """
        self._waiting += 1
        try:
            while True:
                await self.sleep(self.seconds(failures))
                try:
                    return await call()
                except Exception as error:  # drivers raise outages as many types; others pass
                    if not is_outage(error):
                        raise
                    failures += 1
                    log.warning("still unavailable after %d attempts: %s", failures, error)
        finally:
            self._waiting -= 1
