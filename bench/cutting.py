"""A TCP proxy on loopback that can be cut or made to hang, to simulate the loss of a service."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress
from typing import Self

CHUNK = 65_536


class Proxy:
    """Forwards connections to a server within its `with` block, unless it is cut."""

    def __init__(self, host: str, port: int) -> None:
        self._target = (host, port)
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()
        self._listener: socket.socket | None = None
        self._passing = threading.Event()
        self._passing.set()
        self.port = 0

    def __enter__(self) -> Self:
        self.restore()
        return self

    def __exit__(self, *_: object) -> None:
        self.cut()

    def restore(self) -> None:
        """Listen again, on the same port."""
        self._listener = socket.create_server(("127.0.0.1", self.port))
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, args=(self._listener,), daemon=True).start()

    def cut(self) -> None:
        """Abort every connection and refuse new ones."""
        self._passing.set()
        with self._lock:
            ends = [*self._open, *filter(None, [self._listener])]
            self._open.clear()
            self._listener = None
        for end in ends:
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()

    def hang(self) -> None:
        """Pass nothing on, and keep every connection open."""
        self._passing.clear()

    def resume(self) -> None:
        self._passing.set()

    def _accept(self, listener: socket.socket) -> None:
        with suppress(OSError):
            while True:
                near, _ = listener.accept()
                try:
                    far = socket.create_connection(self._target)
                except OSError:  # the server is away; it may come back
                    near.close()
                    continue
                with self._lock:
                    self._open |= {near, far}
                for ends in ((near, far), (far, near)):
                    threading.Thread(target=self._pass_on, args=ends, daemon=True).start()

    def _pass_on(self, source: socket.socket, sink: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(CHUNK):
                self._passing.wait()
                sink.sendall(data)
        for end in (source, sink):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()
        with self._lock:
            self._open -= {source, sink}
