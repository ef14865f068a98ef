"""How many right computed statements does code keep, and how many wrong ones does it refuse?

`python -m bench.computed_statements [--held-out]` reads `bench/claims/computed.jsonl`: made-up
quotes, an operation, a statement, and whether the statement follows.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterable, Sequence

from bench.claim_check import Row, read_rows
from bench.page import table
from research.engine.evidence.claims.computed import compute
from research.engine.evidence.claims.operands import NotComputedError

LEAST_KEPT = 0.95


def computed_rows(part: str) -> list[Row]:
    """Return the statements of a part."""
    return [row for row in read_rows("computed.jsonl") if row["part"] == part]


def refusal(row: Row) -> str:
    """Why code refuses a statement; "" where it keeps it."""
    quotes = [(record, row["evidence"][record]) for record in row["cited"]]
    try:
        compute(row["statement"], row["operation"], quotes, row["title"])
    except NotComputedError as error:
        return str(error)
    return ""


def summary(rows: Sequence[Row]) -> str:
    """Return the two shares with their bars, and the counts of each operation."""
    kept = [row for row in rows if not refusal(row)]
    right, wrong = [r for r in rows if r["right"]], [r for r in rows if not r["right"]]
    good, bad = sum(row["right"] for row in kept), sum(not row["right"] for row in kept)
    return "\n\n".join(
        (
            f"right ones kept: {good} of {len(right)} = {good / len(right):.1%}"
            f" (at least {LEAST_KEPT:.0%})",
            f"wrong ones refused: {len(wrong) - bad} of {len(wrong)} (all)",
            table(("operation", "right", "kept", "wrong", "refused"), _lines(rows, kept)),
        )
    )


def _lines(rows: Sequence[Row], kept: Sequence[Row]) -> Iterable[Sequence[str]]:
    every = Counter((row["operation"], row["right"]) for row in rows)
    passed = Counter((row["operation"], row["right"]) for row in kept)
    for name in sorted({row["operation"] for row in rows}):
        wrong = every[name, False]
        counts = (every[name, True], passed[name, True], wrong, wrong - passed[name, False])
        yield (name, *map(str, counts))


def main() -> None:
    """Print the figures of one part."""
    options = argparse.ArgumentParser(
        prog="python -m bench.computed_statements", description=__doc__
    )
    options.add_argument("--held-out", action="store_true", help="measure the held-out part")
    part = "held_out" if options.parse_args().held_out else "tuning"
    print(f"part: {part}\n\n{summary(computed_rows(part))}")


if __name__ == "__main__":
    main()
