"""Latency from a commit to its viewers, and whether all of them end on the final state.

A server process commits changes as the engine does; WebSocket viewers with separate sessions watch
from another process, and Chromium from a third. Latency is from the end of the transaction to the
arrival of a message with its sequence or a later one; commits within 100 ms of each other are sent
together, and that wait counts. Not measured are commits of other processes without Redis, which the
tail check finds within a second.
"""

from __future__ import annotations

import time
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

from playwright.sync_api import Page

from bench.dashboard.processes import Served, chromium, many_files, served, started

COMMITS = 120
SHOWN = 60
Seen = list[tuple[int, float]]

OBSERVE = """run => {
  window.seen = [];
  const note = () => window.seen.push([
    Number(document.getElementById(`run-${run}-sequence`)?.value ?? 0),
    (performance.timeOrigin + performance.now()) / 1000,
  ]);
  new MutationObserver(note).observe(document.body, {childList: true, subtree: true});
}"""


@dataclass
class Watched:
    """Milliseconds from commit to viewer, over all viewers.

    `true` counts viewers that ended on the final state; `core` is the server's share of one CPU
    core; `messages` the most that a viewer received in a second.
    """

    viewers: int
    sockets: list[float] = field(default_factory=list)
    browser: list[float] = field(default_factory=list)
    true: int = 0
    core: float = 0.0
    megabytes: float = 0.0
    kilobytes: float = 0.0
    messages: int = 0


def watch(sockets: int, *, deaf: int = 0, browser: bool = False) -> Watched:
    """Measure `sockets` viewers, `deaf` more that stop reading, and a browser."""
    many_files()
    with ExitStack() as stack:
        server = stack.enter_context(served(sockets + deaf + browser))
        viewers = stack.enter_context(started("bench.dashboard.viewers")) if sockets else None
        if viewers:
            named = {"port": server.port, "run": server.run, "deaf": deaf}
            viewers.say({**named, "sessions": server.sessions[: sockets + deaf]})
            assert viewers.hear() == "open"
        page = observing(stack, server) if browser else None
        found = Watched(sockets + browser)
        before, begun = server.cpu_seconds(), time.monotonic()
        commits = server.steps(COMMITS)
        found.core = (server.cpu_seconds() - before) / (time.monotonic() - begun)
        commits += server.end()
        found.megabytes = server.megabytes()
        if page:
            page.wait_for_selector("[data-ended]", state="attached")
            in_browser = [(int(sequence), float(at)) for sequence, at in page.evaluate("seen")]
            found.browser = latencies(commits, in_browser)
            found.true += in_browser[-1][0] == commits[-1][0]
        for one in viewers.hear() if viewers else ():
            add(found, one, commits)
    return found


def observing(stack: ExitStack, server: Served) -> Page:
    page = server.page(stack.enter_context(chromium()), server.sessions[-1])
    page.evaluate(OBSERVE, server.run)
    page.wait_for_timeout(1000)
    return page


def add(found: Watched, one: dict[str, Any], commits: Seen) -> None:
    right = ends_true(one, commits)
    found.true += right
    if right:
        found.sockets += latencies(commits, one["seen"])
    found.kilobytes = max(found.kilobytes, one["bytes"] / 1024)
    found.messages = max(found.messages, most_in_a_second([at for _, at in one["seen"]]))


def latencies(commits: Seen, seen: Seen) -> list[float]:
    """Return the milliseconds from each commit to the first arrival of its or a later sequence."""
    arrivals = iter(sorted(seen))
    sequence, arrived = next(arrivals)
    found = []
    for committed, at_second in sorted(commits):
        while sequence < committed:
            sequence, arrived = next(arrivals)
        found.append((arrived - at_second) * 1000)
    return found


def ends_true(one: dict[str, Any], commits: Seen) -> bool:
    """Return whether a viewer ended on the final state.

    It must have received the last sequence, the newest evidence, no evidence that doesn't exist,
    and the end of the run.
    """
    count = COMMITS // 3
    evidence = {f"E{number}" for number in range(1, count + 1)}
    newest = {f"E{number}" for number in range(max(1, count - SHOWN + 1), count + 1)}
    known = set(one["evidence"])
    return (
        one["seen"][-1][0] == max(sequence for sequence, _ in commits)
        and newest <= known <= evidence
        and one["code"] == 1000
        and bool(one["verdict"])
    )


def most_in_a_second(times: list[float]) -> int:
    """Return the maximum number of arrivals within any second."""
    first, most = 0, 0
    for place, at_second in enumerate(times):
        while times[first] <= at_second - 1:
            first += 1
        most = max(most, place - first + 1)
    return most


def at(values: list[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]
