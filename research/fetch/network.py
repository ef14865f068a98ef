"""SSRF guard in the network layer: each host is resolved once and its addresses checked.

The check sits below redirects and connection reuse, so that the connection is made to the very
address that was checked (no DNS rebinding).
"""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from ipaddress import ip_address

import httpcore
import httpx

from research.engine.ports import FetchFailedError
from research.fetch.url_policy import AddressRules, check_resolved

USER_AGENT = "Plumbline/0.1 (+self-hosted research; contact the operator)"

Resolve = Callable[[str, int], Awaitable[Sequence[str]]]
"""Returns the IP addresses of a host, best first; raises OSError if it has none."""

SocketOption = (
    tuple[int, int, int] | tuple[int, int, bytes | bytearray] | tuple[int, int, None, int]
)


async def system_resolve(host: str, port: int) -> list[str]:
    """Return the addresses from the system resolver; an IP address resolves to itself."""
    with suppress(ValueError):
        return [str(ip_address(host))]
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


@contextmanager
def failures_named() -> Iterator[None]:
    """Translate HTTP errors to `FetchFailedError`, retryable if they may pass."""
    try:
        yield
    except (TimeoutError, httpx.TimeoutException):
        raise _failed("the site took too long to answer") from None
    except httpx.ConnectError:
        raise _failed("no connection to the site could be made") from None
    except UnicodeError:
        # httpx parses a redirect's address even if it doesn't follow redirects
        raise FetchFailedError(
            "the site redirected to an address that cannot be read", status="failed"
        ) from None
    except (httpx.HTTPError, httpx.InvalidURL):
        raise _failed("the site's response was cut off or corrupt") from None


def _failed(reason: str) -> FetchFailedError:
    return FetchFailedError(reason, status="failed", permanent=False)


class CheckedNetwork(httpcore.AsyncNetworkBackend):
    """Network backend that connects only to checked addresses; TLS and Host keep the host name."""

    def __init__(
        self,
        rules: AddressRules,
        resolve: Resolve,
        network: httpcore.AsyncNetworkBackend | None = None,
    ) -> None:
        self._rules = rules
        self._resolve = resolve
        self._network = network or httpcore.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[SocketOption] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        addresses = await self._addresses(host, port, timeout)
        # try the addresses in turn; the last one's error is the one reported
        for address in addresses[:-1]:
            try:
                return await self._network.connect_tcp(address, port, timeout)
            except (httpcore.ConnectError, httpcore.ConnectTimeout):
                continue
        return await self._network.connect_tcp(addresses[-1], port, timeout)

    async def connect_unix_socket(
        self,
        path: str,
        timeout: float | None = None,
        socket_options: Iterable[SocketOption] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        raise httpcore.UnsupportedProtocol("pages are not fetched from local sockets")

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    async def _addresses(self, host: str, port: int, timeout: float | None) -> Sequence[str]:
        """Resolve `host` once and check every address before any is used."""
        try:
            async with asyncio.timeout(timeout):
                addresses = await self._resolve(host, port)
        except (OSError, UnicodeError):
            addresses = ()
        if not addresses:
            raise _failed("the site's name could not be found")
        if not self._rules.opens(host, port):
            check_resolved(addresses)
        return addresses


class CheckedTransport(httpx.AsyncHTTPTransport):
    """httpx transport over a `CheckedNetwork`: no proxy, HTTP/1.1.

    httpx has no parameter for the network backend, so `__init__` replaces the superclass's
    constructor and creates the connection pool itself.
    """

    def __init__(self, rules: AddressRules, resolve: Resolve, *, connections: int) -> None:
        self._pool = httpcore.AsyncConnectionPool(
            ssl_context=tls_context(),
            max_connections=connections,
            max_keepalive_connections=connections,
            keepalive_expiry=5.0,
            network_backend=CheckedNetwork(rules, resolve),
        )


@cache
def tls_context() -> ssl.SSLContext:
    """Return the context of what pages, searches and properties of servers are asked with."""
    return httpx.create_ssl_context()


@cache
def model_tls_context() -> ssl.SSLContext:
    """Return the context of what models are called with, by the client that `openai` uses."""
    import httpx2  # with a model only

    return httpx2.create_ssl_context()
