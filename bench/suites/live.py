"""How long a change takes to reach its viewers: one with a browser beside it, and three hundred."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from bench import live, page
from bench.bars import LIVE, Values, bars_table

VIEWERS = 300


def section(files: Sequence[Path]) -> str:
    machine = page.machine()
    few, many = _options(1, browser=True), _options(VIEWERS, browser=False)
    commits, seen, in_browser, _, _ = live.observe(few)
    one = [late for each in seen for late in live.latencies(commits, each["seen"])]
    browser = live.latencies(commits, in_browser)
    right = sum(live.ends_true(each, commits, few.commits) for each in seen)
    commits, seen, _, share, memory = live.observe(many)
    all_of_them = [late for each in seen for late in live.latencies(commits, each["seen"])]
    all_right = sum(live.ends_true(each, commits, many.commits) for each in seen)
    server = f"{share:.0%} of one core, {memory:.0f} MB"
    measured: Values = {"live_one": live.at(one, 0.95), "live_many": live.at(all_of_them, 0.95)}
    return page.rendered(
        "live.md",
        machine=machine,
        bars=page.table(("figure, ms", "bar", "measured", ""), bars_table(LIVE, measured)),
        table=page.table(
            ("", "p50", "p95", "ended on the true state"),
            [
                ["1 viewer, to its socket", *_times(one), f"{right} of 1"],
                ["1 viewer, to the changed page in a browser", *_times(browser), ""],
                [f"{VIEWERS} viewers", *_times(all_of_them),
                 f"{all_right} of {VIEWERS} ({server})"],
            ],
        ),
    )  # fmt: skip


def _options(viewers: int, browser: bool) -> argparse.Namespace:
    return argparse.Namespace(viewers=viewers, commits=120, per_second=8.0, browser=browser)


def _times(milliseconds: list[float]) -> list[str]:
    return [f"{live.at(milliseconds, share):.0f} ms" for share in (0.5, 0.95)]
