"""The ASGI application for HTTP: Django's handler for spooled bodies."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, BinaryIO

import django
from django.core.handlers.asgi import ASGIHandler, ASGIRequest
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase

from dashboard.serving.http_channel import BODY

REQUESTS_AT_ONCE = 16
"""Each request has a thread, which competes with the event loop, and a database connection."""


class SpooledBodyHandler(ASGIHandler):
    """Reads the spooled file instead of ASGI messages: nothing is copied on the event loop.

    A request has its slot while its view runs, not while its response is streamed.
    """

    def __init__(self) -> None:
        super().__init__()
        self._slots = asyncio.Semaphore(REQUESTS_AT_ONCE)

    async def get_response_async(self, request: Any) -> HttpResponseBase:
        request.slots = self._slots
        async with self._slots:
            return await super().get_response_async(request)

    def create_request(
        self, scope: dict[str, Any], body_file: BinaryIO
    ) -> tuple[ASGIRequest, None] | tuple[None, HttpResponse]:
        spooled = scope.get("extensions", {}).get(BODY)
        if spooled is None:
            return super().create_request(scope, body_file)
        body_file.close()
        return super().create_request(scope, spooled)


@asynccontextmanager
async def without_slot(request: HttpRequest) -> AsyncIterator[None]:
    """Give the request's slot to others while its view waits; the wait must need no thread."""
    slots: asyncio.Semaphore | None = getattr(request, "slots", None)
    if slots is None:
        yield
        return
    slots.release()
    try:
        yield
    finally:
        await slots.acquire()


def get_application() -> SpooledBodyHandler:
    django.setup(set_prefix=False)
    return SpooledBodyHandler()
