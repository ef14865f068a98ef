"""What the order model sees of a sentence: its words, those of its neighbours, its surroundings and
what it embeds, each feature hashed into one of `BUCKETS`.

A word, a pair of words and the first five letters of either are features, and so are the kinds of
words of `order_words.py` that occur together, and the forms that only orders have: a kind says in
one language what was learned in another. Addresses, quotations and figures stand for themselves,
since what an order dictates may be on any subject.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import combinations, groupby, pairwise, repeat
from zlib import crc32

from research.engine.text.folding import folded
from research.engine.text.sentences import Sentence
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

BUCKETS = 1 << 15
_NUMBERS = tuple(range(BUCKETS))
"""Each bucket's number once, for all texts that are remembered."""
PLACES: Mapping[str, float] = {"own": 0.3, "before": 0.1, "after": 0.05}
"""How much a feature counts in the sentence itself and in its neighbours within the block."""
REST, SURROUNDINGS, EMBEDDED = 0.1, 0.4, 0.3
"""How much a feature of the other sentences around, one of the surroundings, and one of what is
embedded counts.
"""
REACH = 6
"""Sentences on either side that are around."""
AROUND_SEED, SURROUNDINGS_SEED, EMBEDDED_SEED = (len(PLACES) + number for number in range(3))
SHARES_OF_SENTENCE = (0.1, 0.25, 0.4, 0.6)
SHARES_OF_BLOCK = (0.1, 0.25, 0.4)
MOST_POINTS = 7
LEAST_EMBEDDED = 2
STEM = 5
FIRST = 3
_TOKEN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]|[^\W\d_\u3040-\u30ff\u3400-\u9fff]+|\d+|[^\w\s]")
_ENDS = frozenset(".!?。！？…;；")
_MARKS = "“”«»„「」『』\"' "
_ADDRESS, _QUOTATION, _FIGURE = "xaddressx", "xquotationx", "xfigurex"

Features = list[tuple[Collection[int], float]]
"""Buckets, and the value that each has."""


def hashed(features: Iterable[bytes], seed: int) -> tuple[int, ...]:
    """Return the buckets of features. A feature has another bucket in each place."""
    return tuple([_NUMBERS[code % BUCKETS] for code in map(crc32, features, repeat(seed))])


def summed(weights: Sequence[float], features: Iterable[bytes], seed: int) -> float:
    """Return the sum of the weights of features in a place, without keeping their buckets."""
    return sum([weights[code % BUCKETS] for code in map(crc32, features, repeat(seed))])


# --- of a text by itself ------------------------------------------------------------------------


def buckets_of(text: str, before: str, after: str) -> Iterator[tuple[Collection[int], float]]:
    """Yield the buckets of each place's features, and the value that they have there."""
    for seed, (value, said) in enumerate(zip(PLACES.values(), (text, before, after), strict=True)):
        if said:
            yield word_buckets(said, seed), value


def word_sums(text: str, weights: Sequence[float]) -> tuple[float, ...]:
    """Return what a text's words and their kinds add in each place of `PLACES`."""
    features = _features(text)
    return tuple(
        value * summed(weights, features, seed) for seed, value in enumerate(PLACES.values())
    )


@lru_cache(maxsize=4_000)
def word_buckets(said: str, seed: int) -> tuple[int, ...]:
    """Return the buckets of a text's words and their kinds in one place."""
    return hashed(_features(said), seed)


@lru_cache(maxsize=4_000)
def buckets_around(said: str) -> tuple[int, ...]:
    """Return the buckets of a text that is around another, each once."""
    return tuple(dict.fromkeys(hashed(_features(said), AROUND_SEED)))


@lru_cache(maxsize=100)
def _features(text: str) -> tuple[bytes, ...]:
    words = _words(text)
    stems = [word[:STEM] for word in words if word.isalpha()]
    found = [f"w {word}" for word in words]
    found += [f"w {one} {other}" for one, other in pairwise(("^", *words, "$"))]
    found += [f"s {stem}" for stem in stems]
    found += [f"s {one} {other}" for one, other in pairwise(stems)]
    found += [f"{at} {word}" for at, word in enumerate(words[:FIRST])]
    found += order_kinds(text)
    return tuple(map(str.encode, dict.fromkeys(found)))


@lru_cache(maxsize=4_000)
def order_kinds(said: str) -> tuple[str, ...]:
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


# --- of a sentence on its page ------------------------------------------------------------------


@dataclass(frozen=True)
class PageFeatures:
    """The features of the sentences of a page; what they need of the whole page is found when it
    is first asked for.
    """

    found: Sequence[Sentence]
    asked: str

    @cached_property
    def known(self) -> PageTerms:
        return PageTerms.of(self.found, self.asked)

    @cached_property
    def told(self) -> Mapping[int, tuple[str, ...]]:
        """The kinds of words for telling in each block and its heading."""
        return {
            number: telling_kinds(" ".join([sentences[0].section, *(s.text for s in sentences)]))
            for number, block in groupby(self.found, key=lambda each: each.block)
            if (sentences := list(block))
        }

    @cached_property
    def quoted(self) -> frozenset[int]:
        return frozenset(within_quotations(self.found))

    def groups(self) -> Iterator[Sequence[Sentence]]:
        """Yield the sentences of each block; list items that go on from one to the next are one."""
        joined: list[Sentence] = []
        for _, block in groupby(self.found, key=lambda each: each.block):
            sentences = list(block)
            last = joined[-1] if joined else None
            are_items = last and last.kind == sentences[0].kind == "item"
            if last and not (are_items and last.text[-1:] not in _ENDS):
                yield joined
                joined = []
            joined += sentences
        if joined:
            yield joined

    def of(self, group: Sequence[Sentence], at: int) -> Features:
        """Return the features of a sentence of a group: of itself, of those around it, of its
        surroundings and of what it embeds.
        """
        sentence, known = group[at], self.known
        before = group[at - 1].text if at else ""
        after = group[at + 1].text if at + 1 < len(group) else ""
        is_quoted = sentence.number in self.quoted
        standing = known.standing(sentence) if known.is_enough else None
        near = (*group[max(0, at - REACH) : at], *group[at + 1 : at + REACH + 1])
        around = set[int]().union(*(buckets_around(other.text) for other in near))
        return [
            *buckets_of(sentence.text, before, after),
            (hashed(_surroundings(sentence, known), SURROUNDINGS_SEED), SURROUNDINGS),
            (_telling(self.told[sentence.block], is_quoted, standing), EMBEDDED),
            (_embedded(sentence.text, known), EMBEDDED),
            (around, REST),
        ]


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
        if order_kinds(sentence.text):
            yield b"fok %d" % step
    yield from rule_features(sentence.text)


def rule_features(text: str) -> Iterator[bytes]:
    """Yield the points of the rules, and what a text's quotations hold."""
    yield b"pts %d" % min(MOST_POINTS, int(order_points(text)))
    yield from _in_quotations(text)


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


@lru_cache(maxsize=4_000)
def _telling(told: tuple[str, ...], is_quoted: bool, standing: Standing | None) -> tuple[int, ...]:
    """Return the buckets of the kinds of words for telling in the block, of whether the sentence is
    within a quotation that an earlier one opens, and of how it stands with that on its page, if
    that has enough blocks.
    """
    named = [*telling_alone(told, is_quoted)]
    if standing:
        step, rank, asked, has_figure = standing
        named += [f"{kind} {step}" for kind in telling_stepped(told, is_quoted)]
        named += [
            f"rb {rank}",
            f"rb {rank} {step}",
            f"fq {asked} {step}",
            f"fg {has_figure} {step}",
        ]
    return hashed(map(str.encode, named), EMBEDDED_SEED)


def telling_alone(told: Sequence[str], is_quoted: bool) -> Iterator[str]:
    yield from (f"tb {kind}" for kind in told)
    yield from (f"tb {one} {other}" for one, other in combinations(told, 2))
    yield from ["iq"] * is_quoted


def telling_stepped(told: Sequence[str], is_quoted: bool) -> Iterator[str]:
    """Yield the beginnings of the features that end with the sentence's step."""
    yield from (f"tb {kind}" for kind in told)
    yield from ["iq"] * is_quoted
    yield f"tn {len(told)}"


@dataclass(frozen=True)
class EmbeddedKinds:
    """The features of a part that a sentence embeds: those that it has on any page, and the
    beginnings of those that end with its step.
    """

    kind: str
    text: str
    frame: str
    alone: tuple[str, ...]
    stepped: tuple[str, ...]


@lru_cache(maxsize=4_000)
def embedded_kinds(text: str) -> tuple[EmbeddedKinds, ...]:
    """Return the features of the parts that a text embeds: the kinds of words in their frames, and
    how foreign they are to a page, apart from their frames.
    """
    return tuple(_embedded_kinds(text))


def _embedded_kinds(text: str) -> Iterator[EmbeddedKinds]:
    for part in embedded_parts(text):
        if len(content_terms(part.text)) < LEAST_EMBEDDED:  # words
            continue
        kinds = telling_kinds(part.frame)
        of_texts, of_orders = _kinds_in(folded(part.frame))
        yield EmbeddedKinds(
            part.kind,
            part.text,
            part.frame,
            (
                f"e {part.kind}",
                *(f"ek {kind}" for kind in kinds),
                *(f"ek {part.kind} {kind}" for kind in kinds),
                *(f"ek {one} {other}" for one, other in combinations(kinds, 2)),
            ),
            (
                *("e", f"e {part.kind}", f"en {len(kinds)}"),
                *(f"ek {kind}" for kind in kinds),
                *(f"ed {kind}" for kind in of_texts),
                *(f"eo {kind}" for kind in of_orders),
            ),
        )


def _embedded(text: str, known: PageTerms) -> tuple[int, ...]:
    named = list[str]()
    for part in embedded_kinds(text):
        named += part.alone
        if known.is_enough:
            step, frame_step = known.step(part.text), known.step(part.frame)
            named += [f"{begins} {step}" for begins in part.stepped]
            named += [f"ef {step} {frame_step}", f"ef {part.kind} {frame_step}"]
    return hashed(map(str.encode, dict.fromkeys(named)), EMBEDDED_SEED)
