"""The dashboard suite: update latency, stability of the layout, and pages over many rows."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from playwright.sync_api import Browser

from bench import page
from bench.bars import DASHBOARD, Values, bars_table
from bench.dashboard.access import violations
from bench.dashboard.database import Filled, measure_pages
from bench.dashboard.first_page import FirstPage, first_page
from bench.dashboard.looking import Looked, look
from bench.dashboard.processes import chromium, served
from bench.dashboard.watching import Watched, at, watch

RUNS = 10_000
MANY, MOST, DEAF = 500, 1_000, 50
STEPS = 12


def section(files: Sequence[Path]) -> str:
    machine = page.machine()
    one, many = watch(0, browser=True), watch(MANY - 1, browser=True)
    most = watch(MOST - DEAF, deaf=DEAF)
    with chromium() as browser:
        looked = look(browser)
        first, faults = opened(browser)
    filled = measure_pages(RUNS)
    measured = values(one, many, most, looked, first, faults, filled)
    return page.rendered(
        "dashboard.md",
        machine=machine,
        bars=page.table(("figure", "bar", "measured", ""), bars_table(DASHBOARD, measured)),
        watched=page.table(
            (
                "on one process", "ended on the true state", "browser, p50", "p95",
                "sockets, p50", "p95", "updates in any second", "server: core", "MB at most",
            ),
            [
                _watched("1 viewer", one),
                _watched(f"{MANY} viewers", many),
                _watched(f"{MOST} viewers, {DEAF} of them read nothing", most),
            ],
        ),
        looked=looked,
        first=first,
        faults=faults,
        filled=filled,
        pages=page.table(
            ("page", "queries", "over three runs", "CPU of the server", "from request to answer"),
            [_page(each) for each in filled.pages],
        ),
    )  # fmt: skip


def opened(browser: Browser) -> tuple[FirstPage, list[str]]:
    with served(2) as server:
        server.steps(STEPS)
        return (
            first_page(server, browser, server.sessions[0]),
            violations(server, browser, server.sessions[1]),
        )


def values(
    one: Watched, many: Watched, most: Watched, looked: Looked, first: FirstPage,
    faults: list[str], filled: Filled,
) -> Values:  # fmt: skip
    return {
        "true": (one.true + many.true + most.true) / (1 + MANY + MOST - DEAF),
        "core": most.core,
        "memory": most.megabytes,
        "updates": float(max(many.messages, most.messages)),
        "one": at(one.browser, 0.95),
        "many": at(many.browser, 0.95),
        "fold": float(sum(len(missing) for missing in looked.below.values())),
        "calm": float(looked.updates),
        "lost": float(len(looked.lost)),
        "shift": looked.shift,
        "onlookers": max(looked.onlookers.values()),
        "axe": float(len(faults)),
        "hosts": float(first.other_hosts),
        "weight": first.kilobytes,
        "no_script": float(first.works_without_script),
        "queries": float(sum(each["many"] > each["few"] for each in filled.pages)),
        "slowest": max(each["milliseconds"] for each in filled.pages),
        "slowest_cpu": max(each["cpu"] for each in filled.pages),
    }


def _watched(name: str, found: Watched) -> list[str]:
    return [
        name, f"{found.true} of {found.viewers}", *_times(found.browser), *_times(found.sockets),
        str(found.messages or "–"), f"{found.core:.2f}", f"{found.megabytes:.0f}",
    ]  # fmt: skip


def _times(milliseconds: list[float]) -> list[str]:
    if not milliseconds:
        return ["–", "–"]
    return [f"{at(milliseconds, share):.0f} ms" for share in (0.5, 0.95)]


def _page(opened: dict[str, object]) -> list[str]:
    return [
        str(opened["name"]), str(opened["many"]), str(opened["few"]),
        f"{opened['cpu']:.0f} ms", f"{opened['milliseconds']:.0f} ms",
    ]  # fmt: skip
