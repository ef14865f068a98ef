"""The processes of a measurement (server, viewers, browser), controlled by lines of JSON."""

from __future__ import annotations

import json
import os
import resource
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

ROOT = Path(__file__).resolve().parents[2]
BROWSER_OPTIONS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-dev-shm-usage"]
LONGEST_MILLISECONDS = 120_000
DESK = {"width": 1280, "height": 720}
PHONE = {"width": 390, "height": 844}


@dataclass
class Served:
    """A paced server with one run; `sessions` are the cookies of the requested number of users."""

    process: Process
    port: int
    run: str
    sessions: list[str]

    def steps(self, count: int) -> list[tuple[int, float]]:
        """Commit a number of changes; return their sequences and times."""
        self.process.say({"steps": count})
        return [(sequence, at) for sequence, at in self.process.hear()]

    def end(self) -> list[tuple[int, float]]:
        self.process.say({"end": True})
        return [(sequence, at) for sequence, at in self.process.hear()]

    def cpu_seconds(self) -> float:
        return cpu_seconds(self.process.running.pid)

    def megabytes(self) -> float:
        """Return the peak memory since the start."""
        status = Path(f"/proc/{self.process.running.pid}/status").read_text()
        return int(status.split("VmHWM:")[1].split()[0]) / 1024

    def page(self, browser: Browser, session: str, size: dict[str, int] = DESK) -> Page:
        """Return the run's page as the user of a session sees it."""
        page = self.context(browser, session, size).new_page()
        page.goto(f"/runs/{self.run}/")
        return page

    def context(
        self, browser: Browser, session: str, size: dict[str, int] = DESK, **options: Any
    ) -> BrowserContext:
        url, phone = f"http://127.0.0.1:{self.port}", size == PHONE
        context = browser.new_context(
            base_url=url, viewport=size, is_mobile=phone, has_touch=phone, **options
        )  # type: ignore[arg-type]
        context.set_default_timeout(LONGEST_MILLISECONDS)
        context.add_cookies([{"name": "plumbline_session", "value": session, "url": url}])
        return context


def cpu_seconds(process: int) -> float:
    fields = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@dataclass
class Process:
    running: subprocess.Popen[str]

    def hear(self) -> Any:
        """Return the next line of output, as JSON."""
        assert self.running.stdout
        told = self.running.stdout.readline().strip()
        if not told:
            raise SystemExit("a process of the measurement ended early")
        return json.loads(told)

    def say(self, value: dict[str, Any]) -> None:
        assert self.running.stdin
        self.running.stdin.write(json.dumps(value) + "\n")
        self.running.stdin.flush()


@contextmanager
def served(sessions: int, per_second: float = 8.0, state: Path | None = None) -> Iterator[Served]:
    """Yield a server with a temporary database, migrated or a copy of that of a state folder."""
    with tempfile.TemporaryDirectory() as home, ExitStack() as stack:
        if state:
            shutil.copytree(state, home, dirs_exist_ok=True)
        port = free_port()
        environment = {**os.environ, "PLUMBLINE_HOME": home, "DEEPRESEARCH_ENV_FILE": os.devnull}
        process = stack.enter_context(
            started(
                "bench.dashboard.server", environment, "--port", port, "--sessions", sessions,
                "--per-second", per_second,
            )
        )  # fmt: skip
        ready = process.hear()
        yield Served(process, port, ready["run"], ready["sessions"])


@contextmanager
def started(
    module: str, environment: dict[str, str] | None = None, *arguments: object
) -> Iterator[Process]:
    command = [sys.executable, "-m", module, *map(str, arguments)]
    running = subprocess.Popen(
        command, cwd=ROOT, env=environment, text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip
    try:
        yield Process(running)
    finally:
        running.terminate()
        running.communicate(timeout=20)


@contextmanager
def chromium() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=os.environ.get("PLUMBLINE_CHROMIUM", "/usr/bin/chromium"),
            args=BROWSER_OPTIONS,
        )
        yield browser
        browser.close()


def many_files() -> None:
    """Raise the limit of open files: each socket takes one on both sides."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])
