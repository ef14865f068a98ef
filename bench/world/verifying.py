"""The world's verifier: facts by their grammar, planted pairs by their words, labelled ones by
their labels. With an error rate it errs on that share of pairs, always on the same ones.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from bench.world.grammar import parse
from research.engine.text.tokens import term_set
from research.engine.verifier.canary_kinds import rewordings
from research.engine.verifier.pairs import QUALIFICATION_FILE

CLAIMS = Path(__file__).parents[1] / "claims" / "claims.jsonl"
_QUOTE = re.compile(r'^\s+"(?P<text>.*)"(?: \(.*\))?$')
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")

ERROR_RATES = {"honest": 0.10, "weak": 0.20, "careless": 0.30}
CONSTANT = {"yes": True, "no": False}
"""Stubs that say the same of everything."""


@dataclass(frozen=True)
class Asked:
    """A statement by its number and the quotes under it."""

    number: int
    statement: str
    quotes: tuple[str, ...]


def asked_in(listed: str) -> Iterator[Asked]:
    """Read the section `# STATEMENTS` of a prompt."""
    for block in re.split(r"\n(?=\[\d+\] )", listed.strip("\n")):
        head, *lines = block.split("\n")
        number, _, statement = head.removeprefix("[").partition("] ")
        quotes = (found["text"] for line in lines if (found := _QUOTE.match(line)))
        yield Asked(int(number), statement, tuple(quotes))


def is_carried(statement: str, quotes: Sequence[str]) -> bool:
    """Return the right verdict as far as the prompt alone, or a label, tells it."""
    label = labels().get(statement)
    if label is not None:
        return label
    parts = [part for quote in quotes for part in (quote, *_SENTENCE_END.split(quote))]
    if fact := parse(statement):
        return fact in [parse(part) for part in parts]
    known = term_set(" ".join((*quotes, *rewordings().values(), *_NUMBERS)))
    return term_set(statement) <= known


_NUMBERS = tuple(str(number) for number in range(13))


@cache
def labels() -> dict[str, bool]:
    """Statement → whether its quote carries it, of all labelled pairs."""
    rows = [
        json.loads(line)
        for path in (QUALIFICATION_FILE, CLAIMS)
        for line in path.read_text("utf-8").splitlines()
    ]
    return {row["claim"]: row["faithful"] for row in rows}


def verdicts(
    listed: str, judge: Callable[[str, Sequence[str]], bool] = is_carried
) -> dict[str, Any]:
    """Return an answer of task `verify`; the second look finds what the first one did."""
    found: dict[str, Any] = {"carried": [], "more": [], "other": []}
    every = list(asked_in(listed))
    for asked in every:
        carried = judge(asked.statement, asked.quotes)
        found["carried" if carried else "more"].append(asked.number)
    return found | {"faults": [2 * len(every) + 1 - number for number in found["more"]]}


def stub(name: str, seed: int = 0) -> Callable[[str, Sequence[str]], bool]:
    """Return a verifier: one of `CONSTANT`, or one that errs at its rate of `ERROR_RATES`."""
    if name in CONSTANT:
        return lambda statement, quotes: CONSTANT[name]
    rate = ERROR_RATES[name]

    def judge(statement: str, quotes: Sequence[str]) -> bool:
        errs = Random(f"{seed} {statement}").random() < rate
        return is_carried(statement, quotes) is not errs

    return judge
