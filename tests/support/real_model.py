"""A small real model behind a local server, if this machine has both.

`LLAMA_SERVER` names the server of llama.cpp and `LOCAL_MODEL_FILE` a GGUF file. The content of its
answers is irrelevant; tested is the handling of malformed, rambling and truncated answers.
"""

from __future__ import annotations

import os
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager

import httpx
import pytest

SERVER, MODEL = os.environ.get("LLAMA_SERVER"), os.environ.get("LOCAL_MODEL_FILE")
WINDOW_TOKENS = 4096
LONGEST_ANSWER_TOKENS = 600
READY_SECONDS = 10
THREADS = "1"
"""Threads that synchronize at every step are extremely slow on a busy machine."""

needs_real_model = pytest.mark.skipif(
    not (SERVER and MODEL), reason="LLAMA_SERVER and LOCAL_MODEL_FILE name no small real model"
)


@contextmanager
def served() -> Iterator[str]:
    """Yield the base URL of the model's server, `http://127.0.0.1:PORT/v1`."""
    port = _free_port()
    command = [str(SERVER), "-m", str(MODEL), "--host", "127.0.0.1", "--port", str(port)]
    sizes = ["-c", str(WINDOW_TOKENS), "-n", str(LONGEST_ANSWER_TOKENS)]
    process = subprocess.Popen(
        [*command, *sizes, "-t", THREADS, "-np", "1", "--jinja"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        _wait_for(f"http://127.0.0.1:{port}/health")
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        process.kill()
        process.wait()


def _free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])


def _wait_for(url: str) -> None:
    for _ in range(READY_SECONDS * 10):
        try:
            if httpx.get(url).status_code == 200:
                return
        except httpx.ConnectError:
            pass
        time.sleep(0.1)
    raise TimeoutError(f"{url} does not answer")
