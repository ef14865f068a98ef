"""Network probe: detects a network connection if no search is configured.

Tries one connection to one configured host, in a daemon thread that is waited for at most
`LONGEST_SECONDS`, so that a machine without a network answers quickly.
"""

from __future__ import annotations

import socket
import threading
import time

LONGEST_SECONDS = 1.0
KEPT_SECONDS = 60.0
NEVER = "none"


class NetworkProbe:
    """Callable that returns True if `place` (host:port) recently accepted a connection."""

    def __init__(self, place: str) -> None:
        self._place = place
        self._answer: bool | None = None
        self._asked = 0.0
        self._lock = threading.Lock()

    def __call__(self) -> bool:
        """Return the last result while a newer one is determined; wait only for the first one."""
        if self._place in {"", NEVER}:
            return False
        with self._lock:
            now = time.monotonic()
            if self._asked and now - self._asked < KEPT_SECONDS:
                return bool(self._answer)
            self._asked = now
            trying = threading.Thread(target=self._try, name="network probe", daemon=True)
            trying.start()
            if self._answer is None:
                trying.join(LONGEST_SECONDS)
            return bool(self._answer)

    def _try(self) -> None:
        host, _, port = self._place.rpartition(":")
        try:
            socket.create_connection((host, int(port)), LONGEST_SECONDS).close()
        except (OSError, ValueError):
            self._answer = False
        else:
            self._answer = True
