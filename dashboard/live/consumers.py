"""The WebSocket endpoint of a run's page, as a plain ASGI application.

The consumer classes of Channels switch to a thread for every message and client, which failed at a
few hundred viewers. Messages from clients are ignored.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from typing import Any
from urllib.parse import parse_qs

from channels.db import database_sync_to_async
from django.conf import settings

from dashboard.live import hub
from research.operations.metrics import SOCKETS
from research.services import runs

Message = dict[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

ENDED = 1000
NOT_THERE = 4404
"""Close codes. The page reconnects after 1006, 1011, 1012 and 1013 only, so not after these."""


async def watch_run(scope: dict[str, Any], receive: Receive, send: Send) -> None:
    """Push updates of a run until it ends or the client disconnects.

    Connections to other users' runs are closed with the same code as to missing runs.
    """
    await receive()
    await send({"type": "websocket.accept"})
    public_id = scope["url_route"]["kwargs"]["public_id"]
    known = await find_sequence(scope["user"], public_id)
    if known is None:
        await send({"type": "websocket.close", "code": NOT_THERE})
        return
    with SOCKETS.track_inprogress():
        messages = hub.current_hub().follow(public_id, page_language(scope), known)
        await _send_until_left(public_id, messages, receive, send)


async def _send_until_left(
    public_id: str, messages: AsyncGenerator[str, None], receive: Receive, send: Send
) -> None:
    changes = send_changes(messages, send)
    sending = asyncio.create_task(changes, name=f"socket {public_id}")
    leaving = asyncio.create_task(until_left(receive), name=f"left {public_id}")
    try:
        await asyncio.wait({sending, leaving}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in (sending, leaving):
            task.cancel()
        await asyncio.wait({sending, leaving})
    if not sending.cancelled():
        sending.result()


def page_language(scope: dict[str, Any]) -> str:
    """Return the language of the page that connects, which its address names."""
    named = parse_qs(scope.get("query_string", b"").decode("latin-1")).get("language", [""])[0]
    return named if named in dict(settings.LANGUAGES) else settings.LANGUAGE_CODE


@database_sync_to_async
def find_sequence(user: Any, public_id: str) -> int | None:
    """Return the sequence of a run; None if the user may not see it."""
    rows = runs.visible_to(user).filter(public_id=public_id)
    return rows.values_list("sequence", flat=True).first()


async def send_changes(messages: AsyncGenerator[str, None], send: Send) -> None:
    async with aclosing(messages) as texts:
        async for text in texts:
            await send({"type": "websocket.send", "text": text})
    await send({"type": "websocket.close", "code": ENDED})


async def until_left(receive: Receive) -> None:
    while (await receive())["type"] != "websocket.disconnect":
        continue
