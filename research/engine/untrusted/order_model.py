"""How much a sentence reads like an order, or like a rule on what others are to write: a linear
model over its words and those of its neighbours.

Fitted by `python -m bench.injection.fitting`, which describes its examples, also to what surrounds
a sentence, to what it only embeds (`embedded_parts.py`), and to the words for what people tell each
other around it. A word, a pair of words and the first five letters of either are features, hashed
into buckets, and so are the kinds of words of `order_words.py` that occur together, and the forms
that only orders have: a kind says in one language what was learned in another. Addresses,
quotations and figures stand for themselves, since what an order dictates may be on any subject.
"""

from __future__ import annotations

import json
import re
from base64 import b85decode
from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import combinations, groupby, pairwise, repeat
from pathlib import Path
from types import MappingProxyType
from typing import Any
from zlib import crc32

from research.engine.text.folding import folded
from research.engine.text.remembered import remember_texts
from research.engine.text.sentences import (
    REMEMBERED_CHARACTERS,
    Sentence,
    text_length,
)
from research.engine.untrusted.addresses import addresses_in
from research.engine.untrusted.dictation import dictates, opens_dictation
from research.engine.untrusted.embedded_parts import (
    QUOTED,
    PageTerms,
    Standing,
    embedded_parts,
    share_known,
    within_quotations,
)
from research.engine.untrusted.order_forms import is_for_machines, takes_form
from research.engine.untrusted.order_signs import order_points
from research.engine.untrusted.order_words import (
    content_terms,
    dictation_kinds,
    order_words,
    telling_kinds,
)

MODEL = Path(__file__).parent / "data" / "order_model.json"
"""Of a text by itself (`is_firmly_an_order`): an earlier fit."""
EMBEDDED_MODEL = MODEL.with_name("embedded_model.json")
BUCKETS = 1 << 15
_NUMBERS = tuple(range(BUCKETS))
"""Each bucket's number once, for all texts that are remembered."""
PLACES: Mapping[str, float] = {"own": 0.3, "before": 0.1, "after": 0.05}
"""How much a feature counts in the sentence itself and in its neighbours within the block."""
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
REST, SURROUNDINGS, EMBEDDED = 0.1, 0.4, 0.3
"""How much a feature of the other sentences around, one of the surroundings, and one of what is
embedded counts.
"""
REACH = 6
"""Sentences on either side that are around."""
SHARES_OF_SENTENCE = (0.1, 0.25, 0.4, 0.6)
SHARES_OF_BLOCK = (0.1, 0.25, 0.4)
MOST_POINTS = 7
LEAST_EMBEDDED = 2
STEM = 5
FIRST = 3
_EMBEDDED_SEED = len(PLACES) + 2
_TOKEN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]|[^\W\d_\u3040-\u30ff\u3400-\u9fff]+|\d+|[^\w\s]")
_ENDS = frozenset(".!?。！？…;；")
_MARKS = "“”«»„「」『』\"' "
_ADDRESS, _QUOTATION, _FIGURE = "xaddressx", "xquotationx", "xfigurex"


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
    scored = surrounded_features(found, asked)
    return MappingProxyType({each.number: model.score(features) for each, features in scored})


@remember_texts(REMEMBERED_CHARACTERS, text_length)
def steering_sentences(found: Sequence[Sentence], asked: str, least: float) -> frozenset[int]:
    """Return the numbers of the sentences with at least this score. What is around a sentence is
    only put together where its words may make the difference.
    """
    path = EMBEDDED_MODEL
    model, numbers = order_model(path), set[int]()
    for sentence, others, features in _own_features(found, asked):
        score = model.score(features)
        if score + REST * sum([_most_around(text, path) for text in others]) < least:
            continue
        if score + model.score([(_around(others), REST)]) - model.bias >= least:
            numbers.add(sentence.number)
    return frozenset(numbers)


@lru_cache(maxsize=4_000)
def _most_around(text: str, path: Path) -> float:
    """Return the most that a text's features may add to the sum of those around a sentence."""
    weights = order_model(path).weights
    return sum([max(0.0, weights[each]) for each in _buckets(text, len(PLACES))])


def surrounded_features(
    found: Sequence[Sentence], asked: str
) -> Iterator[tuple[Sentence, list[tuple[Collection[int], float]]]]:
    """Yield each sentence with the buckets of its features, of those around it, of its surroundings
    and of what it embeds, and the value that they have there.
    """
    for sentence, others, features in _own_features(found, asked):
        yield sentence, [*features, (_around(others), REST)]


def _around(others: Iterable[str]) -> Collection[int]:
    """Return the buckets of the features of the other sentences around one, each once."""
    return set[int]().union(*(_buckets(text, len(PLACES)) for text in others))


def _own_features(
    found: Sequence[Sentence], asked: str
) -> Iterator[tuple[Sentence, Sequence[str], list[tuple[Collection[int], float]]]]:
    """Yield each sentence with the other ones around, and the rest of `surrounded_features`."""
    known = PageTerms.of(found, asked)
    told = _kinds_told(found)
    quoted = frozenset(within_quotations(found))
    for group in _groups(found):
        for at, sentence in enumerate(group):
            near = group[max(0, at - REACH) : at + REACH + 1]
            others = [other.text for other in near if other is not sentence]
            before = group[at - 1].text if at else ""
            after = group[at + 1].text if at + 1 < len(group) else ""
            around = _hashed(_surroundings(sentence, known), len(PLACES) + 1)
            features = [*buckets_of(sentence.text, before, after), (around, SURROUNDINGS)]
            is_quoted = sentence.number in quoted
            standing = known.standing(sentence) if known.is_enough else None
            features.append((_telling(told[sentence.block], is_quoted, standing), EMBEDDED))
            embedded = dict.fromkeys(_embedded(sentence, known))
            features.append((_hashed(map(str.encode, embedded), _EMBEDDED_SEED), EMBEDDED))
            yield sentence, others, features


def _hashed(features: Iterable[bytes], seed: int) -> tuple[int, ...]:
    return tuple([_NUMBERS[code % BUCKETS] for code in map(crc32, features, repeat(seed))])


def _kinds_told(found: Sequence[Sentence]) -> Mapping[int, tuple[str, ...]]:
    """Return the kinds of words for telling in each block and its heading."""
    return {
        number: telling_kinds(" ".join([sentences[0].section, *(s.text for s in sentences)]))
        for number, block in groupby(found, key=lambda each: each.block)
        if (sentences := list(block))
    }


def _groups(found: Sequence[Sentence]) -> Iterator[Sequence[Sentence]]:
    """Yield the sentences of each block; list items that go on from one to the next are one."""
    joined: list[Sentence] = []
    for _, block in groupby(found, key=lambda each: each.block):
        sentences = list(block)
        last = joined[-1] if joined else None
        if last and not (last.kind == sentences[0].kind == "item" and last.text[-1:] not in _ENDS):
            yield joined
            joined = []
        joined += sentences
    if joined:
        yield joined


def _surroundings(sentence: Sentence, known: PageTerms) -> Iterator[bytes]:
    """Yield how foreign a sentence and its block are to the page and the question, the points of
    the rules, and what its quotations hold.
    """
    terms = content_terms(sentence.text)
    if not known.is_enough or not terms:
        yield b"fo none"
    else:
        step = bisect_left(SHARES_OF_SENTENCE, share_known(terms, known.shared))
        yield b"fo %d" % step
        yield b"fb %d" % bisect_left(SHARES_OF_BLOCK, known.shares[sentence.block])
        if _kinds(sentence.text):
            yield b"fok %d" % step
    yield b"pts %d" % min(MOST_POINTS, int(order_points(sentence.text)))
    yield from _in_quotations(sentence.text)


@lru_cache(maxsize=4_000)
def _telling(told: tuple[str, ...], is_quoted: bool, standing: Standing | None) -> tuple[int, ...]:
    """Return the buckets of the kinds of words for telling in the block, of whether the sentence is
    within a quotation that an earlier one opens, and of how it stands with that on its page, if
    that has enough blocks.
    """
    named = [f"tb {kind}" for kind in told]
    named += [f"tb {one} {other}" for one, other in combinations(told, 2)]
    if is_quoted:
        named.append("iq")
    if standing:
        step, rank, asked, has_figure = standing
        named += [f"tb {kind} {step}" for kind in told]
        if is_quoted:
            named.append(f"iq {step}")
        named += [f"tn {len(told)} {step}", f"rb {rank}", f"rb {rank} {step}"]
        named += [f"fq {asked} {step}", f"fg {has_figure} {step}"]
    return _hashed(map(str.encode, named), _EMBEDDED_SEED)


def _embedded(sentence: Sentence, known: PageTerms) -> Iterator[str]:
    """Yield the kinds of words in the frames of the parts that a sentence embeds, and how foreign
    the parts are to the page, apart from their frames.
    """
    for part in embedded_parts(sentence.text):
        if len(content_terms(part.text)) < LEAST_EMBEDDED:  # words
            continue
        kinds = telling_kinds(part.frame)
        yield f"e {part.kind}"
        yield from (f"ek {kind}" for kind in kinds)
        yield from (f"ek {part.kind} {kind}" for kind in kinds)
        yield from (f"ek {one} {other}" for one, other in combinations(kinds, 2))
        if not known.is_enough:
            continue
        step, frame_step = known.step(part.text), known.step(part.frame)
        yield from (f"e {step}", f"e {part.kind} {step}", f"en {len(kinds)} {step}")
        yield from (f"ef {step} {frame_step}", f"ef {part.kind} {frame_step}")
        yield from (f"ek {kind} {step}" for kind in kinds)
        of_texts, of_orders = _kinds_in(folded(part.frame))
        yield from (f"ed {kind} {step}" for kind in of_texts)
        yield from (f"eo {kind} {step}" for kind in of_orders)


@lru_cache(maxsize=4_000)
def _in_quotations(text: str) -> tuple[bytes, ...]:
    said = " ".join(match[0] for match in QUOTED.finditer(text))
    if not said:
        return ()
    plain = folded(said)
    of_texts, of_orders = _kinds_in(plain)
    found = ["q form" if takes_form(said.strip(_MARKS), "") else "q plain"]
    found.append(f"q pts {min(MOST_POINTS, int(order_points(said)))}")
    for name, kinds in (("qd", of_texts), ("qo", of_orders)):
        found += [f"{name} {kind}" for kind in kinds]
        found += [f"{name} {one} {other}" for one, other in combinations(kinds, 2)]
    return tuple(each.encode() for each in found)


def is_firmly_an_order(text: str) -> bool:
    """Return whether a text by itself hardly reads like anything else than an order."""
    return order_model().score(buckets_of(text, "", "")) >= FIRM_SCORE


def buckets_of(text: str, before: str, after: str) -> Iterator[tuple[Collection[int], float]]:
    """Yield the buckets of each place's features, and the value that they have there."""
    for seed, (value, said) in enumerate(zip(PLACES.values(), (text, before, after), strict=True)):
        if said:
            yield _buckets(said, seed), value


@lru_cache(maxsize=16_000)
def _buckets(said: str, seed: int) -> tuple[int, ...]:
    return _hashed(_features(said), seed)


@lru_cache(maxsize=4_000)
def _features(text: str) -> tuple[bytes, ...]:
    words = _words(text)
    stems = [word[:STEM] for word in words if word.isalpha()]
    found = [f"w {word}" for word in words]
    found += [f"w {one} {other}" for one, other in pairwise(("^", *words, "$"))]
    found += [f"s {stem}" for stem in stems]
    found += [f"s {one} {other}" for one, other in pairwise(stems)]
    found += [f"{at} {word}" for at, word in enumerate(words[:FIRST])]
    found += _kinds(text)
    return tuple(map(str.encode, dict.fromkeys(found)))


@lru_cache(maxsize=4_000)
def _kinds(said: str) -> tuple[str, ...]:
    """Return the kinds of words that occur together outside quotations, and forms of orders."""
    of_texts, of_orders = _kinds_in(folded(QUOTED.sub(" ", said)))
    told = []
    for name, found in (("d", of_texts), ("o", of_orders)):
        told += [f"k{name} {kind}" for kind in found]
        told += [f"k{name} {one} {other}" for one, other in combinations(found, 2)]
    forms = {
        "form": takes_form(said, ""), "machines": is_for_machines(said),
        "dictates": dictates(said), "opens": opens_dictation(said),
    }  # fmt: skip
    return (*told, *(f"f {name}" for name, has_it in forms.items() if has_it))


def _kinds_in(plain: str) -> tuple[list[str], list[str]]:
    """Return the kinds of words for texts in a folded text, of the language that has most, and
    those of orders.
    """
    of_texts = max(dictation_kinds(plain), key=len, default=())
    of_orders = {kind for words in order_words(plain).values() for kind in words.by_kind}
    return sorted(of_texts), sorted(of_orders)


def _words(text: str) -> list[str]:
    for address in reversed(addresses_in(text)):
        text = f"{text[: address.start]} {_ADDRESS} {text[address.end :]}"
    plain = folded(QUOTED.sub(f" {_QUOTATION} ", text))
    return [_FIGURE if word.isdigit() else word for word in _TOKEN.findall(plain)]


@cache
def order_model(path: Path = MODEL) -> OrderModel:
    """Return a stored model."""
    stored = json.loads(path.read_text("utf-8"))
    return OrderModel(stored["bias"], tuple(unpacked(stored)))


def unpacked(stored: Mapping[str, Any]) -> list[float]:
    """Return the weights of a stored model, each from its byte."""
    packed = b85decode("".join(stored["weights"]))
    return [(each - 256 if each > 127 else each) * stored["unit"] for each in packed]
