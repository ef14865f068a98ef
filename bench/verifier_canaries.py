"""Canaries on the tuning part of `bench/claims`: shown for labelling, and to a discriminator.

A field's paragraphs are what a run has read; the claims on some of them that code leaves undecided
are its statements. The discriminator is a naive Bayes classifier over simple features, trained on
other fields than it is tested on.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from bench.claim_check import read_parts
from research.engine.evidence.claim_check import check_claim
from research.engine.text.tokens import term_set, words_in
from research.engine.verifier.canaries import make_canaries, passages_of, usable_passages
from research.engine.verifier.canary_kinds import UNFAITHFUL, Phrases
from research.engine.verifier.pairs import CitedQuote, LabelledPair, Pair
from research.engine.verifier.planting import MOST_PASSAGES

STATEMENTS = 8
CALLS_PER_FIELD = 3
EXAMPLES = 50
BINS = 5
Features = tuple[float, ...]


@dataclass(frozen=True)
class Shown:
    """One item of a call and whether it is a canary."""

    features: Features
    is_canary: bool


@dataclass(frozen=True)
class Row:
    """A labelled claim; `context` is its paragraph with the title."""

    statement: str
    quote: str
    faithful: bool
    kind: str
    context: str


@dataclass(frozen=True)
class Paragraph:
    text: str
    claims: tuple[Row, ...]


def rows_by_field(part: str) -> dict[str, list[Paragraph]]:
    """Return a part's paragraphs with their claims, by field."""
    claims: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for row in read_parts("claims"):
        claims[row["paragraph"]].append(row)
    fields: dict[str, list[Paragraph]] = defaultdict(list)
    for each in read_parts("paragraphs"):
        if each["part"] == part:
            context = f"{each['title']}. {each['text']}"
            rows = (
                Row(row["claim"], row["quote"], row["faithful"], row["kind"], context)
                for row in claims[each["id"]]
            )
            fields[each["field"]].append(Paragraph(each["text"], tuple(rows)))
    return dict(sorted(fields.items()))


def calls(seed: int) -> Iterator[tuple[str, list[Pair], list[LabelledPair]]]:
    """Yield a field, the undecided statements of a call on it, and the canaries among them.

    The paragraphs of all fields are what the run has read.
    """
    fields = rows_by_field("tuning")
    names, every = list(fields), [each for found in fields.values() for each in found]
    for at, field in enumerate(names):
        near = [each for name in (names * 2)[at : at + 3] for each in fields[name]]
        undecided = _undecided(near)
        for turn in range(CALLS_PER_FIELD):
            yield field, *_call(every, undecided, Random(f"{seed} {field} {turn}"))


def _undecided(paragraphs: Sequence[Paragraph]) -> list[Pair]:
    return [
        Pair(row.statement, (CitedQuote(row.quote),))
        for paragraph in paragraphs
        for row in paragraph.claims
        if check_claim(row.statement, row.quote, row.context).outcome == "undecided"
    ]


def _call(
    paragraphs: Sequence[Paragraph], undecided: Sequence[Pair], chance: Random
) -> tuple[list[Pair], list[LabelledPair]]:
    stated = chance.sample(undecided, min(STATEMENTS, len(undecided)))
    taken = [quote.text for pair in stated for quote in pair.quotes]
    read = [
        passage
        for paragraph in paragraphs
        for passage in passages_of(paragraph.text, chance, taken)
    ]
    spare = usable_passages(chance.sample(read, min(MOST_PASSAGES, len(read))), taken)
    return stated, make_canaries(spare, stated, len(stated), chance)


def labelled_examples(kind: str, count: int = EXAMPLES) -> list[LabelledPair]:
    """Return sentences of the tuning part made unfaithful in one way that code lets pass."""
    chance, found = Random(f"examples {kind}"), []
    for paragraphs in rows_by_field("tuning").values():
        read = [each for p in paragraphs for each in passages_of(p.text, chance)]
        phrases = Phrases.of([each.sentence for each in read])
        for each in read:
            made = UNFAITHFUL[kind](each.sentence, each.quote.text, phrases, chance)
            if made and check_claim(made, each.quote.text, "", by="proof").outcome != "refused":
                found.append(LabelledPair(Pair(made, (each.quote,)), False, kind))
    return chance.sample(found, min(count, len(found)))


# --- the discriminator ------------------------------------------------------------------------


def features_of(pair: Pair, position: float) -> Features:
    """Lengths, position, and shares of the words that statement and quote have in common."""
    quote = pair.quotes[0].text
    said, quoted = term_set(pair.statement), term_set(quote)
    shared = len(said & quoted)
    return (
        words_in(pair.statement),
        words_in(quote),
        words_in(pair.statement) / max(1, words_in(quote)),
        position,
        shared / max(1, len(said)),
        shared / max(1, len(quoted)),
    )


def shown_items(seed: int) -> dict[str, list[Shown]]:
    """Return the items of all calls by field, in the order in which a call shows them."""
    by_field: dict[str, list[Shown]] = defaultdict(list)
    for number, (field, stated, canaries) in enumerate(calls(seed)):
        items = [(pair, False) for pair in stated] + [(each.pair, True) for each in canaries]
        Random(number).shuffle(items)
        by_field[field] += [
            Shown(features_of(pair, at / len(items)), is_canary)
            for at, (pair, is_canary) in enumerate(items)
        ]
    return by_field


class NaiveBayes:
    """Features cut into bins of equal counts, taken as independent."""

    def __init__(self, known: Sequence[Shown]) -> None:
        columns = list(zip(*(each.features for each in known), strict=True))
        self.edges = [self._edges(sorted(column)) for column in columns]
        self.counts = {
            True: [Counter[int]() for _ in columns],
            False: [Counter[int]() for _ in columns],
        }
        self.totals = Counter(each.is_canary for each in known)
        for each in known:
            for at, place in enumerate(self._bins(each.features)):
                self.counts[each.is_canary][at][place] += 1

    @staticmethod
    def _edges(values: Sequence[float]) -> list[float]:
        return [values[len(values) * part // BINS] for part in range(1, BINS)]

    def _bins(self, features: Features) -> list[int]:
        return [
            sum(value >= edge for edge in edges)
            for value, edges in zip(features, self.edges, strict=True)
        ]

    def takes_for_canary(self, features: Features) -> bool:
        return self._weight(features, True) > self._weight(features, False)

    def _weight(self, features: Features, is_canary: bool) -> float:
        counts, total = self.counts[is_canary], self.totals[is_canary]
        return sum(
            math.log((counts[at][place] + 1) / (total + BINS))
            for at, place in enumerate(self._bins(features))
        )


def spotted_share(seed: int) -> float:
    """Return the share of items that the discriminator puts right; canaries and statements weigh
    alike, so that guessing gives one half.
    """
    by_field = shown_items(seed)
    right, seen = Counter[bool](), Counter[bool]()
    for field, tested in by_field.items():
        known = [each for other, items in by_field.items() if other != field for each in items]
        judge = NaiveBayes(known)
        for each in tested:
            seen[each.is_canary] += 1
            right[each.is_canary] += judge.takes_for_canary(each.features) is each.is_canary
    return sum(right[kind] / seen[kind] for kind in seen) / 2
