"""The socket of a run's page, as a plain ASGI application.

Channels' own consumer classes hop to a thread for every message and client; that is what broke
at a few hundred viewers. Nothing a client sends is read.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from typing import Any

from channels.db import database_sync_to_async

from dashboard import hub
from research.services import runs

Message = dict[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

ENDED = 1000
NOT_THERE = 4404
"""The page's socket comes back after 1006, 1011, 1012 and 1013 only, so after neither of these."""


async def watch_run(scope: dict[str, Any], receive: Receive, send: Send) -> None:
    """Somebody else's run is as little there as one that never was."""
    await receive()
    await send({"type": "websocket.accept"})
    public_id = scope["url_route"]["kwargs"]["public_id"]
    if not await may_see(scope["user"], public_id):
        await send({"type": "websocket.close", "code": NOT_THERE})
        return
    sending = asyncio.create_task(send_changes(public_id, send), name=f"socket {public_id}")
    leaving = asyncio.create_task(until_left(receive), name=f"left {public_id}")
    try:
        await asyncio.wait({sending, leaving}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in (sending, leaving):
            task.cancel()
        await asyncio.wait({sending, leaving})
    if not sending.cancelled():
        sending.result()


@database_sync_to_async
def may_see(user: Any, public_id: str) -> bool:
    return runs.visible_to(user).filter(public_id=public_id).exists()


async def send_changes(public_id: str, send: Send) -> None:
    async with aclosing(hub.current().follow(public_id)) as texts:
        async for text in texts:
            await send({"type": "websocket.send", "text": text})
    await send({"type": "websocket.close", "code": ENDED})


async def until_left(receive: Receive) -> None:
    while (await receive())["type"] != "websocket.disconnect":
        continue
