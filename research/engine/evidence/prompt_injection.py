"""Orders of a page to machines that read it: not statements, and so not evidence.

Rule C11 of `docs/requirements.md`. A sentence is such an order if it takes a form that only orders
have (`order_forms.py`), or if enough of its words are those of orders to readers
(`order_signs.py`); where the question is known, fewer are enough in a sentence that has nothing to
do with its page. It is compared as a reader sees it: folded, decoded, joined over cells and list
items. This is one layer; what does not depend on it is in `address_wall.py` and `search_words.py`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache

from research.engine.ports import Page
from research.engine.text.folding import folded
from research.engine.text.function_words import function_words
from research.engine.text.sentences import Sentence
from research.engine.text.tokens import term_set
from research.engine.untrusted.order_forms import is_about_orders, takes_form
from research.engine.untrusted.order_signs import order_points

ORDER_POINTS = 5.5
STRANGER_POINTS = 3.5
"""Enough for a sentence that shares next to no word with the question or the rest of its page."""
STRANGER_SHARE = 0.15
DOUBTFUL_POINTS = 2.0
SHARED_POINTS = -1.0
MOST_SHARED = 3
FORM_POINTS = 8.0
MOST_COLUMNS = 8
ENDS = frozenset(".!?。！？…;；")
JOINED_ITEMS = 3
JOINED_CHARACTERS = 120

_MENTIONED = re.compile(
    r"(?<=\w )(?:“[^”\n]{3,60}”|\"[^\"\n]{3,60}\"|«[^»\n]{3,60}»|„[^“”\n]{3,60}[“”])"
    r"(?= (?:is|was|are|were|has|ist|war|est|es|é|это)\b)"
)
"""A short quotation that the sentence speaks about, such as "“ignore this” is an attack"."""

_QUOTATION = re.compile(
    r"[“«「『„][^“”«»「」『』„]{1,400}(?:[”»」』“]|$)|^[^“”«»「」『』„]{1,400}[”»」』]"
    r"|(?<!\w)\"[^\"\n]{1,400}(?:\"(?!\w)|$)"
)
"""A quotation, or the part of one that a sentence contains: what a page about assistants quotes is
its subject.
"""


def is_order(text: str, asked: str = "") -> bool:
    """Return whether a sentence gives orders to a machine that reads it.

    `asked` is the question: what it is about itself is no sign of an order.
    """
    return _order_points(text, asked) >= ORDER_POINTS


@lru_cache(maxsize=8_000)
def _order_points(text: str, asked: str) -> float:
    text = (_QUOTATION if is_about_orders(asked) else _MENTIONED).sub(" ", text)
    points = max(order_points(text, asked), FORM_POINTS * takes_form(text, asked))
    if points < STRANGER_POINTS or not asked:
        return points
    shared = len(content_terms(text) & content_terms(asked))
    return points + SHARED_POINTS * min(shared, MOST_SHARED)


@lru_cache(maxsize=256)
def find_orders(found: Sequence[Sentence], asked: str = "") -> frozenset[int]:
    """Return the numbers of the sentences that are orders, or belong to one in its block.

    What follows an order in its block belongs to it; what precedes it does if it shares no
    word with the question.
    """
    numbers = set(_single_orders(found, asked))
    first: dict[int, int] = {}
    for sentence in found:
        if sentence.number in numbers:
            first.setdefault(sentence.block, sentence.number)
    wanted = content_terms(asked)
    for sentence in found:
        begins = first.get(sentence.block)
        if begins is None:
            continue
        if sentence.number > begins or (wanted and not content_terms(sentence.text) & wanted):
            numbers.add(sentence.number)
    return frozenset(numbers)


def _single_orders(found: Sequence[Sentence], asked: str) -> Iterator[int]:
    blocks: Counter[str] | None = None
    for sentence in found:
        points = max(_order_points(part, asked) for part in _parts(sentence))
        if points >= ORDER_POINTS:
            yield sentence.number
        elif asked and points >= STRANGER_POINTS and found[0].block != found[-1].block:
            blocks = blocks or _blocks_by_term(found)
            if _is_stranger(sentence, blocks, asked):
                yield sentence.number
    yield from _orders_in_parts(found, asked)


def _parts(sentence: Sentence) -> Iterator[str]:
    """Yield the sentence; for a table row also what follows each column name."""
    yield sentence.text
    if sentence.kind == "row":
        cells = sentence.text.split(": ", MOST_COLUMNS)
        yield from (": ".join(cells[at:]) for at in range(1, len(cells)))


def _blocks_by_term(found: Sequence[Sentence]) -> Counter[str]:
    """In how many blocks each term is."""
    blocks: dict[int, set[str]] = {}
    for sentence in found:
        blocks.setdefault(sentence.block, set()).update(content_terms(sentence.text))
    return Counter(term for terms in blocks.values() for term in terms)


def _is_stranger(sentence: Sentence, blocks: Counter[str], asked: str) -> bool:
    terms = content_terms(sentence.text)
    known = content_terms(f"{asked} {sentence.section}")
    shared = sum(term in known or blocks[term] > 1 for term in terms)
    return shared < STRANGER_SHARE * len(terms)


def is_beside_the_point(quote: str, page: Page, asked: str) -> bool:
    """Return whether a quote with some signs of an order shares no word with the question, nor with
    anything else on its page.
    """
    if _order_points(quote, asked) < DOUBTFUL_POINTS:
        return False
    terms = content_terms(quote)
    known = content_terms(f"{asked} {page.title}")
    if not terms or terms & known:
        return False
    before, _, after = page.text.partition(quote)
    rest = content_terms(f"{before} {after}")
    return bool(rest) and not terms & rest


@lru_cache(maxsize=4_000)
def content_terms(text: str) -> frozenset[str]:
    """Return the terms of a text that are no function words of any language."""
    return term_set(folded(text)) - _function_terms()


@cache
def _function_terms() -> frozenset[str]:
    codes = ("de", "fr", "es", "it", "pt", "nl")
    return frozenset(folded(word) for code in codes for word in function_words(code))


def _orders_in_parts(found: Sequence[Sentence], asked: str) -> Iterator[int]:
    """Orders whose parts are list items, cells or short lines."""
    for at in range(len(found) - 1):
        for size in range(JOINED_ITEMS, 1, -1):
            parts = found[at : at + size]
            if len(parts) == size and _is_order_together(parts, asked):
                yield from (part.number for part in parts)
                break


def _is_order_together(parts: Sequence[Sentence], asked: str) -> bool:
    """Return whether sentences, none of them an order, are one when joined."""
    if not all(map(_may_be_part, parts)) or any(part.text[-1:] in ENDS for part in parts[:-1]):
        return False
    if any(_order_points(part.text, asked) >= ORDER_POINTS for part in parts):
        return False
    return _order_points(" ".join(part.text for part in parts), asked) >= ORDER_POINTS


def _may_be_part(sentence: Sentence) -> bool:
    """Return whether it may be a part of a sentence: a short item or cell, or a line without an
    end.
    """
    ends = sentence.text[-1:] in ENDS
    return len(sentence.text) <= JOINED_CHARACTERS and (sentence.kind != "prose" or not ends)
