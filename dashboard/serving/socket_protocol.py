"""Limits of WebSockets: on received bytes, and backpressure on sent messages.

Pages send no messages, and browsers only answer pings.
"""

from __future__ import annotations

import asyncio
import logging
from typing import Any, Self

from daphne.ws_protocol import WebSocketProtocol
from twisted.internet.interfaces import IPushProducer
from zope.interface import implementer

log = logging.getLogger(__name__)

RECENT_BYTES = 8_192
"""Received within `RECENT_SECONDS`, pings included. Daphne's limits on frames and messages are no
alternative: they would also apply to what the server sends."""

RECENT_SECONDS = 20.0


class LimitedSocket(WebSocketProtocol):  # type: ignore[misc]
    """A WebSocket that is dropped if it receives too much.

    Thousands of tiny frames would block the event loop.
    """

    _received = 0
    _since: float | None = None

    def dataReceived(self, data: bytes) -> None:
        """Count received bytes, except for the request head, which the HTTP channel limits."""
        now = self.factory.reactor.seconds()
        if self._since is None:
            self._since = now
        elif self._is_too_much(len(data), now):
            log.info("a socket sent more than %s bytes at once and was dropped", RECENT_BYTES)
            self.dropConnection(abort=True)
            return
        super().dataReceived(data)

    def _is_too_much(self, size: int, now: float) -> bool:
        if now - (self._since or now) >= RECENT_SECONDS:
            self._since, self._received = now, 0
        self._received += size
        return self._received > RECENT_BYTES


@implementer(IPushProducer)
class Drain:
    """Backpressure of one WebSocket client: Daphne itself would buffer without limit."""

    def __init__(self) -> None:
        self._runs = asyncio.Event()
        self._runs.set()

    @classmethod
    def of(cls, transport: Any) -> Self:
        """Register on a transport, replacing the HTTP channel that handed it to the WebSocket."""
        drain = cls()
        transport.unregisterProducer()
        transport.registerProducer(drain, True)
        return drain

    async def wait(self) -> None:
        await self._runs.wait()

    def pauseProducing(self) -> None:
        self._runs.clear()

    def resumeProducing(self) -> None:
        self._runs.set()

    def stopProducing(self) -> None:
        self._runs.set()
