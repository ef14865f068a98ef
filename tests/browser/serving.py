"""The server as a process of its own, which a test may stop, kill and start again."""

from __future__ import annotations

import signal
import socket
import subprocess
from dataclasses import dataclass, field
from typing import Any

import httpx

from tests.support.installation import Installation

LONGEST_SECONDS = 20


@dataclass
class Server:
    """`manage.py serve` of one installation, on one port for good."""

    installation: Installation
    port: int = field(default_factory=lambda: free_port())
    process: subprocess.Popen[bytes] | None = None
    link: str = ""
    report: str = ""
    """The path of a run that the installation began with."""
    signed_in: Any = None
    """Cookies of who opened the link, which is good for once, if tests share the server: their
    pages may only read.
    """

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        self.process = self.installation.start(
            "serve", "--port", str(self.port), stdout=subprocess.PIPE
        )
        assert self.process.stdout
        self.link = self.process.stdout.readline().decode().split()[-1]

    def make_token(self) -> str:
        """Return an API token, created on its page by the person who opened the link."""
        with httpx.Client(follow_redirects=True, trust_env=False, timeout=30) as browser:
            browser.get(self.link)
            browser.get(f"{self.url}/tokens/")
            typed = {"name": "Test", "access": "read write", "days": "30"}
            typed["csrfmiddlewaretoken"] = browser.cookies["plumbline_csrf"]
            page = browser.post(f"{self.url}/tokens/", data=typed).text
        return page.split('id="secret" value="')[1].split('"')[0]

    def stop(self) -> None:
        self._end(signal.SIGTERM)

    def kill(self) -> None:
        self._end(signal.SIGKILL)

    def _end(self, how: signal.Signals) -> None:
        if self.process is None:
            return
        self.process.send_signal(how)
        self.process.communicate(timeout=LONGEST_SECONDS)
        self.process = None


def free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])
