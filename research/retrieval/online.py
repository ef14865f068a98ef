"""Whether there is a network: asked only where nothing to search is configured.

One connection to one named place decides. It is tried in a thread of its own that nobody
waits for longer than a second, so that a machine without a network answers at once.
"""

from __future__ import annotations

import socket
import threading
import time

LONGEST_SECONDS = 1.0
KEPT_SECONDS = 60.0
NEVER = "none"


class NetworkProbe:
    """Callable: True where `place` (host:port) took a connection lately."""

    def __init__(self, place: str) -> None:
        self._place = place
        self._answer: bool | None = None
        self._asked = 0.0
        self._lock = threading.Lock()

    def __call__(self) -> bool:
        """The last answer while a newer one is on its way; waits for the first one only."""
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
