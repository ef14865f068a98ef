"""Run one measurement and print its figures."""

from __future__ import annotations

import argparse
import json

from bench import scale
from bench.scale.parts import PARTS, measure


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench.scale", description=scale.__doc__)
    parser.add_argument("part", choices=PARTS)
    options = parser.parse_args()
    print(json.dumps(measure(options.part), indent=1))


if __name__ == "__main__":
    main()
