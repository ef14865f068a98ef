"""Viewers of a run: WebSocket clients with separate sessions, in one process.

Reads its task as one line of JSON; prints "open" once all are connected and have their first
message, and at the end one line of JSON with what each received. The last `deaf` viewers stop
reading after that first message and stay connected, to test backpressure.
"""

from __future__ import annotations

import asyncio
import json
import re
import socket
import sys
import time
from typing import Any

from autobahn.asyncio.websocket import WebSocketClientFactory, WebSocketClientProtocol

SEQUENCE = re.compile(rb'-sequence"[^>]* value="(\d+)"')
EVIDENCE = re.compile(rb'id="run-\w+-evidence-(E\d+)"')
VERDICT = re.compile(rb"<h1[^>]*>([^<]*)</h1>")
CONNECTING = 50
RECEIVE_BYTES = 4096
LONGEST_SECONDS = 300


class Viewer(WebSocketClientProtocol):
    """Records arrival times of sequences and the latest content."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[tuple[int, float]] = []
        self.evidence: set[str] = set()
        self.verdict = ""
        self.bytes = 0
        self.code: int | None = None
        self.opened = asyncio.get_running_loop().create_future()
        self.closed = asyncio.get_running_loop().create_future()

    def onMessage(self, payload: bytes, isBinary: bool) -> None:
        at = time.time()
        self.bytes += len(payload)
        if found := SEQUENCE.search(payload):
            self.seen.append((int(found[1]), at))
        self.evidence.update(label.decode() for label in EVIDENCE.findall(payload))
        if told := VERDICT.search(payload):
            self.verdict = told[1].decode()
        if not self.opened.done():
            self.opened.set_result(None)

    def onClose(self, wasClean: bool, code: int | None, reason: str | None) -> None:
        self.code = code
        if not self.closed.done():
            self.closed.set_result(None)


async def connect(port: int, run: str, session: str) -> Viewer:
    factory = WebSocketClientFactory(
        f"ws://127.0.0.1:{port}/live/{run}/",
        origin=f"http://127.0.0.1:{port}",
        headers={"Cookie": f"plumbline_session={session}"},
    )
    factory.protocol = Viewer
    # Validating UTF-8 byte by byte in Python would measure the viewers' process, not the server.
    factory.setProtocolOptions(utf8validateIncoming=False)
    loop = asyncio.get_running_loop()
    # With a small kernel buffer the server soon notices a client that does not read.
    sock = socket.socket()
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVE_BYTES)
    sock.setblocking(False)
    await loop.sock_connect(sock, ("127.0.0.1", port))
    _, viewer = await loop.create_connection(factory, sock=sock)
    await asyncio.wait_for(viewer.opened, 60)
    return viewer


async def main(port: int, run: str, sessions: list[str], deaf: int) -> None:
    viewers: list[Viewer] = []
    for first in range(0, len(sessions), CONNECTING):
        batch = sessions[first : first + CONNECTING]
        viewers += await asyncio.gather(*(connect(port, run, each) for each in batch))
    for viewer in viewers[len(viewers) - deaf :]:
        viewer.transport.pause_reading()
    viewers = viewers[: len(viewers) - deaf]
    print(json.dumps("open"), flush=True)
    await asyncio.wait([viewer.closed for viewer in viewers], timeout=LONGEST_SECONDS)
    print(json.dumps([report(viewer) for viewer in viewers]), flush=True)


def report(viewer: Viewer) -> dict[str, Any]:
    return {
        "seen": viewer.seen,
        "evidence": sorted(viewer.evidence),
        "verdict": viewer.verdict,
        "bytes": viewer.bytes,
        "code": viewer.code,
    }


if __name__ == "__main__":
    asyncio.run(main(**json.loads(sys.stdin.readline())))
