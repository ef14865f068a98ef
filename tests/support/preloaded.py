"""Processes that begin with their libraries imported.

Most of the CPU time of a short command is the import of Django, its neighbours and the clients of
models. A preloaded process imports them once for each test process; each command is a fork of it
with its own environment, arguments and streams. What depends on the environment (settings, models,
pages) is imported by the command itself.
"""

from __future__ import annotations

import atexit
import ctypes
import gc
import importlib
import json
import os
import random
import runpy
import signal
import socket
import ssl
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
LIBRARIES = (
    "anyio._backends._asyncio", "bs4", "channels.layers", "channels.routing",
    "channels_redis.core", "charset_normalizer", "daphne.server", "django.contrib.admin.filters",
    "django.contrib.admin.options", "django.contrib.humanize.templatetags.humanize",
    "django.core.handlers.asgi", "django.core.management", "django.db.backends.postgresql.base",
    "django.db.backends.sqlite3.base", "django.db.migrations.executor",
    "django.template.loader_tags", "django.views.generic", "django_htmx.middleware",
    "encodings.idna", "environ", "httpcore", "httpcore2", "httpx", "jiter", "lxml.html",
    "markdown_it", "nh3", "openai.resources.chat.chat", "pydantic", "redis.asyncio", "truststore",
    "whitenoise.middleware",
)  # fmt: skip
OWN = (
    "dashboard.charts", "research.engine.loop", "research.engine.analyst.model",
    "research.extract.pool", "research.fetch.fetch", "research.fulltext.index",
    "research.llm.settings", "research.operations.metrics", "research.runtime.settings_check",
    "research.search.fallback", "research.search.pipeline",
)  # fmt: skip
LONGEST_MESSAGE = 1 << 16
PR_SET_CHILD_SUBREAPER = 36
KEPT = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR")


class ForkedProcess(subprocess.Popen[Any]):
    """A `Popen` of a command of this project whose process is a fork of the preloaded one.

    It is a child of this process, as one of `Popen` would be: waiting, signals and pipes are the
    same. `args` are `[PROGRAM, ARGUMENTS…]` with a file such as `manage.py`, or
    `["-m", MODULE, ARGUMENTS…]`; `env` must be given.
    """

    def _execute_child(
        self, args: Sequence[str], executable: Any, preexec_fn: Any, close_fds: Any, pass_fds: Any,
        cwd: Any, env: Mapping[str, str], startupinfo: Any, creationflags: Any, shell: Any,
        p2cread: int, p2cwrite: int, c2pread: int, c2pwrite: int, errread: int, errwrite: int,
        restore_signals: Any, gid: Any, gids: Any, uid: Any, umask: Any, start_new_session: bool,
        *rest: Any,
    ) -> None:  # fmt: skip
        sys.audit("subprocess.Popen", args[0], args, cwd, env)
        streams = [own if own >= 0 else number
                   for number, own in enumerate((p2cread, c2pwrite, errwrite))]  # fmt: skip
        request = {"args": list(args), "env": dict(env), "in_session": start_new_session}
        try:
            self.pid = fork_server().fork(request, streams)
            self._child_created = True
        finally:
            self._close_pipe_fds(  # type: ignore[attr-defined]
                p2cread, p2cwrite, c2pread, c2pwrite, errread, errwrite
            )


class ForkServer:
    """The preloaded process; one request at a time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", __name__, str(theirs.fileno())], cwd=ROOT,
                env={name: value for name, value in os.environ.items() if name in KEPT},
                stdin=subprocess.DEVNULL, pass_fds=[theirs.fileno()], start_new_session=True,
            )  # fmt: skip

    def fork(self, request: Mapping[str, Any], streams: Sequence[int]) -> int:
        """Return the process number of a new process, a child of the calling one."""
        with self._lock:
            _adopt_orphans(True)
            try:
                socket.send_fds(self._socket, [json.dumps(request).encode()], streams)
                return int(self._socket.recv(LONGEST_MESSAGE))
            finally:
                _adopt_orphans(False)

    def close(self) -> None:
        self._socket.close()
        self._process.wait()


@cache
def fork_server() -> ForkServer:
    server = ForkServer()
    atexit.register(server.close)
    return server


def _adopt_orphans(wanted: bool) -> None:
    """Let processes whose parent ends become children of this process, or of `init` again."""
    if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, int(wanted), 0, 0, 0):
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_CHILD_SUBREAPER)")


def _serve(number: int) -> None:
    """Fork for each request of the socket with this number, until its other end is closed."""
    gc.set_threshold(20_000)
    for name in (*LIBRARIES, *OWN):
        importlib.import_module(name)
    _read_files()
    gc.freeze()
    requests = socket.socket(fileno=number)
    while True:
        message, streams, _, _ = socket.recv_fds(requests, LONGEST_MESSAGE, 3)
        if not message:
            return
        reader, writer = os.pipe()
        if parent := os.fork():
            answer = os.read(reader, LONGEST_MESSAGE)
            os.waitpid(parent, 0)  # after it, the process that asked is the parent
            requests.send(answer)
            for descriptor in (reader, writer, *streams):
                os.close(descriptor)
            continue
        if child := os.fork():
            os.write(writer, str(child).encode())
            os._exit(0)
        os.close(reader)
        os.close(writer)
        requests.close()
        _become(**json.loads(message), streams=streams)
        return


def _read_files() -> None:
    """Read what most commands read: certificates, labels, prompts, and data of the analysts."""
    ssl.create_default_context = cache(ssl.create_default_context)  # type: ignore[assignment]
    httpx = importlib.import_module("httpx")
    httpx.create_ssl_context()
    providers = importlib.import_module("research.search.providers")
    providers.declared_settings()
    labels = importlib.import_module("research.engine.report.report_i18n")
    labels.translated_languages()
    ask = importlib.import_module("research.engine.llm_tasks.prompting.ask")
    for name in ask.TEMPLATES.list_templates():
        ask.TEMPLATES.get_template(name)
    screening = importlib.import_module("research.engine.untrusted.screening")
    reading = importlib.import_module("research.engine.offline.passages.reading")
    url, text = "https://oaks.example/", "An oak lives for 600 years."
    at = datetime(2026, 1, 1, tzinfo=UTC)
    page = reading.Page(url, url, "Oaks", text, "", "text/html", "oaks.example", "oaks", at)
    asked = "How long does an oak live?"
    reading.read_pages([page], [reading.Aspect("A1", asked, asked, "plan", 1)], 1)
    hit = screening.SearchHit(url, "Oaks", text, "", 1)
    screening.screened_answer(screening.SearchAnswer((hit,)), asked)


def _become(args: list[str], env: dict[str, str], in_session: bool, streams: Sequence[int]) -> None:
    """Run a program as the main one of this process, with these streams and environment."""
    if in_session:
        os.setsid()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    sys.stdin = os.fdopen(0, encoding="utf-8", closefd=False)
    sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)
    sys.stderr = os.fdopen(
        2, "w", encoding="utf-8", errors="backslashreplace", buffering=1, closefd=False
    )
    os.environ.clear()
    os.environ.update(env)
    random.seed()
    if args[0] == "-m":
        sys.argv = args[1:]
        runpy.run_module(args[1], run_name="__main__", alter_sys=True)
    else:
        sys.argv = args
        runpy.run_path(args[0], run_name="__main__")


if __name__ == "__main__":
    _serve(int(sys.argv[1]))
