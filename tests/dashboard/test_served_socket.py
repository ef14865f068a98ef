"""The limits of a socket on the real server."""

from __future__ import annotations

import base64
import os
import socket
import struct
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

import pytest

from bench.bodies import asking
from bench.dashboard.processes import Served, served
from dashboard.serving.server import RECENT_BYTES

pytest_plugins = ["tests.support.fixtures"]
pytestmark = pytest.mark.subprocess

SECONDS = 60
GENEROUS_MS = 3_000
TEXT, PING, PONG, FINAL = 0x1, 0x9, 0xA, 0x80
LENGTHS = {126: "!H", 127: "!Q"}


@pytest.fixture(scope="module")
def server(empty_state: Path) -> Iterator[Served]:
    with served(1, per_second=100, state=empty_state) as running:
        yield running


@contextmanager
def opened(server: Served, origin_port: int) -> Iterator[tuple[socket.socket, BinaryIO, int]]:
    """The socket of the server's run, what comes from it, and the status of the handshake."""
    lines = (
        f"GET /live/{server.run}/ HTTP/1.1",
        f"Host: 127.0.0.1:{server.port}",
        f"Origin: http://127.0.0.1:{origin_port}",
        f"Cookie: plumbline_session={server.sessions[0]}",
        "Connection: Upgrade",
        "Upgrade: websocket",
        "Sec-WebSocket-Version: 13",
        f"Sec-WebSocket-Key: {base64.b64encode(os.urandom(16)).decode()}",
    )
    with socket.create_connection(("127.0.0.1", server.port), timeout=SECONDS) as sock:
        sock.sendall("\r\n".join((*lines, "", "")).encode())
        with sock.makefile("rb") as stream:
            status = int(stream.readline().split()[1])
            while stream.readline().strip():
                continue
            yield sock, stream, status


def frame(first: int, payload: bytes) -> bytes:
    """As a client sends it, with a mask of zeros."""
    return struct.pack("!BBH", first, 0x80 | 126, len(payload)) + bytes(4) + payload


def received(stream: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """Kind and content of the server's frames, until the connection ends."""
    while head := stream.read(2):
        first, length = head
        if long := LENGTHS.get(length):
            [length] = struct.unpack(long, stream.read(struct.calcsize(long)))
        yield first & 0x0F, stream.read(length)


def answers(sock: socket.socket, stream: BinaryIO) -> bool:
    """Whether the server still answers a ping."""
    try:
        sock.sendall(bytes((FINAL | PING, 0x80)) + bytes(4))
        return any(kind == PONG for kind, _ in received(stream))
    except ConnectionError:
        return False


def test_a_page_of_another_port_is_refused(server: Served) -> None:
    with opened(server, server.port + 1) as (_, _, status):
        assert status == 403
    with opened(server, server.port) as (sock, stream, status):
        assert status == 101
        assert answers(sock, stream)


def test_the_present_state_arrives_whole(server: Served) -> None:
    """However large: what a client may send is no limit of what it is sent."""
    server.steps(30)
    with opened(server, server.port) as (_, stream, _):
        assert len(next(received(stream))[1]) > RECENT_BYTES


def test_a_little_may_be_sent(server: Served) -> None:
    with opened(server, server.port) as (sock, stream, _):
        sock.sendall(frame(FINAL | TEXT, b"x" * (RECENT_BYTES // 2)))
        assert answers(sock, stream)


def test_a_large_frame_ends_the_socket(server: Served) -> None:
    with opened(server, server.port) as (sock, stream, _):
        sock.sendall(frame(FINAL | TEXT, b"x" * RECENT_BYTES))
        assert not answers(sock, stream)


def test_a_large_message_of_small_frames_ends_it_too(server: Served) -> None:
    half = b"x" * (RECENT_BYTES // 2)
    with opened(server, server.port) as (sock, stream, _):
        sock.sendall(frame(TEXT, half) + frame(0, half))
        assert not answers(sock, stream)


def test_many_small_frames_end_it_before_they_are_read(server: Served) -> None:
    with opened(server, server.port) as (sock, stream, _), asking(server.port) as waiting:
        assert answers(sock, stream)
        with suppress(ConnectionError):
            for _ in range(100):
                sock.sendall(frame(FINAL | TEXT, b"x") * 5_000)
        assert not answers(sock, stream)
    assert waiting.p95 < GENEROUS_MS
