"""How much a sentence reads like an order, or like a rule on what others are to write: a linear
model over its words and those of its neighbours.

Fitted by `python -m bench.injection.fitting`, which describes its examples. A word, a pair of words
and the first five letters of either are features, hashed into buckets, and so are the kinds of
words of `order_words.py` that occur together, and the forms that only orders have: a kind says in
one language what was learned in another. Addresses, quotations and figures stand for themselves,
since what an order dictates may be on any subject.
"""

from __future__ import annotations

import json
import re
from base64 import b85decode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import combinations, pairwise
from pathlib import Path
from types import MappingProxyType
from typing import Any
from zlib import crc32

from research.engine.text.folding import folded
from research.engine.text.remembered import remember_texts
from research.engine.text.sentences import REMEMBERED_CHARACTERS, Sentence, text_length
from research.engine.untrusted.addresses import addresses_in
from research.engine.untrusted.dictation import dictates, opens_dictation
from research.engine.untrusted.order_forms import is_for_machines, takes_form
from research.engine.untrusted.order_words import dictation_words, order_words

MODEL = Path(__file__).parent / "data" / "order_model.json"
BUCKETS = 1 << 15
PLACES: Mapping[str, float] = {"own": 0.3, "before": 0.1, "after": 0.05}
"""How much a feature counts in the sentence itself and in its neighbours within the block."""
LIKELY_SCORE = -3.0
"""From here on a sentence may only be quoted: one in thirty of the sentences of packages'
descriptions that it was not fitted on scores as much, and nine in ten orders of other authors.
"""
FURTHER_SCORE = -5.0
"""The same for a sentence that follows such a one in its block, or has the build of dictation."""
FIRM_SCORE = -1.0
"""From here on, where one in a hundred of the descriptions' sentences and three in four of those
orders are, it isn't quoted unless nothing else answers.
"""
STEM = 5
FIRST = 3
_QUOTED = re.compile(
    r"“[^“”]{3,400}(?:”|$)|«[^«»]{3,400}(?:»|$)|„[^„“”]{3,400}(?:[“”]|$)|「[^「」]{2,400}(?:」|$)"
    r"|『[^』]{2,400}(?:』|$)|(?<!\w)\"[^\"]{3,400}(?:\"|$)|(?<!\w)'[^']{8,400}'(?!\w)"
)
"""A quotation, or one that its sentence doesn't end, such as “no second witness was heard”."""
_TOKEN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]|[^\W\d_\u3040-\u30ff\u3400-\u9fff]+|\d+|[^\w\s]")
_ADDRESS, _QUOTATION, _FIGURE = "xaddressx", "xquotationx", "xfigurex"


@dataclass(frozen=True)
class OrderModel:
    """A weight for each bucket."""

    bias: float
    weights: tuple[float, ...]

    def score(self, features: Iterable[tuple[Sequence[int], float]]) -> float:
        return self.bias + sum(
            value * sum(self.weights[bucket] for bucket in buckets) for buckets, value in features
        )


@remember_texts(REMEMBERED_CHARACTERS, text_length)
def order_scores(found: Sequence[Sentence]) -> Mapping[int, float]:
    """Return the score of each sentence by its number."""
    model = order_model()
    scores = {
        sentence.number: model.score(buckets_of(sentence.text, before, after))
        for sentence, before, after in with_neighbours(found)
    }
    return MappingProxyType(scores)


@remember_texts(REMEMBERED_CHARACTERS, text_length)
def likely_orders(found: Sequence[Sentence]) -> frozenset[int]:
    """Return the numbers of the sentences that read like orders or dictation."""
    scores, told = order_scores(found), set[int]()
    for before, sentence in pairwise((None, *found)):
        assert sentence is not None
        goes_on = before and before.number in told and before.block == sentence.block
        is_built = goes_on or dictates(sentence.text) or opens_dictation(sentence.text)
        if scores[sentence.number] >= (FURTHER_SCORE if is_built else LIKELY_SCORE):
            told.add(sentence.number)
    return frozenset(told)


def is_firmly_an_order(text: str) -> bool:
    """Return whether a text by itself hardly reads like anything else than an order."""
    return order_model().score(buckets_of(text, "", "")) >= FIRM_SCORE


def with_neighbours(found: Sequence[Sentence]) -> Iterator[tuple[Sentence, str, str]]:
    """Yield each sentence with the texts before and after it in its block; "" where it has none."""
    around = (None, *found, None)
    for before, sentence, after in zip(around, found, around[2:], strict=False):
        yield (
            sentence,
            before.text if before and before.block == sentence.block else "",
            after.text if after and after.block == sentence.block else "",
        )


def buckets_of(text: str, before: str, after: str) -> Iterator[tuple[Sequence[int], float]]:
    """Yield the buckets of each place's features, and the value that they have there."""
    for seed, (value, said) in enumerate(zip(PLACES.values(), (text, before, after), strict=True)):
        if said:
            yield [crc32(each, seed) % BUCKETS for each in _features(said)], value


@lru_cache(maxsize=4_000)
def _features(text: str) -> tuple[bytes, ...]:
    words = _words(text)
    stems = [word[:STEM] for word in words if word.isalpha()]
    found = {f"w {word}" for word in words}
    found.update(f"w {one} {other}" for one, other in pairwise(("^", *words, "$")))
    found.update(f"s {stem}" for stem in stems)
    found.update(f"s {one} {other}" for one, other in pairwise(stems))
    found.update(f"{at} {word}" for at, word in enumerate(words[:FIRST]))
    found.update(_kinds(text))
    return tuple(each.encode() for each in sorted(found))


def _kinds(said: str) -> Iterator[str]:
    """Yield the kinds of words that occur together outside quotations, and forms of orders."""
    plain = folded(_QUOTED.sub(" ", said))
    of_texts = [sorted(words.by_kind) for words in dictation_words(plain).values()]
    of_orders = {kind for words in order_words(plain).values() for kind in words.by_kind}
    for name, found in (("d", max(of_texts, key=len, default=[])), ("o", sorted(of_orders))):
        yield from (f"k{name} {kind}" for kind in found)
        yield from (f"k{name} {one} {other}" for one, other in combinations(found, 2))
    forms = {
        "form": takes_form(said, ""), "machines": is_for_machines(said),
        "dictates": dictates(said), "opens": opens_dictation(said),
    }  # fmt: skip
    yield from (f"f {name}" for name, has_it in forms.items() if has_it)


def _words(text: str) -> list[str]:
    for address in reversed(addresses_in(text)):
        text = f"{text[: address.start]} {_ADDRESS} {text[address.end :]}"
    plain = folded(_QUOTED.sub(f" {_QUOTATION} ", text))
    return [_FIGURE if word.isdigit() else word for word in _TOKEN.findall(plain)]


@cache
def order_model() -> OrderModel:
    """Return the stored model."""
    stored = json.loads(MODEL.read_text("utf-8"))
    return OrderModel(stored["bias"], tuple(unpacked(stored)))


def unpacked(stored: Mapping[str, Any]) -> list[float]:
    """Return the weights of a stored model, each from its byte."""
    packed = b85decode("".join(stored["weights"]))
    return [(each - 256 if each > 127 else each) * stored["unit"] for each in packed]
