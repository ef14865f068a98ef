"""Run the measurements and print their table."""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Sequence

from bench import scale
from bench.scale.table import BARS, Choice, print_table
from bench.scale.trials import Extent

MINUTE = 60.0


def main(arguments: Sequence[str] | None = None) -> int:
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser("bench.scale", description=scale.__doc__, formatter_class=form)
    parser.add_argument("--only", choices=BARS, action="append", help="all parts where not named")
    parser.add_argument("--runs", type=int, default=24, help="runs of the part with kills")
    parser.add_argument("--kill-minutes", type=float, default=0.5, help="one kill every 10 seconds")
    parser.add_argument("--outage-runs", type=int, default=6, help="runs of each other trial")
    parser.add_argument("--outage-seconds", type=float, default=15.0, help="of each outage")
    parser.add_argument("--at-once", type=int, default=200, help="runs at once in one process")
    options = parser.parse_args(arguments)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # runs the cleanup
    extent = Extent(options.outage_runs, options.kill_minutes * MINUTE, options.outage_seconds)
    choice = Choice(options.only or list(BARS), options.runs, extent, options.at_once)
    return int(bool(print_table(choice)))


if __name__ == "__main__":
    sys.exit(main())
