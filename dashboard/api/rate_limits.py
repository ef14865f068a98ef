"""Rate limit per caller: a fixed window of a minute, with headers in every response."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from asgiref.sync import iscoroutinefunction
from django.conf import settings
from django.core.cache import cache
from django.http import HttpRequest, HttpResponseBase
from django.utils.decorators import sync_and_async_middleware

from research.errors import PlumblineError
from research.runtime.outages import loaded_errors

log = logging.getLogger(__name__)

WINDOW_SECONDS = 60


@dataclass(frozen=True)
class RateLimit:
    """The caller's window: `reset` is the number of seconds until the next one begins."""

    limit: int
    remaining: int
    reset: int

    def headers(self) -> dict[str, str]:
        """Return the headers of the IETF draft."""
        told = {"Limit": self.limit, "Remaining": self.remaining, "Reset": self.reset}
        return {f"RateLimit-{name}": str(value) for name, value in told.items()}


class ThrottledError(PlumblineError):
    """The caller sent more requests than allowed; `wait` is in seconds."""

    def __init__(self, wait: int) -> None:
        super().__init__(f"Too many requests; try again in {wait} seconds.")
        self.wait = wait


def count_request(
    request: HttpRequest, caller: str, clock: Callable[[], float] = time.time
) -> None:
    """Count a request of this caller. Raise `ThrottledError` above the limit."""
    used, now = count(caller, clock)
    request.rate_limit = now
    if used > now.limit:
        raise ThrottledError(now.reset)


def count(caller: str, clock: Callable[[], float] = time.time) -> tuple[int, RateLimit]:
    """Count a request; return the number of them in the caller's window, and the window."""
    now, limit = clock(), settings.API_REQUESTS_PER_MINUTE
    window = int(now // WINDOW_SECONDS)
    used = _increment(f"api-rate/{caller}/{window}")
    reset = int((window + 1) * WINDOW_SECONDS - now) or 1
    return used, RateLimit(limit, max(0, limit - used), reset)


def token_key(public_id: str) -> str:
    """Return the name of a token as a caller."""
    return f"token-{public_id}"


def _increment(key: str) -> int:
    """Return the number of requests in the window; 1 while Redis does not answer."""
    try:
        try:
            return cache.incr(key)
        except ValueError:  # the first request of the window
            cache.add(key, 0, 2 * WINDOW_SECONDS)
            return cache.incr(key)
    except loaded_errors("redis.exceptions", "RedisError"):
        log.warning("requests of the API cannot be counted now", exc_info=True)
        return 1


@sync_and_async_middleware
def rate_limit_headers(get_response: Any) -> Any:
    """Add the headers of the limit to responses of counted requests."""
    if iscoroutinefunction(get_response):

        async def async_middleware(request: HttpRequest) -> HttpResponseBase:
            return _with_headers(request, await get_response(request))

        return async_middleware

    def middleware(request: HttpRequest) -> HttpResponseBase:
        return _with_headers(request, get_response(request))

    return middleware


def _with_headers(request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
    found: RateLimit | None = getattr(request, "rate_limit", None)
    if found is not None:
        for name, value in found.headers().items():
            response.headers[name] = value
    return response
