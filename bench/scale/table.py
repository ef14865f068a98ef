"""`make bench SUITE=scale`: every measurement of several processes, each row with its bar."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from subprocess import CalledProcessError
from time import monotonic

from bench.bars import Bar
from bench.scale.at_once import at_once
from bench.scale.interrupted import migrating, requests
from bench.scale.parts import Figures, measure
from bench.scale.postgres import NoServer
from bench.scale.trials import (
    Extent,
    clocks_off,
    kills,
    postgresql_restarted,
    proxy_hangs,
    redis_away,
    restored,
    rolled_out,
)

SAME_HOST_SECONDS = 3
BUSY_LOAD = 0.5
"""Load for each core, before a measurement, above which its figures are marked."""


def _survives(trial: str, text: str) -> tuple[Bar, ...]:
    return (
        Bar(f"{trial}_unfinished", f"{text}: runs that did not complete", "=", 0, ".0f"),
        Bar(f"{trial}_asked_again", f"{text}: settled calls made again", "=", 0, ".0f"),
        Bar(f"{trial}_compared", f"{text}: settled calls compared", ">", 0, ".0f"),
        Bar(f"{trial}_disturbances", f"{text}: disturbances", ">", 0, ".0f"),
    )


BARS: Mapping[str, Sequence[Bar]] = {
    "kills": (
        *_survives("kills", "2 web + 4 workers, killed"),
        Bar("kills_takeover_p95", "takeover on the same host, p95 in s", "≤", SAME_HOST_SECONDS),
        Bar("kills_untrue_pages", "runs of which a web process shows another state", "=", 0, ".0f"),
    ),
    "places": (
        Bar("at_once", "8 workers, 4 places: calls at once", "≤", 4, ".0f"),
        Bar("a_minute", "8 workers, 60 requests a minute: calls in any minute", "≤", 60, ".0f"),
        Bar("places_used", "share of the places in use", "≥", 0.9),
        Bar("minute_used", "share of the minute's requests in use", "≥", 0.9),
    ),
    "claims": (
        Bar("claim_p95_1", "claim of 10,000 queued by one person, p95 in ms", "≤", 5),
        Bar("claim_p95_50", "claim of 10,000 queued by 50, p95 in ms", "≤", 5),
        Bar("claim_p95_10000", "claim of 10,000 queued by 10,000, p95 in ms", "≤", 5),
        Bar("idle_core", "5,000 parked, 6 idle workers: database's share of a core", "≤", 0.01,
            ".4f"),
    ),
    "fairness": (
        Bar("waited_lengths", "wait behind 500 runs of another person, in runs", "≤", 1),
    ),
    "at_once": (
        Bar("at_once_unfinished", "runs at once in one process: not completed", "=", 0, ".0f"),
        Bar("at_once_cpu", "runs at once in one process: CPU of a run in s", "≤", 0.15),
        Bar("at_once_megabytes", "runs at once in one process: memory of a run in MB", "≤", 1),
        Bar("at_once_blocked", "runs at once: event loop blocked, longest in ms", "≤", 100, ".0f"),
        Bar("at_once_read_p95", "runs at once: reading a run, p95 in ms", "≤", 300, ".0f"),
    ),
    "throughput": (Bar("speedup", "throughput of 4 workers ÷ 1", "≥", 3.4),),
    "postgresql": _survives("postgresql", "PostgreSQL restarted"),
    "redis": _survives("redis", "Redis away"),
    "hanging": _survives("hanging", "database proxy hangs"),
    "clocks": _survives("clocks", "clocks ± 10 min and kills"),
    "rolled_out": (
        *_survives("rolled_out", "two versions, workers replaced"),
        Bar("rolled_out_foreign", "runs claimed by a worker of another version", "=", 0, ".0f"),
    ),
    "migrating": (
        Bar("migrating_missing", "killed during migrations: migrations missing", "=", 0, ".0f"),
        Bar("migrating_kills", "killed during migrations: kills", ">", 0, ".0f"),
    ),
    "requests": (
        Bar("uploads_lost", "killed during uploads: files lost or damaged", "=", 0, ".0f"),
        Bar("uploads_left_over", "killed during uploads: files that nobody sent", "=", 0, ".0f"),
        Bar("uploads_kills", "killed during uploads: kills", ">", 0, ".0f"),
        Bar("indexing_lost", "killed during indexing: documents lost", "=", 0, ".0f"),
        Bar("indexing_twice", "killed during indexing: documents indexed twice", "=", 0, ".0f"),
        Bar("indexing_kills", "killed during indexing: kills", ">", 0, ".0f"),
        Bar("exports_lost", "killed during exports: exports that differ after", "=", 0, ".0f"),
        Bar("exports_kills", "killed during exports: kills", ">", 0, ".0f"),
    ),
    "restored": (
        Bar("restored_unfinished", "runs that did not complete, original and copy", "=", 0, ".0f"),
        Bar("restored_lost", "runs that the copy lacks", "=", 0, ".0f"),
        Bar("restored_in_progress", "runs unfinished when it was backed up", ">", 0, ".0f"),
    ),
}  # fmt: skip
"""Bars by part, in the order in which the parts run."""

TRIALS: Mapping[str, Callable[[Extent], Figures]] = {
    "postgresql": postgresql_restarted,
    "redis": redis_away,
    "hanging": proxy_hangs,
    "clocks": clocks_off,
    "restored": restored,
    "rolled_out": rolled_out,
    "migrating": migrating,
    "requests": requests,
}


@dataclass(frozen=True)
class Choice:
    """Which parts run, runs of the kills and of one process, and the extent of other trials."""

    parts: Sequence[str]
    runs: int
    extent: Extent
    at_once: int = 200


def print_table(choice: Choice) -> int:
    """Run the parts, print each row as it is known, and return the number of bars missed."""
    missed = 0
    for part in choice.parts:
        load, began = os.getloadavg()[0], monotonic()
        figures, problem = _measured(part, choice)
        print(f"{part}: {_described(figures, problem, load, monotonic() - began)}")
        for bar in BARS[part]:
            value = figures.get(bar.key)
            reached = bar.reached(value)
            missed += not reached
            mark = "" if reached else "missed"
            print(f"  {bar.text:62} {bar.shown(value):>9} {bar.wanted:>9}  {mark}", flush=True)
    print(f"{missed} missed")
    return missed


def _measured(part: str, choice: Choice) -> tuple[Figures, str]:
    """Return the figures, and why there are none."""
    try:
        if part == "kills":
            return kills(choice.extent, choice.runs), ""
        if part == "at_once":
            return at_once(choice.at_once), ""
        if part in TRIALS:
            return TRIALS[part](choice.extent), ""
        return measure(part), ""
    except (NoServer, CalledProcessError, TimeoutError) as error:
        return {}, str(error)


def _described(figures: Figures, problem: str, load: float, seconds: float) -> str:
    if problem:
        return f"not measured: {problem}"
    rows = {bar.key for bars in BARS.values() for bar in bars}
    others = [f"{name} {value:g}" for name, value in figures.items() if name not in rows]
    busy = load > BUSY_LOAD * (os.cpu_count() or 1)
    note = f"load {load:.1f} before" + (": too busy to quote durations" if busy else "")
    return ", ".join([f"{seconds:.0f} s", note, *others])
