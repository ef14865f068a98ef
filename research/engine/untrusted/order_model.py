"""How much a sentence reads like an order, or like a rule on what others are to write: a linear
model over its words and those of its neighbours.

Fitted by `python -m bench.injection.fitting`, which describes its examples, also to what surrounds
a sentence, to what it only embeds (`embedded_parts.py`), and to the words for what people tell each
other around it. The features are in `order_features.py`.
"""

from __future__ import annotations

import json
from base64 import b85decode
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from research.engine.text.remembered import remember_texts
from research.engine.text.sentences import (
    REMEMBERED_CHARACTERS,
    Sentence,
    text_length,
)
from research.engine.untrusted.order_ceilings import Ceilings
from research.engine.untrusted.order_features import (
    BUCKETS,
    REACH,
    REST,
    Features,
    PageFeatures,
    buckets_around,
    buckets_of,
    word_sums,
)

MODEL = Path(__file__).parent / "data" / "order_model.json"
"""Of a text by itself (`is_firmly_an_order`): an earlier fit."""
EMBEDDED_MODEL = MODEL.with_name("embedded_model.json")
FIRM_SCORE = -1.0
"""By that model, from here on, where one in a hundred of the sentences of packages' descriptions
that it was not fitted on and three in four orders of other authors are, a text isn't quoted unless
nothing else answers.
"""
EMBEDDED_SCORE, EMBEDDED_RULED_SCORE = -2.6, -5.8
"""By `EMBEDDED_MODEL`, from here on a sentence, and one that is an order by the rules, may only be
quoted.
"""
REMOVED_SCORE = 1.0
"""By that model, from here on an order by the rules isn't shown at all: of authors that it was not
fitted on one in forty of those that it takes for orders has less, and nearly all honest ones have.
"""
ROUNDING = 1e-6
"""More than what sums in another order may differ by."""


@dataclass(frozen=True)
class OrderModel:
    """A weight for each bucket."""

    bias: float
    weights: tuple[float, ...]

    def score(self, features: Iterable[tuple[Collection[int], float]]) -> float:
        weights = self.weights
        return self.bias + sum(
            value * sum([weights[each] for each in buckets]) for buckets, value in features
        )


@remember_texts(REMEMBERED_CHARACTERS, text_length)
def steering_scores(found: Sequence[Sentence], asked: str) -> Mapping[int, float]:
    """Return how much each sentence reads as if it steered its reader, by its number: by its words,
    by those around it, and by how little it shares with the page and the question.
    """
    model = order_model(EMBEDDED_MODEL)
    scored = page_features(found, asked)
    return MappingProxyType({each.number: model.score(features) for each, features in scored})


@remember_texts(REMEMBERED_CHARACTERS, text_length)
def steering_sentences(found: Sequence[Sentence], asked: str, least: float) -> frozenset[int]:
    """Return the numbers of the sentences with at least this score. What a sentence is on its page
    is only found where, with its words and those around it, it may make the difference.
    """
    model, ceilings = order_model(EMBEDDED_MODEL), _ceilings(EMBEDDED_MODEL)
    page, numbers = PageFeatures(found, asked), set[int]()
    for group in page.groups():
        for at, said in enumerate(_said(group, EMBEDDED_MODEL)):
            sentence = group[at]
            told = page.told[sentence.block], sentence.number in page.quoted
            if said + ceilings.most_beside(sentence.text, *told) < least - ROUNDING:
                continue
            if model.score(page.of(group, at)) >= least:
                numbers.add(sentence.number)
    return frozenset(numbers)


def _said(group: Sequence[Sentence], path: Path) -> Iterator[float]:
    """Yield the score of each sentence by its words, those next to it and those around it."""
    texts, model = [sentence.text for sentence in group], order_model(path)
    sums, around = [_word_sums(text, path) for text in texts], _sums_around(texts, model.weights)
    for at, others in enumerate(around):
        before = sums[at - 1][1] if at else 0.0
        after = sums[at + 1][2] if at + 1 < len(group) else 0.0
        yield model.bias + sums[at][0] + before + after + REST * others


@lru_cache(maxsize=16_000)
def _word_sums(text: str, path: Path) -> tuple[float, ...]:
    """Return what a text's words add to the score of it, of the next and of the previous one."""
    return word_sums(text, order_model(path).weights)


def _sums_around(texts: Sequence[str], weights: Sequence[float]) -> Iterator[float]:
    """Yield, for each text, the sum of the weights of the features of the others within reach, each
    counted once: features are counted as they come within reach and leave it.
    """
    buckets = [buckets_around(text) for text in texts]
    counts, total = bytearray(BUCKETS), 0.0
    for coming in range(len(texts) + REACH):
        at, leaving = coming - REACH, coming - 2 * REACH - 1
        for each in buckets[coming] if coming < len(texts) else ():
            if not counts[each]:
                total += weights[each]
            counts[each] += 1
        for each in buckets[leaving] if leaving >= 0 else ():
            counts[each] -= 1
            if not counts[each]:
                total -= weights[each]
        if at >= 0:
            yield total - sum([weights[each] for each in buckets[at] if counts[each] == 1])


def page_features(found: Sequence[Sentence], asked: str) -> Iterator[tuple[Sentence, Features]]:
    """Yield each sentence with the features that its score is the sum of."""
    page = PageFeatures(found, asked)
    for group in page.groups():
        for at, sentence in enumerate(group):
            yield sentence, page.of(group, at)


def is_firmly_an_order(text: str) -> bool:
    """Return whether a text by itself hardly reads like anything else than an order."""
    return order_model().score(buckets_of(text, "", "")) >= FIRM_SCORE


@cache
def order_model(path: Path = MODEL) -> OrderModel:
    """Return a stored model."""
    stored = json.loads(path.read_text("utf-8"))
    return OrderModel(stored["bias"], tuple(unpacked(stored)))


@cache
def _ceilings(path: Path) -> Ceilings:
    return Ceilings(order_model(path).weights)


def unpacked(stored: Mapping[str, Any]) -> list[float]:
    """Return the weights of a stored model, each from its byte."""
    packed = b85decode("".join(stored["weights"]))
    return [(each - 256 if each > 127 else each) * stored["unit"] for each in packed]
