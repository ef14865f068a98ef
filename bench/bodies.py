"""Large request bodies against the real server, while another client polls `/healthz`.

    python -m bench.bodies [--megabytes 30 300]

Starts a server on loopback and sends it every kind of body, anonymously and signed in, with
Content-Length and chunked. Prints for each: the response, the 95th percentile of the other client's
latency, and the growth of the server's memory. Exits with 1 if a bar is missed.
"""

from __future__ import annotations

import argparse
import http.client
import socket
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import count, product
from pathlib import Path

from bench.dashboard.processes import Served, served

MOST_WAITING_MS = 300
MOST_GROWTH_MB = 64
MEGABYTE = 1024 * 1024
BLOCK = 256 * 1024
PROBE_SECONDS = 0.02
LONGEST_SECONDS = 120
BOUNDARY = b"bodies-of-the-benchmark"
TOKEN = "a" * 32
FORM = "application/x-www-form-urlencoded"
MULTIPART = f"multipart/form-data; boundary={BOUNDARY.decode()}"
REFUSED = (400, 408, 413)
STREAMED = (200, 302, 422)


@dataclass(frozen=True)
class Body:
    """A body: `start`, then `unit` repeated up to `size` bytes, then `end`."""

    content_type: str
    unit: bytes
    size: int
    start: bytes = b""
    end: bytes = b""

    @property
    def repeats(self) -> int:
        return max(1, self.size // len(self.unit))

    @property
    def length(self) -> int:
        return len(self.start) + self.repeats * len(self.unit) + len(self.end)

    def blocks(self) -> Iterator[bytes]:
        yield self.start
        at_once = max(1, BLOCK // len(self.unit))
        block = self.unit * at_once
        whole, rest = divmod(self.repeats, at_once)
        for _ in range(whole):
            yield block
        yield self.unit * rest + self.end


def part(name: str, content: bytes, file: str = "") -> bytes:
    told = f'form-data; name="{name}"' + (f'; filename="{file}"' if file else "")
    head = f"Content-Disposition: {told}\r\n\r\n".encode()
    return b"--" + BOUNDARY + b"\r\n" + head + content + b"\r\n"


def opened(name: str, file: str) -> bytes:
    """Return a multipart part without its end."""
    return part(name, b"", file)[:-2]


CLOSE = b"--" + BOUNDARY + b"--\r\n"
_numbers = count(1)


def bodies(size: int) -> dict[str, Body]:
    """Return every kind of body by name."""
    name = part("name", f"collection {next(_numbers)}".encode())
    big = part("files", b"x" * (8 * MEGABYTE if size >= 16 * MEGABYTE else size // 4), "a.txt")
    return {
        "form, one big field": Body(FORM, b"x", size, b"username=ada&question="),
        "form, many fields": Body(FORM, b"a=1&", size),
        "multipart, lines in one file": Body(
            MULTIPART, b"a line\r\n", size, name + opened("files", "a.txt"), b"\r\n" + CLOSE
        ),
        "multipart, few big files": Body(MULTIPART, big, size, name, CLOSE),
        "multipart, one big field": Body(
            MULTIPART, b"x", size, name + opened("question", ""), b"\r\n" + CLOSE
        ),
        "multipart, many fields": Body(MULTIPART, part("a", b"1"), size, name, CLOSE),
        "multipart, many files": Body(MULTIPART, part("files", b"1", "a.txt"), size, name, CLOSE),
    }


@dataclass(frozen=True)
class Case:
    kind: str
    body: Body
    session: str
    is_chunked: bool

    @property
    def path(self) -> str:
        if not self.session:
            return "/sign-in/"
        return "/documents/" if self.body.content_type == MULTIPART else "/"

    def head(self, port: int) -> bytes:
        length = (
            "Transfer-Encoding: chunked"
            if self.is_chunked
            else f"Content-Length: {self.body.length}"
        )
        cookies = f"plumbline_csrf={TOKEN}"
        if self.session:
            cookies += f"; plumbline_session={self.session}"
        lines = (
            f"POST {self.path} HTTP/1.1",
            f"Host: 127.0.0.1:{port}",
            f"Content-Type: {self.body.content_type}",
            f"Cookie: {cookies}",
            f"X-CSRFToken: {TOKEN}",
            "Connection: close",
            length,
        )
        return "\r\n".join((*lines, "", "")).encode()

    def blocks(self) -> Iterator[bytes]:
        if not self.is_chunked:
            yield from self.body.blocks()
            return
        for block in self.body.blocks():
            if block:
                yield f"{len(block):x}\r\n".encode()
                yield block
                yield b"\r\n"
        yield b"0\r\n\r\n"


def send(port: int, head: bytes, blocks: Iterable[bytes]) -> int:
    """Return the status of the response, read once everything is sent; 0 if there is none."""
    with socket.create_connection(("127.0.0.1", port), timeout=LONGEST_SECONDS) as sock:
        with suppress(ConnectionError):
            sock.sendall(head)
            for block in blocks:
                sock.sendall(block)
        with suppress(ConnectionError):
            line = sock.makefile("rb").readline().split()
            return int(line[1]) if len(line) > 1 else 0
    return 0


@dataclass
class Waiting:
    """Latencies of the other client, in milliseconds.

    A slow request counts for all requests that would have been sent during it.
    """

    measured: list[float] = field(default_factory=list)

    def add(self, milliseconds: float) -> None:
        while milliseconds > 0:
            self.measured.append(milliseconds)
            milliseconds -= PROBE_SECONDS * 1000

    @property
    def p95(self) -> float:
        ranked = sorted(self.measured)
        return ranked[int(0.95 * (len(ranked) - 1))] if ranked else 0.0

    @property
    def longest(self) -> float:
        return max(self.measured, default=0.0)


@contextmanager
def asking(port: int) -> Iterator[Waiting]:
    """Poll `/healthz` until the block ends."""
    waiting, end = Waiting(), threading.Event()

    def ask() -> None:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=LONGEST_SECONDS)
        while not end.wait(PROBE_SECONDS):
            begun = time.perf_counter()
            connection.request("GET", "/healthz")
            connection.getresponse().read()
            waiting.add((time.perf_counter() - begun) * 1000)
        connection.close()

    thread = threading.Thread(target=ask, daemon=True)
    thread.start()
    try:
        yield waiting
    finally:
        end.set()
        thread.join()


@dataclass(frozen=True)
class Memory:
    """Growth of a process's resident memory since creation of this object."""

    folder: Path
    before: float

    @classmethod
    def of(cls, pid: int) -> Memory:
        folder = Path(f"/proc/{pid}")
        (folder / "clear_refs").write_text("5")  # reset the peak of resident memory
        return cls(folder, _megabytes(folder, "VmRSS:"))

    def growth(self) -> float:
        return _megabytes(self.folder, "VmHWM:") - self.before


def _megabytes(folder: Path, name: str) -> float:
    return int((folder / "status").read_text().split(name)[1].split()[0]) / 1024


@dataclass(frozen=True)
class Outcome:
    status: int
    seconds: float
    p95: float
    longest: float
    growth: float

    @property
    def is_good(self) -> bool:
        known = self.status in (*REFUSED, *STREAMED)
        return known and self.p95 <= MOST_WAITING_MS and self.growth <= MOST_GROWTH_MB

    @property
    def became(self) -> str:
        return (
            "refused" if self.status in REFUSED else "streamed" if self.status in STREAMED else "?"
        )


def measure(server: Served, case: Case) -> Outcome:
    memory = Memory.of(server.process.running.pid)
    with asking(server.port) as waiting:
        time.sleep(0.2)
        begun = time.perf_counter()
        status = send(server.port, case.head(server.port), case.blocks())
        seconds = time.perf_counter() - begun
        time.sleep(0.2)
    return Outcome(status, seconds, waiting.p95, waiting.longest, memory.growth())


def cases(sizes: Iterable[int], session: str) -> Iterator[Case]:
    for size, who, is_chunked in product(sizes, ("", session), (False, True)):
        for kind in bodies(size):
            yield Case(kind, bodies(size)[kind], who, is_chunked)


def main() -> int:
    parser = argparse.ArgumentParser(prog="bench.bodies", description=__doc__.splitlines()[0])
    parser.add_argument("--megabytes", type=int, nargs="+", default=[30, 300])
    sizes = [megabytes * MEGABYTE for megabytes in parser.parse_args().megabytes]
    print(f"{'body':32} {'MB':>4} {'who':10} {'length':8} answer        s   p95 ms   max ms  + MB")
    missed = 0
    with served(1) as server:
        for case in cases(sizes, server.sessions[0]):
            outcome = measure(server, case)
            missed += not outcome.is_good
            print(row(case, outcome), flush=True)
    print(f"{missed} missed a bar (p95 ≤ {MOST_WAITING_MS} ms, memory + ≤ {MOST_GROWTH_MB} MB)")
    return int(bool(missed))


def row(case: Case, outcome: Outcome) -> str:
    return (
        f"{case.kind:32} {case.body.length // MEGABYTE:4} "
        f"{'signed in' if case.session else 'anonymous':10} "
        f"{'chunked' if case.is_chunked else 'given':8} {outcome.status} {outcome.became:8} "
        f"{outcome.seconds:5.1f} {outcome.p95:8.1f} {outcome.longest:8.1f} {outcome.growth:5.0f}"
        f"{'' if outcome.is_good else '  MISSED'}"
    )


if __name__ == "__main__":
    sys.exit(main())
