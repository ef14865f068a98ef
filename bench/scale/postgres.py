"""Start a private PostgreSQL server, so that restarting it affects no other program."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.dashboard.processes import free_port

ACCOUNT = "postgres"
OPTIONS = "-c listen_addresses=127.0.0.1 -c max_connections=200 -c unix_socket_directories=''"


class NoServer(Exception):
    """There are no programs to start a server with."""


@dataclass(frozen=True)
class OwnServer:
    """A server in a folder; root starts it under PostgreSQL's own account."""

    programs: Path
    folder: Path
    port: int

    def url(self, database: str = "postgres") -> str:
        return f"postgresql://{ACCOUNT}@127.0.0.1:{self.port}/{database}"

    def create(self) -> None:
        self._run("initdb", "--pgdata", self.folder, "--username", ACCOUNT, "--auth", "trust")
        self._control("start")

    def restart(self) -> None:
        """Restart without a shutdown, as after a crash."""
        self._control("restart", "--mode", "immediate")

    def stop(self) -> None:
        self._control("stop", "--mode", "immediate")

    def _control(self, *arguments: str) -> None:
        options = ("--options", f"-p {self.port} {OPTIONS}", "--log", self.folder / "server.log")
        self._run("pg_ctl", *arguments, "--pgdata", self.folder, "--wait", *options)

    def _run(self, program: str, *arguments: object) -> None:
        command = [str(self.programs / program), *map(str, arguments)]
        if os.geteuid() == 0:
            command = ["runuser", "-u", ACCOUNT, "--", *command]
        subprocess.run(command, check=True, cwd=self.folder, stdout=subprocess.DEVNULL)


@contextmanager
def own_server() -> Iterator[OwnServer]:
    """Start a server for the block; raise `NoServer`."""
    programs = _programs()
    if programs is None:
        raise NoServer("neither initdb nor pg_ctl is installed")
    with tempfile.TemporaryDirectory(prefix="plumbline-postgres-") as name:
        folder = Path(name)
        if os.geteuid() == 0:
            shutil.chown(folder, ACCOUNT)
        server = OwnServer(programs, folder, free_port())
        server.create()
        try:
            yield server
        finally:
            server.stop()


def _programs() -> Path | None:
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/pg_ctl"))
    on_path = [Path(path).resolve() for path in filter(None, [shutil.which("pg_ctl")])]
    return next((path.parent for path in [*reversed(found), *on_path]), None)
