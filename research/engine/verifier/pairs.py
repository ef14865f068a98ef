"""Statements with the quotes that are cited for them, and the labelled ones of the product."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

DATA = Path(__file__).parent / "data"
QUALIFICATION_FILE = DATA / "qualification.jsonl"
CONCLUSION = "(conclusion)"
"""What marks a statement that concludes from its quotes."""


@dataclass(frozen=True)
class CitedQuote:
    """A quote and the words that name its source: title, section, site."""

    text: str
    source: str = ""


@dataclass(frozen=True)
class Pair:
    """A statement and its quotes, as a verifier judges them."""

    statement: str
    quotes: tuple[CitedQuote, ...]


@dataclass(frozen=True)
class LabelledPair:
    """A pair with the right answer. `kind` names the way in which it was made."""

    pair: Pair
    faithful: bool
    kind: str


@cache
def qualification_pairs() -> tuple[LabelledPair, ...]:
    """Return the labelled pairs that a verifier is qualified by, half of them unfaithful."""
    lines = QUALIFICATION_FILE.read_text("utf-8").splitlines()
    return tuple(_labelled(json.loads(line)) for line in lines if line)


def _labelled(row: dict[str, str | bool]) -> LabelledPair:
    pair = Pair(str(row["claim"]), (CitedQuote(str(row["quote"])),))
    return LabelledPair(pair, bool(row["faithful"]), str(row["kind"]))
