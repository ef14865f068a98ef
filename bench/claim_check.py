"""How many claims does code vouch for, refuse or leave undecided? Each kind with its denominator.

`python -m bench.claim_check [--part PART]` reads `bench/claims`; its README describes the rows.
Rules may be tuned on the parts called `tuning` and on those that are spent.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from bench.page import table
from research.engine.evidence.claim_check import Outcome, RefusesBy, check_claim
from research.engine.rounds.findings import find_claim_fault

FOLDER = Path(__file__).parent / "claims"
LATER_PARTS = (
    "held_out_2", "held_out_3", "tuning_4", "held_out_4", "tuning_5", "held_out_5", "held_out_6",
    "held_out_7", "tuning_6", "held_out_8", "held_out_9",
)  # fmt: skip
PARTS = ("tuning", "held_out", *LATER_PARTS)
OUTCOMES: tuple[Outcome, ...] = ("carried", "undecided", "refused")
MOST_FAITHFUL_REFUSED = 0.12
MOST_UNFAITHFUL_CARRIED = 0.35

Row = Mapping[str, Any]


def read_rows(name: str) -> list[Row]:
    """Return the rows of one file of the folder; none if there is no such file."""
    if not (FOLDER / name).exists():
        return []
    lines = (FOLDER / name).read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines if line]


def read_parts(name: str) -> list[Row]:
    """Return the rows of `NAME.jsonl` and of its later parts, such as `NAME_held_out_2.jsonl`."""
    names = (name, *(f"{name}_{part}" for part in LATER_PARTS))
    return [row for each in names for row in read_rows(f"{each}.jsonl")]


def claim_rows(part: str) -> list[Row]:
    """Return the claims of a part, each with its paragraph's title and text as `context`."""
    paragraphs = {row["id"]: row for row in read_parts("paragraphs") if row["part"] == part}
    return [
        {**row, "context": f"{paragraph['title']}. {paragraph['text']}"}
        for row in read_parts("claims")
        if (paragraph := paragraphs.get(row["paragraph"]))
    ]


def outcome_of(row: Row) -> Outcome:
    """Return what code makes of one labelled claim."""
    return check_claim(row["claim"], row["quote"], row.get("context", "")).outcome


def count_outcomes(rows: Iterable[Row]) -> dict[tuple[bool, str], dict[Outcome, int]]:
    """Counts of outcomes by label and kind."""
    counts: dict[tuple[bool, str], dict[Outcome, int]] = defaultdict(
        lambda: dict.fromkeys(OUTCOMES, 0)
    )
    for row in rows:
        counts[row["faithful"], row["kind"]][outcome_of(row)] += 1
    return counts


def summary(counts: Mapping[tuple[bool, str], Mapping[Outcome, int]]) -> str:
    """Return the two shares that have a bar, and the outcomes of each kind."""
    return "\n\n".join(
        (
            _against_bar(counts, True, "refused", MOST_FAITHFUL_REFUSED),
            _against_bar(counts, False, "carried", MOST_UNFAITHFUL_CARRIED),
            table(("label", "kind", *OUTCOMES, "claims"), _lines(counts), texts=2),
        )
    )


def told_of_reading(rows: Sequence[Row]) -> str:
    """Return how many claims would give way to their quotes when their page is read."""
    return "\n".join(
        f"{'' if faithful else 'un'}faithful claims replaced by their quotes at reading: "
        f"{_count_replaced(mine, 'likeness')} of {len(mine)}, "
        f"{_count_replaced(mine, 'things')} with a good verifier"
        for faithful in (True, False)
        if (mine := [row for row in rows if row["faithful"] is faithful])
    )


def _count_replaced(rows: Iterable[Row], by: RefusesBy) -> int:
    faults = (find_claim_fault(r["claim"], r["quote"], r["context"], by=by) for r in rows)
    return sum(map(bool, faults))


def _against_bar(
    counts: Mapping[tuple[bool, str], Mapping[Outcome, int]],
    faithful: bool,
    outcome: Outcome,
    most: float,
) -> str:
    rows = [by for (label, _), by in counts.items() if label == faithful]
    found, total = sum(by[outcome] for by in rows), sum(sum(by.values()) for by in rows)
    name = "faithful" if faithful else "unfaithful"
    return f"{name} claims {outcome}: {found} of {total} = {found / total:.1%} (at most {most:.0%})"


def _lines(counts: Mapping[tuple[bool, str], Mapping[Outcome, int]]) -> Iterable[Sequence[str]]:
    for faithful in (False, True):
        kinds = {kind: by for (label, kind), by in counts.items() if label == faithful}
        name = "faithful" if faithful else "unfaithful"
        for kind in sorted(kinds):
            yield (name, kind, *_cells(kinds[kind]))
        total = {o: sum(by[o] for by in kinds.values()) for o in OUTCOMES}
        yield (name, "all", *_cells(total))


def _cells(by: Mapping[Outcome, int]) -> list[str]:
    return [*(str(by[outcome]) for outcome in OUTCOMES), str(sum(by.values()))]


def main() -> None:
    """Print the figures of one part."""
    options = argparse.ArgumentParser(prog="python -m bench.claim_check", description=__doc__)
    options.add_argument("--part", choices=PARTS, default="tuning")
    part = options.parse_args().part
    rows = claim_rows(part)
    if not rows:
        options.error(f"the folder has no claims of the part {part}")
    print(f"part: {part}\n\n{summary(count_outcomes(rows))}\n\n{told_of_reading(rows)}")


if __name__ == "__main__":
    main()
