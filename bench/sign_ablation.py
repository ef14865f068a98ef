"""What each sign of a passage is worth: the figures without it, on manuals left out.

    .venv/bin/python -m bench.sign_ablation

Each sign in turn gets no weight, and the passages of every question over the manuals that have been
looked at are ranked again; the other weights stay as they are, so that a sign which others could
replace seems worth more than it is. A sign pays if passages without it hold fewer answers in the
mean over manuals, of which each counts alike; the last column says in how many manuals it is so.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from bench.fitting import Example, examples_by_manual, shown_of
from research.engine.offline.passages.passage_model import passage_model


@dataclass(frozen=True)
class SignWorth:
    """What is lost without a sign: mean over manuals of the share of questions whose first passage,
    and whose five, hold the answer; `helped` manuals lose, `harmed` ones gain in the first.
    """

    sign: str
    first: float
    five: float
    helped: int
    harmed: int


def worth_of_signs(
    examples: Mapping[str, Sequence[Example]], weights: Mapping[str, float]
) -> list[SignWorth]:
    """Return the worth of each sign by these weights, what pays most first."""
    whole = {name: _shares(some, weights) for name, some in examples.items()}
    found = []
    for sign in weights:
        others = {**weights, sign: 0.0}
        without = {name: _shares(some, others) for name, some in examples.items()}
        firsts = [whole[name][0] - without[name][0] for name in whole]
        fives = [whole[name][1] - without[name][1] for name in whole]
        helped, harmed = (sum(s * each > 0 for each in firsts) for s in (1, -1))
        found.append(SignWorth(sign, fmean(firsts), fmean(fives), helped, harmed))
    return sorted(found, key=lambda each: -(each.first + each.five))


def _shares(examples: Sequence[Example], weights: Mapping[str, float]) -> tuple[float, float]:
    """Return the shares of answerable questions whose first passage, and whose five, are right."""
    held = [
        [right for _, right in shown_of(each, dict(weights))]
        for each in examples
        if each.question.answers
    ]
    return fmean(any(each[:1]) for each in held), fmean(any(each) for each in held)


def table(found: Sequence[SignWorth]) -> str:
    """Return the worths as a Markdown table."""
    lines = [
        "| sign | first passage | five | manuals that lose, gain without it |",
        "| --- | ---: | ---: | --- |",
    ]
    lines += [
        f"| {each.sign} | {each.first:+.3f} | {each.five:+.3f} | {each.helped}, {each.harmed} |"
        for each in found
    ]
    return "\n".join(lines)


def main() -> None:
    examples = asyncio.run(examples_by_manual())
    print(table(worth_of_signs(examples, passage_model().signs)))


if __name__ == "__main__":
    main()
