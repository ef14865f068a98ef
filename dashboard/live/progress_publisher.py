"""Publishes "run R reached sequence N" to all web processes, from any thread.

Messages go through the channel layer. The in-memory layer only reaches this process, and only while
it has clients; the tail check of the hub finds commits of other processes. With Redis a dedicated
thread sends, so that processes without an event loop, such as `manage.py research`, publish, too.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable
from functools import cache

from channels.layers import get_channel_layer
from django.conf import settings

from research.runtime.outages import loaded_errors

log = logging.getLogger(__name__)

GROUP = "progress"
MESSAGE = "run.changed"


class Sender:
    """Publishes the newest sequence of each run on one event loop. Callable from any thread."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop
        self._lock = threading.Lock()
        self._waiting: dict[str, int] = {}
        self._sending: asyncio.Task[None] | None = None

    def __call__(self, public_id: str, sequence: int) -> None:
        with self._lock:
            is_first = not self._waiting
            self._waiting[public_id] = max(sequence, self._waiting.get(public_id, 0))
        if is_first and not self.loop.is_closed():
            self.loop.call_soon_threadsafe(self._begin)

    def _begin(self) -> None:
        if self._sending is None or self._sending.done():
            self._sending = self.loop.create_task(self._send(), name="announce")

    async def _send(self) -> None:
        layer = get_channel_layer()
        while waiting := self._take():
            try:
                for public_id, sequence in waiting.items():
                    message = {"type": MESSAGE, "run": public_id, "sequence": sequence}
                    await layer.group_send(GROUP, message)
            except layer_errors():
                log.warning("a change could not be announced; pages find it by themselves")

    def _take(self) -> dict[str, int]:
        with self._lock:
            taken, self._waiting = self._waiting, {}
        return taken


_watching: list[Callable[[str, int], None]] = []
"""Senders of this process's hubs that have clients."""


def register_sender(sender: Sender) -> None:
    _watching.append(sender)


def layer_errors() -> tuple[type[Exception], ...]:
    """Return the exceptions of a channel layer whose Redis doesn't answer."""
    return OSError, *loaded_errors("redis.exceptions", "RedisError")


def unregister_sender(sender: Sender) -> None:
    _watching.remove(sender)


def announce_sequence(public_id: str, sequence: int) -> None:
    """Publish a commit without blocking; a hook of `research.worker.notify`."""
    if settings.REDIS_URL:
        with _starting:
            remote = _in_a_thread()
        remote(public_id, sequence)
        return
    for sender in tuple(_watching):
        sender(public_id, sequence)


_starting = threading.Lock()
"""Ensures that only one of several committing threads starts the sending thread."""


@cache
def _in_a_thread() -> Sender:
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="announce", daemon=True).start()
    return Sender(loop)
