"""Django's handler for bodies that the server has spooled already."""

from __future__ import annotations

import asyncio
from typing import Any, BinaryIO

import django
from django.core.handlers.asgi import ASGIHandler, ASGIRequest
from django.http import HttpResponse

from dashboard.http_channel import BODY

REQUESTS_AT_ONCE = 16
"""Each has a thread, which competes with the event loop, and a connection to the database."""


class SpooledBodyHandler(ASGIHandler):
    """Takes the file in the place of messages: nothing is copied, and nothing read on the loop."""

    def __init__(self) -> None:
        super().__init__()
        self._slots = asyncio.Semaphore(REQUESTS_AT_ONCE)

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        async with self._slots:
            await super().__call__(scope, receive, send)

    def create_request(
        self, scope: dict[str, Any], body_file: BinaryIO
    ) -> tuple[ASGIRequest, None] | tuple[None, HttpResponse]:
        spooled = scope.get("extensions", {}).get(BODY)
        if spooled is None:
            return super().create_request(scope, body_file)
        body_file.close()
        return super().create_request(scope, spooled)


def get_application() -> SpooledBodyHandler:
    django.setup(set_prefix=False)
    return SpooledBodyHandler()
