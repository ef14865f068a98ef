"""The ASGI application for HTTP: Django's handler for spooled bodies."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from itertools import cycle
from typing import Any, BinaryIO

import django
from asgiref.sync import ThreadSensitiveContext, sync_to_async
from django.core.handlers.asgi import ASGIHandler, ASGIRequest
from django.core.signals import request_started
from django.db import close_old_connections, connections, reset_queries
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase

from dashboard.serving.http_channel import BODY

REQUESTS_AT_ONCE = 16
"""Each request has a thread, which competes with the event loop, and a database connection."""

MOST_WAITING = 200
"""Views that may wait at the same time, each with a thread but without a connection."""

BESIDE = 4
"""Threads for what the requests do before and after their views, such as loading for streams."""


class Slots:
    """Request threads, each with a database connection; a request occupies one (a slot)."""

    def __init__(self) -> None:
        self._free: asyncio.LifoQueue[ThreadPoolExecutor] = asyncio.LifoQueue()
        self._waiting = 0
        for _ in range(REQUESTS_AT_ONCE):
            self._free.put_nowait(_one_thread("request"))

    @asynccontextmanager
    async def take(self) -> AsyncIterator[ThreadPoolExecutor]:
        """Reserve a thread; it is released once idle, some time after a cancellation."""
        thread = await self._free.get()
        try:
            yield thread
        except asyncio.CancelledError:
            loop = asyncio.get_running_loop()
            thread.submit(loop.call_soon_threadsafe, self._free.put_nowait, thread)
            raise
        except BaseException:
            self._free.put_nowait(thread)
            raise
        self._free.put_nowait(thread)

    @asynccontextmanager
    async def lend(self) -> AsyncIterator[None]:
        """Add a thread while a view waits in its own, and stop one afterwards."""
        if self._waiting >= MOST_WAITING:
            from ninja.errors import HttpError  # loaded by the waiting view itself

            raise HttpError(503, "Too many requests wait for research; try again in a minute.")
        self._waiting += 1
        try:
            await sync_to_async(connections.close_all)()
            self._free.put_nowait(_one_thread("request"))
            try:
                yield
            finally:
                spare = await self._free.get()
                spare.submit(connections.close_all)
                spare.shutdown(wait=False)
        finally:
            self._waiting -= 1


class SpooledBodyHandler(ASGIHandler):
    """Reads the spooled file instead of ASGI messages: nothing is copied on the event loop.

    A request has its slot and its thread while its view runs, not while its response is streamed.
    Middleware and view run in that thread in one go: as coroutines, each middleware would switch
    threads twice, which costs more than most views.
    """

    def __init__(self) -> None:
        super().__init__()
        self._slots = Slots()
        self._beside = cycle([_one_thread("beside") for _ in range(BESIDE)])

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        async with ThreadSensitiveContext(executor=next(self._beside)):
            await super().__call__(scope, receive, send)

    def load_middleware(self, is_async: bool = False) -> None:
        super().load_middleware(is_async=False)

    async def get_response_async(self, request: Any) -> HttpResponseBase:
        request.slots = self._slots
        async with self._slots.take() as thread:
            respond = sync_to_async(self._respond, thread_sensitive=False, executor=thread)
            return await respond(request)

    def _respond(self, request: Any) -> HttpResponseBase:
        close_old_connections()
        try:
            return self.get_response(request)
        finally:
            close_old_connections()

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
    """Give the request's slot to others while its view waits; the wait must need no thread.

    Raise `HttpError` if too many wait already.
    """
    slots: Slots | None = getattr(request, "slots", None)
    if slots is None:
        yield
        return
    async with slots.lend():
        yield


def _one_thread(name: str) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(1, thread_name_prefix=name)


def get_application() -> SpooledBodyHandler:
    django.setup(set_prefix=False)
    # The handler closes old connections in the request's own thread. With these receivers, Django
    # would switch to a thread and back before each request.
    request_started.disconnect(close_old_connections)
    request_started.disconnect(reset_queries)
    return SpooledBodyHandler()
