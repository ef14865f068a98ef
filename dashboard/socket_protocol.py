"""A socket takes next to nothing: a page sends no messages, and its browser answers pings."""

from __future__ import annotations

import logging

from daphne.ws_protocol import WebSocketProtocol

log = logging.getLogger(__name__)

RECENT_BYTES = 8_192
"""Of everything within `RECENT_SECONDS`, pings among it. The limits of frames and messages that
Daphne offers hold for what the server sends, too."""

RECENT_SECONDS = 20.0


class LimitedSocket(WebSocketProtocol):  # type: ignore[misc]
    """Is dropped when it receives more: thousands of tiny frames would hold up the event loop."""

    _received = 0
    _since: float | None = None

    def dataReceived(self, data: bytes) -> None:
        """What comes first is the head of the request, which the HTTP channel has limited."""
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
