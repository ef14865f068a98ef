"""HTTP connections with request body limits and timeouts, enforced before a request is parsed.

Twisted parses forms on the event loop, and Daphne queues the whole body in memory. Here a body is
counted, spooled (to disk from 100 kB on) and passed as a file to Django, which parses it in a
thread.
"""

from __future__ import annotations

import asyncio
import logging
from io import BytesIO
from typing import Any, BinaryIO

from daphne import http_protocol
from twisted.internet.interfaces import IReactorTime
from twisted.python.failure import Failure
from twisted.web import http

from dashboard.serving import body_limits, refusals
from dashboard.serving.body_limits import ANONYMOUS_BYTES, Head
from dashboard.serving.error_bodies import error_format
from dashboard.serving.refusals import Refusal

log = logging.getLogger(__name__)

BODY = "plumbline.body"
"""Name of the ASGI scope extension with the request body as a file."""

# Deadlines against slow clients (slowloris). A client that was refused may finish sending for as
# long as LINGER allows, since most read the response only then.
IDLE_SECONDS = 60
HEAD_SECONDS = 60
BODY_SECONDS = 60
LEAST_BYTES_PER_SECOND = 32 * 1024
LINGER_IDLE_SECONDS = 5
LINGER_SECONDS = 60
SENDING_SECONDS = 600


class SpooledRequest(http_protocol.WebRequest):  # type: ignore[misc]
    """A request whose body stays unparsed, in `body`."""

    body: BinaryIO

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, parsePOSTFormSubmission=False, **kwargs)

    def process(self) -> Any:
        self.body, self.content = self.content, BytesIO()
        return super().process()

    def with_body(self, scope: dict[str, Any]) -> dict[str, Any]:
        """Return the scope with the body, and with its length if the client sent none."""
        size = self.body.seek(0, 2)
        self.body.seek(0)
        headers = [(name, value) for name, value in scope["headers"] if name not in LENGTHS]
        if size:
            headers.append((b"content-length", str(size).encode()))
        return {**scope, "headers": headers, "extensions": {BODY: self.body}}


LENGTHS = frozenset({b"content-length", b"transfer-encoding"})


class LimitedChannel(http.HTTPChannel):  # type: ignore[misc]
    """One connection. Twisted limits its idle time; heads and bodies have deadlines in addition."""

    def __init__(self) -> None:
        super().__init__()
        self._limit = ANONYMOUS_BYTES
        self._received = 0
        self._is_refused = False
        self._is_lost = False
        self._deadline: Any = None
        self._lookup: asyncio.Task[None] | None = None

    def connectionMade(self) -> None:
        super().connectionMade()
        self._within(HEAD_SECONDS)

    def allHeadersReceived(self) -> None:
        self._received = 0
        if self.length is not None and self.length <= ANONYMOUS_BYTES:
            self._take(ANONYMOUS_BYTES)  # allowed for every client: no session lookup
        else:
            self._wait_for_limit()

    def rawDataReceived(self, data: bytes) -> None:
        """Count and forward body data.

        Data after a refusal is dropped: many clients read the response only once they have sent
        all.
        """
        if self._is_refused:
            return
        if self.length is None:
            self._received += len(data)
            if self._received > self._limit:
                self._refuse(refusals.too_large(self._limit))
                return
        super().rawDataReceived(data)

    def allContentReceived(self) -> None:
        self._within(None)
        super().allContentReceived()

    def requestDone(self, request: Any) -> None:
        self._within(HEAD_SECONDS if self.persistent else SENDING_SECONDS)
        super().requestDone(request)

    def timeoutConnection(self) -> None:
        """Answer 408 if a request has begun; close an idle connection without a response."""
        self.setTimeout(None)
        self._within(None)
        if self.requests and not self._handlingRequest and not self._is_refused:
            self._is_refused = True
            self._write(refusals.TOO_SLOW)
        super().timeoutConnection()

    def connectionLost(self, reason: Failure) -> None:
        self._is_lost = True
        self._within(None)
        super().connectionLost(reason)

    # --- size ------------------------------------------------------------------------------

    def _wait_for_limit(self) -> None:
        """Pause reading until the limit for this client is known."""
        self.paused = True
        self._networkProducer.pauseProducing()
        self._lookup = asyncio.get_event_loop().create_task(self._find_limit(), name="body limit")

    async def _find_limit(self) -> None:
        try:
            limit = await body_limits.most_bytes(self._request_head())
        except Exception:  # unanswered, the paused connection would hang until its time-out
            log.exception("could not determine the size limit of a request body")
            self._go_on(refusals.CANNOT_CHECK)
        else:
            is_large = self.length is not None and self.length > limit
            self._go_on(refusals.too_large(limit) if is_large else limit)

    def _request_head(self) -> Head:
        headers = self.requests[-1].requestHeaders
        content_type, cookies, authorization = (
            b"; ".join(headers.getRawHeaders(name, [])).decode("latin1")
            for name in (b"content-type", b"cookie", b"authorization")
        )
        method, target = self._command.decode("latin1"), self._path.decode("latin1")
        return Head(method, target, content_type, cookies, authorization)

    def _go_on(self, decided: int | Refusal) -> None:
        if self._is_lost or self._is_refused:
            return
        if isinstance(decided, Refusal):
            self._refuse(decided)
        else:
            self._take(decided)
        self.paused = False
        self._networkProducer.resumeProducing()
        self.dataReceived(b"")  # processes what arrived while reading was paused

    def _take(self, limit: int) -> None:
        self._limit = limit
        size = limit if self.length is None else self.length
        self._within(BODY_SECONDS + size / LEAST_BYTES_PER_SECOND)
        super().allHeadersReceived()

    def _refuse(self, refusal: Refusal) -> None:
        """Send a refusal and keep reading for a while.

        A connection that is closed while the client is sending loses the response.
        """
        head = self._request_head()
        log.info("%s %r was refused: %s", head.method, head.target, refusal.status.phrase)
        self._is_refused = True
        self.persistent = False
        self._write(refusal)
        self.setTimeout(LINGER_IDLE_SECONDS)
        self._within(LINGER_SECONDS)

    def _write(self, refusal: Refusal) -> None:
        kind = error_format((getattr(self, "_path", b"") or b"").decode("latin1"))
        self.transport.write(refusals.as_bytes(refusal, kind))

    # --- time ------------------------------------------------------------------------------

    def _within(self, seconds: float | None) -> None:
        """Close the connection unless the next step completes in time; None: no deadline."""
        if self._deadline is not None and self._deadline.active():
            self._deadline.cancel()
        awaited = seconds is not None
        self._deadline = self.callLater(seconds, self.timeoutConnection) if awaited else None


class LimitedFactory(http_protocol.HTTPFactory):  # type: ignore[misc]
    protocol = LimitedChannel

    def __init__(self, server: Any, reactor: IReactorTime | None = None) -> None:
        super().__init__(server)
        self.timeOut = IDLE_SECONDS
        if reactor is not None:
            self.reactor = reactor

    def log(self, request: Any) -> None:
        """Skip the access log: no observer is attached to Twisted's log."""

    def buildProtocol(self, addr: Any) -> Any:
        channel = super().buildProtocol(addr)
        channel.requestFactory = SpooledRequest
        return channel
