"""Daphne with a worker beside it: one process with a graceful shutdown."""

from __future__ import annotations

import asyncio
import errno
import logging
import socket
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Self

from daphne.server import Server
from daphne.ws_protocol import WebSocketProtocol
from twisted.internet import defer, reactor
from twisted.internet.interfaces import IPushProducer
from twisted.python.failure import Failure
from zope.interface import implementer

from dashboard.serving import refusals
from dashboard.serving.http_channel import LimitedFactory
from dashboard.serving.probes import readiness
from research.errors import PlumblineError
from research.queue.workers import Worker

log = logging.getLogger(__name__)

RECENT_BYTES = 8_192
"""Received within `RECENT_SECONDS`, pings included. Daphne's limits on frames and messages are no
alternative: they would also apply to what the server sends."""

RECENT_SECONDS = 20.0


class LimitedSocket(WebSocketProtocol):
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


SERVICE_RESTART = 1012
WORKER_SECONDS = 1.2
CLOSE_SECONDS = 0.2
GOODBYE_SECONDS = 0.1
LEFTOVER_SECONDS = 0.2


class ListenError(PlumblineError):
    """The address cannot be bound. The message has the reason and a remedy."""


@dataclass(frozen=True)
class Address:
    host: str
    port: int

    @property
    def endpoint(self) -> str:
        """Return the endpoint in the syntax of Twisted, which escapes colons within a part."""
        return f"tcp:port={self.port}:interface={self.host.replace(':', chr(92) + ':')}"


HANDSHAKE_SECONDS = 30
"""Longer than Daphne's default of 5: a dropped handshake on a busy machine is a visible error."""


SWITCH_SECONDS = 0.0005
"""How long a thread that computes keeps the interpreter while others want it.

Python's default is 5 ms, which the event loop and the threads of requests would wait at each of the
several turns that a request takes, wherever research runs in the same process.
"""


class EmbeddedServer(Server):
    """Starts and stops the web server together with its worker.

    `run` raises `ListenError`, or the exception that prevented the worker from starting.
    """

    def __init__(
        self,
        application: Any,
        worker: Worker,
        address: Address,
        *,
        on_ready: Callable[[], None],
        close: Callable[[], Awaitable[None]],
    ) -> None:
        """`on_ready` may block; `close` is awaited once the worker has stopped."""
        super().__init__(
            application,
            endpoints=[address.endpoint],
            server_name="plumbline",
            websocket_handshake_timeout=HANDSHAKE_SECONDS,
        )
        self.worker = worker
        self.address = address
        self.on_ready = on_ready
        self.close = close
        self.failure: Exception | None = None
        self._starting: asyncio.Task[None] | None = None
        readiness().phase = "starting"

    def run(self) -> None:
        sys.setswitchinterval(SWITCH_SECONDS)
        reactor.callWhenRunning(self._begin)
        super().run()
        if self.failure:
            raise self.failure

    @property
    def http_factory(self) -> LimitedFactory:
        """Replace the factory that Daphne creates in `run` by one that enforces limits."""
        return self._http_factory

    @http_factory.setter
    def http_factory(self, made: Any) -> None:
        """Daphne makes its own in `run`; one that keeps limits takes its place."""
        self._http_factory = LimitedFactory(self)

    def create_application(self, protocol: Any, scope: dict[str, Any]) -> Any:
        with_body = protocol.with_body(scope) if scope["type"] == "http" else scope
        return super().create_application(protocol, with_body)

    async def handle_reply(self, protocol: Any, message: dict[str, Any]) -> None:
        """Wait, after a WebSocket message, until the client has received it (backpressure)."""
        await super().handle_reply(protocol, message)
        details = self.connections.get(protocol)
        if message["type"] == "websocket.send" and details is not None:
            if "drain" not in details:
                details["drain"] = Drain.of(protocol.transport)
            await details["drain"].wait()

    def listen_error(self, failure: Failure) -> None:
        cause: Any = getattr(failure.value, "socketError", failure.value)
        self.failure = ListenError(why_not(cause, self.address))
        self.stop()

    def kill_all_applications(self) -> defer.Deferred[None]:
        """Return the deferred that Twisted awaits before it stops the event loop."""
        return defer.Deferred.fromFuture(asyncio.ensure_future(self._end()))

    def _begin(self) -> None:
        self.ws_factory.protocol = LimitedSocket
        self._starting = asyncio.get_event_loop().create_task(self._start(), name="start")
        self._starting.add_done_callback(self._started)

    async def _start(self) -> None:
        await asyncio.to_thread(refusals.render_refusal_pages)
        await self.worker.start()
        await asyncio.to_thread(self.on_ready)
        readiness().phase = "serving"

    def _started(self, start: asyncio.Task[None]) -> None:
        """Stop if the worker failed to start: questions would be accepted but never answered."""
        if not start.cancelled() and isinstance(failure := start.exception(), Exception):
            self.failure = failure
            self.stop()

    async def _end(self) -> None:
        """Stop the worker first: the next start resumes from the checkpoints that it writes."""
        readiness().phase = "stopping"
        if self._starting is not None:
            self._starting.cancel()
            await asyncio.wait([self._starting], timeout=WORKER_SECONDS)
        await _bounded(self.worker.stop(), WORKER_SECONDS)
        await self._say_goodbye()
        await _bounded(self.close(), CLOSE_SECONDS)
        leftovers = [*self._applications(), *_other_tasks()]
        for task in leftovers:
            task.cancel()
        if leftovers:
            await asyncio.wait(leftovers, timeout=LEFTOVER_SECONDS)

    async def _say_goodbye(self) -> None:
        """Close WebSockets with code 1012, after which the page reconnects."""
        for protocol in self._open_sockets():
            protocol.sendCloseFrame(SERVICE_RESTART, b"restart")
        with suppress(TimeoutError):
            async with asyncio.timeout(GOODBYE_SECONDS):
                while self._open_sockets():
                    await asyncio.sleep(0.02)

    def _open_sockets(self) -> list[Any]:
        return [
            protocol
            for protocol, details in self.connections.items()
            if isinstance(protocol, WebSocketProtocol) and "disconnected" not in details
        ]

    def _applications(self) -> Iterator[asyncio.Task[Any]]:
        for details in self.connections.values():
            application = details.get("application_instance")
            if application is not None and not application.done():
                yield application


def _other_tasks() -> list[asyncio.Task[Any]]:
    own = asyncio.current_task()
    return [task for task in asyncio.all_tasks() if task is not own]


async def _bounded(waiting: Awaitable[None], seconds: float) -> None:
    with suppress(TimeoutError):
        await asyncio.wait_for(waiting, seconds)


def check_free(address: Address) -> None:
    """Raise `ListenError` if the address is in use; called before any slow or lasting work."""
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as trial:
        trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            trial.bind((address.host, address.port))
        except OSError as error:
            raise ListenError(why_not(error, address)) from None


def why_not(cause: BaseException, address: Address) -> str:
    host, port = address.host, address.port
    code = getattr(cause, "errno", None)
    if code == errno.EADDRINUSE:
        return f"Port {port} is taken by another program. Choose another: PORT={port + 1} make run"
    if code == errno.EACCES:
        return f"Port {port} may not be used by this account. Choose another: PORT=8000 make run"
    return f"{host} is no address of this machine. Set HOST to one that is, or leave it out."
