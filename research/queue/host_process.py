"""Identity of a process on its host, and whether another one of the same host is still alive.

On Linux only; elsewhere nothing is known, and a dead process's runs wait until its lease expires.
"""

from __future__ import annotations

import os
import socket
from dataclasses import dataclass
from pathlib import Path

PROC = Path("/proc")
DEAD_STATES = frozenset("ZX")


@dataclass(frozen=True)
class HostProcess:
    """Identity of a process that other processes can verify.

    `pid_space` is the boot and the namespace of process ids: processes with the same one see each
    other's ids. `pid_started` distinguishes a process from a later one with the same id.
    """

    host: str
    machine_id: str
    boot_id: str
    pid_space: str
    pid: int
    pid_started: str

    @classmethod
    def current(cls) -> HostProcess:
        boot_id = _read(PROC / "sys/kernel/random/boot_id")
        namespace = _link(PROC / "self/ns/pid")
        return cls(
            host=socket.gethostname()[:255],
            machine_id=_read(Path("/etc/machine-id")),
            boot_id=boot_id,
            pid_space=f"{boot_id} {namespace}" if boot_id and namespace else "",
            pid=os.getpid(),
            pid_started=_state_and_start(os.getpid())[1],
        )

    def knows_dead(self, other: HostProcess) -> bool:
        """Return whether the other process has certainly ended; False if that is unknown."""
        if self.pid_space and self.pid_space == other.pid_space:
            state, started = _state_and_start(other.pid)
            return state in DEAD_STATES or not state or started != other.pid_started
        same_machine = self.machine_id and (self.machine_id, self.host) == (
            other.machine_id,
            other.host,
        )
        return bool(same_machine and self.boot_id and other.boot_id not in ("", self.boot_id))


def _state_and_start(pid: int) -> tuple[str, str]:
    """Return the state letter and the start time of a process, ("", "") if there is none."""
    told = _read(PROC / str(pid) / "stat")
    fields = told.rpartition(")")[2].split()  # the name before may contain blanks and parentheses
    return (fields[0], fields[19]) if len(fields) > 19 else ("", "")


def _read(path: Path) -> str:
    try:
        return path.read_text(errors="replace").strip()
    except OSError:
        return ""


def _link(path: Path) -> str:
    try:
        return os.readlink(path)
    except OSError:
        return ""
