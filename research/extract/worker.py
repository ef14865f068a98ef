"""The program that a `TextPool` runs in its worker processes.

It processes one batch after another from its connection and sends each item's outcome as soon
as it is known. It never outlives its parent.
"""

from __future__ import annotations

import ctypes
import logging
import os
import resource
import signal
import sys
import threading
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

READY = "ready"

_PR_SET_PDEATHSIG = 1
_PARENT_CHECK_SECONDS = 1.0
# Memory limit for one page: beyond it the extractor fails rather than the machine.
_MAX_MEMORY_BYTES = 2 * 1024**3


def main(descriptor: int, parent: int) -> None:
    """Serve batches until the other end of the connection is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _die_with(parent)
    logging.disable(logging.CRITICAL)
    if sys.platform == "linux":
        resource.setrlimit(resource.RLIMIT_AS, (_MAX_MEMORY_BYTES, _MAX_MEMORY_BYTES))
    with Connection(descriptor) as channel:
        channel.send(READY)
        try:
            while True:
                _answer(channel)
        except (EOFError, ConnectionError):
            return


def _answer(channel: Connection) -> None:
    function, items = channel.recv()
    for item in items:
        _send(channel, *_outcome(function, item))


def _outcome(function: Callable[[Any], Any], item: Any) -> tuple[bool, Any]:
    """Return whether the call succeeded, and its result or its exception."""
    try:
        return True, function(item)
    except Exception as failure:  # the boundary of the process: the caller raises it
        return False, failure.with_traceback(None)


def _send(channel: Connection, succeeded: bool, value: Any) -> None:
    """Send an outcome; replace one that can't be pickled by an error with its type."""
    try:
        channel.send((succeeded, value))
    except (TypeError, AttributeError, ValueError):
        channel.send((False, RuntimeError(f"no way to send a {type(value).__name__}")))


def _die_with(parent: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    else:
        threading.Thread(target=_watch, args=(parent,), daemon=True).start()
    if os.getppid() != parent:
        os._exit(1)


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(_PARENT_CHECK_SECONDS)
    os._exit(1)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
