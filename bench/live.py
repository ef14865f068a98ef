"""How long a committed change takes to reach its viewers, and whether all end on the truth.

    python -m bench.live --viewers 300 [--commits 120] [--per-second 8] [--browser]

A real server process commits changes as the engine does (`bench.live_server`); N websocket
viewers with sessions of their own watch from another process; with `--browser` a Chromium watches
too. Latency is from the end of the transaction to the arrival of a message at or past its
sequence; commits within 100 ms of each other are sent together, and that wait counts. Commits of
other processes beside an in-memory channel layer are found by the check of the tail, a second
later at most; they are not measured here.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
BARS_MILLISECONDS = {1: 200, 300: 400}
Process = subprocess.Popen[str]
Seen = list[tuple[int, float]]

BROWSER_OPTIONS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-dev-shm-usage"]
OBSERVE = """run => {
  window.seen = [];
  const note = () => window.seen.push([
    Number(document.getElementById(`run-${run}-sequence`)?.value ?? 0),
    (performance.timeOrigin + performance.now()) / 1000,
  ]);
  new MutationObserver(note).observe(document.body, {childList: true, subtree: true});
}"""


def main() -> int:
    options = arguments()
    return show(options, *observe(options))


def observe(
    options: argparse.Namespace,
) -> tuple[Seen, list[dict[str, Any]], Seen, float, float]:
    """The commits, what each viewer saw, what a browser saw; the server's share of a core and
    its most megabytes. The viewers need as many open files.
    """
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    with tempfile.TemporaryDirectory() as home, ExitStack() as stack:
        port = free_port()
        environment = {**os.environ, "PLUMBLINE_HOME": home, "DEEPRESEARCH_ENV_FILE": os.devnull}
        server = stack.enter_context(process(environment, "bench.live_server", port, options))
        ready = json.loads(line(server))
        viewers = stack.enter_context(process(environment, "bench.live_viewers"))
        sessions = ready["sessions"]
        say(viewers, {"port": port, "run": ready["run"], "sessions": sessions[:-1]})
        assert line(viewers) == "open"
        page = None
        if options.browser:
            page = stack.enter_context(browser_page(port, ready["run"], sessions[-1]))
        before = cpu_seconds(server.pid)
        begun = time.monotonic()
        say(server, {})
        commits = json.loads(line(server))["commits"]
        share = (cpu_seconds(server.pid) - before) / (time.monotonic() - begun)
        seen = json.loads(line(viewers))
        in_browser = page.evaluate("window.seen") if page else []
        memory = peak_megabytes(server.pid)
    return commits, seen, in_browser, share, memory


def show(
    options: argparse.Namespace,
    commits: Seen,
    seen: list[dict[str, Any]],
    in_browser: Seen,
    share: float,
    memory: float,
) -> int:
    times = [late for one in seen for late in latencies(commits, one["seen"])]
    right = sum(ends_true(one, commits, options.commits) for one in seen)
    messages = sum(len(one["seen"]) for one in seen) / len(seen)
    kilobytes = sum(one["bytes"] for one in seen) / len(seen) / 1024
    print(f"{len(seen)} viewers, {len(commits)} commits at about {options.per_second:g} a second")
    print(f"commit → received    {figures(times)}")
    if in_browser:
        changed = latencies(commits, in_browser)
        print(
            f"commit → in browser  p50 {at(changed, 0.5):4.0f} ms   p95 {at(changed, 0.95):4.0f} ms"
        )
    print(f"ended on the true state: {right} of {len(seen)}")
    print(f"a viewer received {messages:.0f} messages, {kilobytes:.0f} KB")
    print(f"the server's process: {share:.0%} of a core, {memory:.0f} MB at most")
    bar = min((b for n, b in BARS_MILLISECONDS.items() if n >= len(seen)), default=None)
    return int(right < len(seen) or (bar is not None and at(times, 0.95) > bar))


def latencies(commits: Seen, seen: Seen) -> list[float]:
    """Milliseconds from each commit to the first arrival at or past it."""
    arrivals = iter(sorted(seen))
    sequence, arrived = next(arrivals)
    found = []
    for committed, at_second in sorted(commits):
        while sequence < committed:
            sequence, arrived = next(arrivals)
        found.append((arrived - at_second) * 1000)
    return found


def ends_true(one: dict[str, Any], commits: Seen, count: int) -> bool:
    evidence = {f"E{number}" for number in range(1, count // 3 + 1)}
    newest = {f"E{number}" for number in range(max(1, count // 3 - 59), count // 3 + 1)}
    known = set(one["evidence"])
    return (
        one["seen"][-1][0] == max(sequence for sequence, _ in commits)
        and newest <= known <= evidence
        and one["code"] == 1000
        and bool(one["verdict"])
    )


def figures(values: list[float]) -> str:
    return f"p50 {at(values, 0.5):4.0f} ms   p95 {at(values, 0.95):4.0f} ms"


def at(values: list[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


# --- processes ------------------------------------------------------------------------------------


@contextmanager
def process(
    environment: dict[str, str], module: str, *given: Any
) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", module]
    if given:
        port, options = given
        command += ["--port", str(port), "--viewers", str(options.viewers)]
        command += ["--commits", str(options.commits), "--per-second", str(options.per_second)]
    running = subprocess.Popen(
        command, cwd=ROOT, env=environment, text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip
    try:
        yield running
    finally:
        running.terminate()
        running.communicate(timeout=10)


def line(running: subprocess.Popen[str]) -> str:
    assert running.stdout
    told = running.stdout.readline().strip()
    if not told:
        raise SystemExit("a process of the measurement ended early")
    return told


def say(running: subprocess.Popen[str], value: dict[str, Any]) -> None:
    assert running.stdin
    running.stdin.write(json.dumps(value) + "\n")
    running.stdin.flush()


@contextmanager
def browser_page(port: int, run: str, session: str) -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=os.environ.get("PLUMBLINE_CHROMIUM", "/usr/bin/chromium"),
            args=BROWSER_OPTIONS,
        )
        url = f"http://127.0.0.1:{port}"
        context = browser.new_context(base_url=url)
        context.add_cookies([{"name": "plumbline_session", "value": session, "url": url}])
        page = context.new_page()
        page.goto(f"/runs/{run}/")
        page.evaluate(OBSERVE, run)
        page.wait_for_timeout(1000)
        yield page
        browser.close()


def cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def peak_megabytes(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


def free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bench.live", description=__doc__.splitlines()[0])
    parser.add_argument("--viewers", type=int, default=300)
    parser.add_argument("--commits", type=int, default=120)
    parser.add_argument("--per-second", type=float, default=8.0)
    parser.add_argument("--browser", action="store_true", help="a Chromium watches too")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
