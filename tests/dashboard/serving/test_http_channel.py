"""How long a connection may take for what it sends: a clock that the test moves."""

from __future__ import annotations

from typing import Any

import pytest
from twisted.internet.address import IPv4Address
from twisted.internet.task import Clock
from twisted.internet.testing import StringTransport

import dashboard.serving.server  # noqa: F401 - sets Twisted's reactor
from dashboard.serving import http_channel
from dashboard.serving.http_channel import LimitedFactory

HEAD = b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10000\r\n"
MOST_HEAD_BYTES = 18_000


class Server:
    """What the channel needs of Daphne's."""

    def protocol_connected(self, protocol: Any) -> None: ...

    def protocol_disconnected(self, protocol: Any) -> None: ...


class Connection:
    def __init__(self) -> None:
        self.clock = Clock()
        factory = LimitedFactory(Server(), self.clock)
        self.transport = StringTransport()
        self.channel = factory.buildProtocol(IPv4Address("TCP", "127.0.0.1", 1))
        self.channel.makeConnection(self.transport)

    @property
    def said(self) -> bytes:
        return self.transport.value()

    @property
    def is_ended(self) -> bool:
        return self.transport.disconnecting

    def trickle(self, data: bytes, seconds: float) -> int:
        """Bytes that were taken, one every so often, until the connection was ended."""
        for number in range(len(data)):
            if self.is_ended:
                return number
            self.channel.dataReceived(data[number : number + 1])
            self.clock.advance(seconds)
        return len(data)


@pytest.fixture
def connection() -> Connection:
    return Connection()


def test_an_idle_connection_is_closed_without_a_word(connection: Connection) -> None:
    connection.clock.advance(http_channel.IDLE_SECONDS)
    assert connection.is_ended and not connection.said


def test_a_head_that_comes_byte_by_byte_is_not_waited_for(connection: Connection) -> None:
    taken = connection.trickle(HEAD, 10)
    assert taken == http_channel.HEAD_SECONDS / 10


def test_a_body_that_stops_is_told(connection: Connection) -> None:
    connection.channel.dataReceived(HEAD + b"\r\nquestion=")
    connection.clock.advance(http_channel.IDLE_SECONDS - 1)
    assert not connection.is_ended
    connection.clock.advance(1)
    assert connection.is_ended and connection.said.startswith(b"HTTP/1.1 408 Request Timeout\r\n")
    assert b"The request took too long to arrive" in connection.said


def test_a_body_that_comes_byte_by_byte_is_not_waited_for(connection: Connection) -> None:
    connection.channel.dataReceived(HEAD + b"\r\n")
    taken = connection.trickle(b"x" * 1_000, 10)
    assert 6 <= taken <= 7
    assert connection.said.startswith(b"HTTP/1.1 408")


async def test_nor_one_in_chunks(connection: Connection) -> None:
    chunked = b"POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
    connection.channel.dataReceived(chunked)
    await connection.channel._lookup
    connection.clock.advance(http_channel.IDLE_SECONDS)
    assert connection.said.startswith(b"HTTP/1.1 408")


def test_nothing_is_awaited_of_a_connection_that_is_gone(connection: Connection) -> None:
    connection.channel.dataReceived(HEAD)
    connection.channel.connectionLost(None)
    assert not connection.clock.getDelayedCalls()


START = b"GET / HTTP/1.1\r\nHost: localhost\r\n"


@pytest.mark.parametrize(
    "head",
    [
        b"GET /" + b"x" * 100_000,
        START + b"Cookie: " + b"c" * 100_000,
        START + (b"X-More: " + b"c" * 1_000 + b"\r\n") * 100,
        START + b"x: y\r\n" * 10_000,
    ],
    ids=["address", "header", "headers", "number of headers"],
)
def test_a_large_head_ends_the_connection_before_it_is_read(
    connection: Connection, head: bytes
) -> None:
    taken = 0
    while not connection.is_ended and taken < len(head):
        connection.channel.dataReceived(head[taken : taken + 1_000])
        taken += 1_000
    assert connection.is_ended and taken <= MOST_HEAD_BYTES
    assert connection.said in (b"", b"HTTP/1.1 400 Bad Request\r\n\r\n")
