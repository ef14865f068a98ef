"""Shared parts of the test servers: HTTP on loopback in a thread, and a request log."""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import urlsplit

POLL_SECONDS = 0.005
"""Interval in seconds at which a server checks for shutdown."""


@dataclass(frozen=True)
class Reply:
    """A response; `pace_seconds` is the delay before each event of a stream."""

    body: bytes = b""
    status: int = 200
    content_type: str = "application/json"
    headers: Mapping[str, str] = field(default_factory=dict)
    pace_seconds: float = 0.0

    def parts(self) -> Iterator[bytes]:
        if not self.pace_seconds:
            yield self.body
            return
        for event in self.body.split(b"\n\n")[:-1]:
            time.sleep(self.pace_seconds)
            yield event + b"\n\n"


def json_reply(value: Any, status: int = 200, **headers: str) -> Reply:
    return Reply(json.dumps(value).encode(), status, headers=headers)


class _Threads(ThreadingHTTPServer):
    """Collects errors of request threads, except for disconnects of killed clients."""

    daemon_threads = True
    block_on_close = False
    error: BaseException | None = None

    def handle_error(self, request: Any, client_address: Any) -> None:
        error = sys.exception()
        if not isinstance(error, ConnectionError):
            self.error = error


class LoopbackServer:
    """A server on a free port of 127.0.0.1, running within its `with` block.

    Its addresses name `host`, which whoever asks it must resolve to 127.0.0.1.
    """

    def __init__(self, host: str = "127.0.0.1") -> None:
        self.lock = threading.Lock()
        self.host = host
        self._http = _Threads(("127.0.0.1", 0), _handler_of(self))
        self._thread = threading.Thread(
            target=self._http.serve_forever, args=(POLL_SECONDS,), daemon=True
        )

    def reply(self, path: str, body: bytes) -> Reply:
        """Return the response to a request; called in a separate thread."""
        raise NotImplementedError

    @property
    def place(self) -> str:
        return f"{self.host}:{self._http.server_port}"

    def url(self, path: str = "") -> str:
        return f"http://{self.place}{path}"

    def close(self) -> None:
        """Stop the server. Raise the errors of request threads."""
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()
        if self._http.error is not None:
            raise self._http.error

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _handler_of(server: LoopbackServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._answer(b"")

        def do_POST(self) -> None:
            length = int(self.headers.get("Content-Length", 0))
            body = self.rfile.read(length)
            if len(body) < length:
                raise ConnectionResetError("the client was killed before it had sent its request")
            self._answer(body)

        def _answer(self, body: bytes) -> None:
            reply = server.reply(self.path, body)
            self.send_response(reply.status)
            self.send_header("Content-Type", reply.content_type)
            self.send_header("Content-Length", str(len(reply.body)))
            for name, value in reply.headers.items():
                self.send_header(name.replace("_", "-"), value)
            self.end_headers()
            for part in reply.parts():
                self.wfile.write(part)

        def log_message(self, format: str, *arguments: Any) -> None:
            return

    return Handler


def path_of(target: str) -> str:
    return urlsplit(target).path


def closed_place() -> str:
    """Return an address of this machine that no server listens on."""
    http = ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler)
    port = http.server_port
    http.server_close()
    return f"127.0.0.1:{port}"
