"""Run a suite and write its section of `docs/benchmarks.md`; called by `make bench`.

    python -m bench engine
    python -m bench data FILE.jsonl [FILE.jsonl …]
    python -m bench retrieval FILE.jsonl [FILE.jsonl …]
    python -m bench quick
    python -m bench scale [--help]
    python -m bench prompts TASK [FILE.md] [--help]

`quick` and `scale` write nothing: they print figures with their bars, and exit with 1 if one is
missed. The options of `scale` are those of `python -m bench.scale`. `prompts` prints the figures of
a prompt, beside those of another version of it.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from bench import page
from bench.bars import QUICK, bars_table
from bench.prompts import main as compare_prompts
from bench.scale.__main__ import main as measure_scale
from bench.suites import (
    ablation,
    dashboard,
    data,
    documentation,
    engine,
    engine_section,
    passages,
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
    "passages": passages.section,
    "retrieval": retrieval.section,
    "dashboard": dashboard.section,
}
"""Suites in the order of the page; each returns its section as Markdown."""


def main() -> int:
    if sys.argv[1:2] == ["scale"]:
        return measure_scale(sys.argv[2:])
    if sys.argv[1:2] == ["prompts"]:
        asyncio.run(compare_prompts(sys.argv[2:]))
        return 0
    parser = argparse.ArgumentParser(prog="bench", description=__doc__.splitlines()[0])
    parser.add_argument("suite", choices=[*SUITES, "quick", "scale", "prompts"])
    parser.add_argument("files", type=Path, nargs="*", help="questions with known evidence")
    options = parser.parse_args()
    started = time.monotonic()
    if options.suite == "quick":
        return quick(started)
    page.put_section(options.suite, SUITES[options.suite](options.files), list(SUITES))
    print(f"{page.PAGE.name}: {options.suite}, {time.monotonic() - started:.0f} s")
    return 0


def quick(started: float) -> int:
    """Print each figure with its bar."""
    values = engine.values(engine.run(engine.QUICK))
    for cells in bars_table(QUICK, values):
        print("{:60} {:>9} {:>9}  {}".format(*cells))
    missed = [bar for bar in QUICK if not bar.reached(values.get(bar.key))]
    failed = [bar for bar in missed if not bar.guarded(values.get(bar.key))]
    kept = len(missed) - len(failed)
    print(f"{len(QUICK) - len(missed)} reached, {kept} open but guarded, {len(failed)} failed")
    print(f"{time.monotonic() - started:.0f} s")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
