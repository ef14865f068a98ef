"""Functions that tests run in workers of a pool."""

from __future__ import annotations

import os
import sys
import threading
import time
from pathlib import Path


def double(number: int) -> int:
    return number * 2


def fail_on_three(number: int) -> int:
    if number == 3:
        raise ValueError("three")
    return number


def sleep(seconds: float) -> float:
    time.sleep(seconds)
    return seconds


def die(code: int) -> None:
    os._exit(code)


def process(_: object) -> int:
    return os.getpid()


def process_then_sleep(path: str) -> None:
    Path(path).write_text(str(os.getpid()))
    time.sleep(60)


def modules(_: object) -> set[str]:
    return set(sys.modules)


def environment(_: object) -> set[str]:
    return set(os.environ)


def unpicklable(_: object) -> object:
    return threading.Lock()


def fail(_: object) -> None:
    raise RuntimeError("unknown trouble")


def hoard(size: int) -> int:
    return len(bytes(size))
