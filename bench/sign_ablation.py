"""What each sign of a passage is worth: the figures without it, on manuals left out.

    .venv/bin/python -m bench.sign_ablation

Each sign in turn is left out, and the other weights are fitted again on three quarters of the
manuals that have been looked at; the passages of the remaining quarter are ranked by them, in turn.
A sign pays if passages without it hold fewer answers in the mean over manuals, of which each counts
alike; the last column says in how many manuals it is so. The fits compare fewer passages than
`bench.fitting` does, with and without the sign alike.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from bench.fitting import Example, examples_by_manual, fitted_signs, shown_of
from research.engine.offline.passages.passage_model import passage_model

FOLDS, OTHERS = 4, 25


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
    examples: Mapping[str, Sequence[Example]], signs: Sequence[str]
) -> list[SignWorth]:
    """Return the worth of each sign, what pays most first."""
    whole = _shares_left_out(examples, "")
    found = []
    for sign in signs:
        without = _shares_left_out(examples, sign)
        firsts = [whole[name][0] - without[name][0] for name in whole]
        fives = [whole[name][1] - without[name][1] for name in whole]
        helped, harmed = (sum(s * each > 0 for each in firsts) for s in (1, -1))
        found.append(SignWorth(sign, fmean(firsts), fmean(fives), helped, harmed))
    return sorted(found, key=lambda each: -(each.first + each.five))


def _shares_left_out(
    examples: Mapping[str, Sequence[Example]], without: str
) -> dict[str, tuple[float, float]]:
    """Return the shares of each manual by weights that are fitted on other manuals."""
    shares: dict[str, tuple[float, float]] = {}
    names = sorted(examples)
    for fold in range(FOLDS):
        left_out = names[fold::FOLDS]
        others = [each for name in names if name not in left_out for each in examples[name]]
        weights = fitted_signs(others, without, OTHERS) if left_out else {}
        shares |= {name: _shares(examples[name], weights) for name in left_out}
    return shares


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
    print(table(worth_of_signs(examples, list(passage_model().signs))))


if __name__ == "__main__":
    main()
