"""Discrete simulation of many concurrent runs: throughput, duration and the first bottleneck.

    python -m bench.scale_simulation [--json]

A closed system: as many runs as stated are always in progress. A run is a chain of steps, and each
step takes CPU time of its process, statements of the database, and then an outside call. Processes,
database and model server are queues with a number of places. CPU time and statements are measured
by `python -m bench.run_size`; the other `Costs` are assumptions.
"""

from __future__ import annotations

import argparse
import heapq
import json
import random
from collections import deque
from collections.abc import Iterator
from dataclasses import asdict, dataclass

SEED = 7
MINUTE = 60.0


@dataclass(frozen=True)
class Costs:
    """What one run takes, in seconds of each resource."""

    cpu_seconds: float = 1.3
    statements: int = 315
    statement_seconds: float = 0.0004
    model_calls: int = 8
    model_seconds: float = 2.0
    searches: int = 6
    search_seconds: float = 0.3
    pages: int = 10
    pages_at_once: int = 4
    page_seconds: float = 0.5


@dataclass(frozen=True)
class Site:
    """An installation and its load."""

    runs_at_once: int
    processes: int
    model_places: int
    database_cores: int = 8


@dataclass(frozen=True)
class Result:
    """What the simulation found; `busy` is the utilisation (0-1) of each resource."""

    site: Site
    runs_a_minute: float
    median_seconds: float
    p95_seconds: float
    busy: dict[str, float]

    @property
    def bottleneck(self) -> str:
        """Return the resource that is busy most, or 'none' if all have room."""
        name = max(self.busy, key=lambda each: self.busy[each])
        return name if self.busy[name] > 0.9 else "none"


class Resource:
    """Places with a first-come queue; tokens are the runs that wait."""

    def __init__(self, places: int) -> None:
        self.places = places
        self.free = places
        self.queue: deque[tuple[int, float]] = deque()
        self.busy_seconds = 0.0


Step = tuple[str, float]


def steps_of_run(costs: Costs, process: int, chance: random.Random) -> Iterator[Step]:
    """Yield the steps of a run in order: a resource ('' for waiting outside) and seconds."""
    waves = -(-costs.pages // costs.pages_at_once)
    calls = [("model", costs.model_seconds)] * costs.model_calls
    calls += [("", costs.search_seconds)] * costs.searches + [("", costs.page_seconds)] * waves
    chance.shuffle(calls)
    for resource, seconds in calls:
        yield f"process {process}", costs.cpu_seconds / len(calls)
        yield "database", costs.statements * costs.statement_seconds / len(calls)
        yield resource, chance.expovariate(1 / seconds)


class Simulation:
    """Runs `site.runs_at_once` runs at any time for `seconds`, after as long a warm-up."""

    def __init__(self, costs: Costs, site: Site, seconds: float) -> None:
        self.costs, self.site, self.seconds = costs, site, seconds
        self.chance = random.Random(SEED)
        self.resources = {f"process {n}": Resource(1) for n in range(site.processes)}
        self.resources["database"] = Resource(site.database_cores)
        self.resources["model"] = Resource(site.model_places)
        self.events: list[tuple[float, int, str]] = []
        self.steps: dict[int, Iterator[Step]] = {}
        self.begun: dict[int, float] = {}
        self.durations: list[float] = []
        self.now = 0.0

    def run(self) -> Result:
        for run in range(self.site.runs_at_once):
            # begun over a while, so that not all runs ask for the same thing at once
            heapq.heappush(self.events, (self.chance.random() * self.seconds / 2, run, "begin"))
        while self.events and self.events[0][0] <= 2 * self.seconds:
            self.now, run, done = heapq.heappop(self.events)
            if done in self.resources:
                self._release(self.resources[done], done)
            self._advance(run)
        return self._result()

    def _advance(self, run: int) -> None:
        """Take the next step of a run, or begin the one that takes its place."""
        step = next(self.steps.get(run, iter(())), None)
        if step is None:
            if run in self.begun and self.now >= self.seconds:
                self.durations.append(self.now - self.begun[run])
            self.begun[run] = self.now
            process = run % self.site.processes
            self.steps[run] = steps_of_run(self.costs, process, self.chance)
            step = next(self.steps[run])
        name, seconds = step
        if not name:
            heapq.heappush(self.events, (self.now + seconds, run, ""))
        elif self.resources[name].free:
            self._occupy(name, run, seconds)
        else:
            self.resources[name].queue.append((run, seconds))

    def _occupy(self, name: str, run: int, seconds: float) -> None:
        resource = self.resources[name]
        resource.free -= 1
        begin, end = max(self.now, self.seconds), min(self.now + seconds, 2 * self.seconds)
        resource.busy_seconds += max(0.0, end - begin)
        heapq.heappush(self.events, (self.now + seconds, run, name))

    def _release(self, resource: Resource, name: str) -> None:
        resource.free += 1
        if resource.queue:
            self._occupy(name, *resource.queue.popleft())

    def _result(self) -> Result:
        durations = sorted(self.durations) or [float("nan")]
        of_processes = [r for name, r in self.resources.items() if name.startswith("process")]
        busy = {
            "processes": sum(r.busy_seconds for r in of_processes) / len(of_processes),
            "database": self.resources["database"].busy_seconds / self.site.database_cores,
            "model": self.resources["model"].busy_seconds / self.site.model_places,
        }
        return Result(
            site=self.site,
            runs_a_minute=round(len(self.durations) * MINUTE / self.seconds, 1),
            median_seconds=round(durations[len(durations) // 2], 1),
            p95_seconds=round(durations[int(len(durations) * 0.95)], 1),
            busy={name: round(value / self.seconds, 2) for name, value in busy.items()},
        )


SITES = (
    Site(1, 1, 4),
    Site(20, 1, 4),
    Site(20, 1, 64),
    Site(200, 4, 640),
    Site(200, 16, 640),
    Site(1_000, 16, 3_200),
    Site(1_000, 64, 3_200),
    Site(10_000, 640, 32_000, database_cores=64),
)


def seconds_of(site: Site) -> float:
    """Return how long to simulate: long for few runs, which make few events."""
    return 600.0 if site.runs_at_once < 1_000 else 150.0 if site.runs_at_once < 10_000 else 60.0


def simulate(costs: Costs, site: Site, seconds: float = 0.0) -> Result:
    return Simulation(costs, site, seconds or seconds_of(site)).run()


def table(results: list[Result]) -> str:
    """Return the results as a Markdown table."""
    lines = [
        "| runs at once | processes | model places | database cores | runs a minute | run, median /"
        " p95 | busy: processes / database / model | bottleneck |",
        "| ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- |",
    ]
    for each in results:
        site, busy = each.site, each.busy
        shares = " / ".join(f"{busy[name]:.0%}" for name in ("processes", "database", "model"))
        lines.append(
            f"| {site.runs_at_once:,} | {site.processes:,} | {site.model_places:,} |"
            f" {site.database_cores} | {each.runs_a_minute:,.0f} |"
            f" {each.median_seconds:.0f} / {each.p95_seconds:.0f} s | {shares} |"
            f" {each.bottleneck} |"
        )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench.scale_simulation", description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON list")
    options = parser.parse_args()
    results = [simulate(Costs(), site) for site in SITES]
    print(json.dumps([asdict(each) for each in results]) if options.json else table(results))


if __name__ == "__main__":
    main()
