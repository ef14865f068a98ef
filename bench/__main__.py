"""Runs a suite and writes its section of `docs/benchmarks.md`: what `make bench` calls.

    python -m bench engine
    python -m bench data FILE.jsonl [FILE.jsonl …]
    python -m bench retrieval FILE.jsonl [FILE.jsonl …]
    python -m bench quick

`quick` writes nothing: it asserts `bench.bars.QUICK` and ends with 1 where one is not met.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from bench import page
from bench.bars import QUICK, bars_table
from bench.suites import (
    ablation,
    dashboard,
    data,
    documentation,
    engine,
    engine_section,
    retrieval,
    speed,
)

Suite = Callable[[Sequence[Path]], str]


def engine_suite(files: Sequence[Path]) -> str:
    machine = page.machine()
    return engine_section.section(engine.run(), machine)


SUITES: dict[str, Suite] = {
    "engine": engine_suite,
    "ablation": ablation.section,
    "speed": speed.section,
    "data": data.section,
    "documentation": documentation.section,
    "retrieval": retrieval.section,
    "dashboard": dashboard.section,
}
"""In the order of the page; each gives its section as Markdown."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="bench", description=__doc__.splitlines()[0])
    parser.add_argument("suite", choices=[*SUITES, "quick"])
    parser.add_argument("files", type=Path, nargs="*", help="questions with known evidence")
    options = parser.parse_args()
    started = time.monotonic()
    if options.suite == "quick":
        return quick(started)
    page.put_section(options.suite, SUITES[options.suite](options.files), list(SUITES))
    print(f"{page.PAGE.name}: {options.suite}, {time.monotonic() - started:.0f} s")
    return 0


def quick(started: float) -> int:
    """Prints each figure beside what it has to be."""
    values = engine.values(engine.run(engine.QUICK))
    for cells in bars_table(QUICK, values):
        print("{:60} {:>9} {:>9}  {}".format(*cells))
    failed = [bar.text for bar in QUICK if not bar.reached(values.get(bar.key))]
    print(f"{len(QUICK) - len(failed)} passed, {len(failed)} failed")
    print(f"{time.monotonic() - started:.0f} s")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
