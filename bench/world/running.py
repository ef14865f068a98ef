"""Runs a world in a separate process within a block."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import urlopen

from bench.world.facts import Page, World
from bench.world.generate import build_world
from bench.world.hostile import HONEST
from bench.world.supply import AMPLE

ROOT = Path(__file__).resolve().parents[2]
END_SECONDS = 5.0


@dataclass(frozen=True)
class RunningWorld:
    """The addresses of a world. `hosts` are `host:port` of its sites, in their order."""

    world: World
    hosts: tuple[str, ...]
    search: str
    model: str
    log_url: str

    def url(self, page: Page) -> str:
        return f"http://{self.hosts[page.site - 1]}{page.path}"

    def page_at(self, url: str) -> Page | None:
        """Return the page of the world at a URL, or None."""
        parts = urlsplit(url)
        if parts.netloc not in self.hosts:
            return None
        return self.world.by_place.get((self.hosts.index(parts.netloc) + 1, parts.path))

    def environment(self, model: str = HONEST) -> dict[str, str]:
        """Return the environment of an installation that uses this world."""
        return {
            "OPENAI_BASE_URL": self.model,
            "OPENAI_API_KEY": "none",
            "RESEARCH_MODEL": model,
            "SEARXNG_URL": self.search,
            "FETCH_ALLOW_PRIVATE_HOSTS": ",".join(self.hosts),
        }

    def log(self) -> dict[str, Any]:
        """Return the log since the last reset.

        It has `entries` (`server`, `start`, `end`, …), `tasks` and `requests`.
        """
        shown: dict[str, Any] = _get(self.log_url)
        return shown

    def reset(self) -> None:
        """Clear the log."""
        _get(f"{self.log_url}/reset")


def _get(url: str) -> Any:
    with urlopen(url, timeout=10) as answer:
        return json.load(answer)


@contextmanager
def running_world(
    seed: int,
    latency: bool = False,
    per_kind: int = 5,
    port_base: int = 0,
    supply: str = AMPLE,
) -> Iterator[RunningWorld]:
    """Start the world's process and end it with the block, or with this process.

    Raise `RuntimeError` if it ends before it is ready.
    """
    command = [sys.executable, "-m", "bench.world", "--seed", str(seed), "--with-parent"]
    command += ["--per-kind", str(per_kind), "--port-base", str(port_base)]
    command += ["--supply", supply]
    command += ["--latency"] if latency else []
    with subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        try:
            assert process.stdin and process.stdout
            first = process.stdout.readline()
            if not first:
                raise RuntimeError("the world's process ended before it was ready")
            said = json.loads(first)
            world = build_world(seed, per_kind, supply)
            yield RunningWorld(
                world, tuple(said["hosts"]), said["search"], said["model"], said["log"]
            )
        finally:
            process.terminate()
            try:
                process.wait(END_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
