"""A receiver of webhooks on loopback that can fail, hang and recover."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Self


@dataclass(frozen=True)
class Received:
    headers: Mapping[str, str]
    body: str


class Receiver:
    """Answers with `status`; while `hangs`, requests get no answer until `recover` or the end."""

    def __init__(self) -> None:
        self.status = 200
        self.retry_after = ""
        self.hangs = False
        self.received: list[Received] = []
        self._let_go = threading.Event()
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._http.daemon_threads = True
        self._http.block_on_close = False
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.005,), daemon=True)

    @property
    def place(self) -> str:
        return f"127.0.0.1:{self._http.server_port}"

    @property
    def url(self) -> str:
        return f"http://{self.place}/hooks"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._let_go.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    def recover(self) -> None:
        self.status, self.hangs = 200, False
        self._let_go.set()

    def _handler(receiver) -> type[BaseHTTPRequestHandler]:
        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"])).decode()
                receiver.received.append(Received(dict(self.headers.items()), body))
                if receiver.hangs:
                    receiver._let_go.wait(60)
                    return
                self.send_response(receiver.status)
                if receiver.status in (301, 307):
                    self.send_header("Location", "http://127.0.0.1:1/elsewhere")
                if receiver.retry_after:
                    self.send_header("Retry-After", receiver.retry_after)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, format: str, *arguments: object) -> None:
                return

        return Handler
