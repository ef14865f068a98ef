"""Probes for operators, as plain ASGI: `/healthz`, `/readyz` and `/metrics`.

They need no session and no thread of the pages, so they answer while all of those are busy.
"""

from __future__ import annotations

import asyncio
import hmac
import logging
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from time import monotonic
from typing import Any, Literal
from urllib.parse import urlsplit

from django.conf import settings
from django.db import connection
from prometheus_client import CONTENT_TYPE_LATEST, REGISTRY, CollectorRegistry, generate_latest

from config.environment import is_loopback
from research.operations.work_status import WorkCollector
from research.runtime.db_threads import with_fresh_connection

log = logging.getLogger(__name__)
Scope = dict[str, Any]
Answer = tuple[int, str]
Probe = Callable[[Scope], Awaitable[Answer]]

TEXT = "text/plain; charset=utf-8"
METHODS = ("GET", "HEAD")
FORWARDED = frozenset({b"forwarded", b"x-forwarded-for", b"x-real-ip"})
CHECK_SECONDS = 2.0
FRESH_SECONDS = 1.0
"""An answer of `/readyz` is reused this long: clients without an account may ask for it."""

NOT_FOR_YOU = (
    "Metrics are served to this machine only. To scrape them from elsewhere, set METRICS_TOKEN and"
    " send it as a bearer token.\n"
)


async def check_health(scope: Scope) -> Answer:
    """Answer that the event loop runs."""
    return 200, "ok\n"


# --- readiness ------------------------------------------------------------------

Phase = Literal["starting", "serving", "stopping"]


class Readiness:
    """Whether this process should get requests: the server is up, and its services answer."""

    def __init__(
        self,
        checks: dict[str, Callable[[], Awaitable[None]]],
        clock: Callable[[], float] = monotonic,
        check_seconds: float = CHECK_SECONDS,
    ) -> None:
        """`checks` raise an exception, or take too long, if a service is unavailable."""
        self.phase: Phase = "serving"
        self.checks = checks
        self.check_seconds = check_seconds
        self._clock = clock
        self._checked_at = float("-inf")
        self._answer: Answer = (503, "")
        self._checking: asyncio.Task[None] | None = None

    async def __call__(self, scope: Scope) -> Answer:
        if self.phase != "serving":
            return 503, f"{self.phase}\n"
        if self._clock() - self._checked_at > FRESH_SECONDS:
            if self._checking is None or self._checking.done():
                self._checking = asyncio.create_task(self._check(), name="readiness")
            await asyncio.shield(self._checking)
        return self._answer

    async def _check(self) -> None:
        states = await asyncio.gather(*map(self._state_of, self.checks.values()))
        lines = [f"{name}: {state}\n" for name, state in zip(self.checks, states, strict=True)]
        self._answer = (200 if set(states) <= {"ok"} else 503), "".join(lines)
        self._checked_at = self._clock()

    async def _state_of(self, check: Callable[[], Awaitable[None]]) -> str:
        try:
            async with asyncio.timeout(self.check_seconds):
                await check()
        except Exception as error:  # any failure makes the process unready; its cause is logged
            log.warning("readiness check failed: %s: %s", type(error).__name__, error)
            return "unavailable"
        return "ok"


@cache
def _probe_thread() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(1, thread_name_prefix="probe")


async def _in_thread(function: Callable[[], Any]) -> Any:
    """Call a function that uses the database in the thread of the probes."""
    loop = asyncio.get_running_loop()
    return await loop.run_in_executor(_probe_thread(), with_fresh_connection, function)


def _query_database() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")


async def check_database() -> None:
    await _in_thread(_query_database)


async def check_redis() -> None:
    from redis.asyncio import Redis

    async with Redis.from_url(settings.REDIS_URL) as client:
        await client.ping()


@cache
def readiness() -> Readiness:
    """Return the readiness of this process."""
    checks: dict[str, Callable[[], Awaitable[None]]] = {"database": check_database}
    if settings.REDIS_URL:
        checks["redis"] = check_redis
    return Readiness(checks)


async def check_readiness(scope: Scope) -> Answer:
    return await readiness()(scope)


# --- metrics --------------------------------------------------------------------


async def show_metrics(scope: Scope) -> Answer:
    """Answer with this process's metrics and those of the database, to those who may see them."""
    if not may_see_metrics(scope):
        return 403, NOT_FOR_YOU
    try:
        of_database = await asyncio.wait_for(_in_thread(_database_metrics), CHECK_SECONDS)
    except TimeoutError:
        of_database = b"plumbline_database_up 0.0\n"
    return 200, (generate_latest(REGISTRY) + of_database).decode()


def may_see_metrics(scope: Scope) -> bool:
    """Return whether the client sent METRICS_TOKEN or, if it is not set, is on this machine.

    A proxy on this machine also connects from loopback, and a page in a local browser may have
    rebound its host name: forwarded requests and foreign host names are refused.
    """
    headers = dict(scope["headers"])
    if settings.METRICS_TOKEN:
        expected = f"Bearer {settings.METRICS_TOKEN}".encode()
        return hmac.compare_digest(headers.get(b"authorization", b""), expected)
    host = urlsplit(f"//{headers.get(b'host', b'').decode('latin-1')}").hostname or ""
    client = (scope.get("client") or ("",))[0]
    return is_loopback(client) and is_loopback(host) and not FORWARDED & headers.keys()


def _database_metrics() -> bytes:
    registry = CollectorRegistry()
    registry.register(WorkCollector())
    return generate_latest(registry)


# --- ASGI -----------------------------------------------------------------------

PROBES: dict[str, Probe] = {
    "/healthz": check_health,
    "/readyz": check_readiness,
    "/metrics": show_metrics,
}


async def serve_probe(scope: Scope, receive: Any, send: Any) -> None:
    """Answer a request to one of `PROBES`."""
    allowed = scope["method"] in METHODS
    status, text = await PROBES[scope["path"]](scope) if allowed else (405, "GET only\n")
    is_metrics = status == 200 and scope["path"] == "/metrics"
    body = text.encode()
    headers = [
        (b"content-type", (CONTENT_TYPE_LATEST if is_metrics else TEXT).encode()),
        (b"cache-control", b"no-store"),
        (b"x-content-type-options", b"nosniff"),
        (b"content-length", str(len(body)).encode()),
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else body})
