"""Detect instructions of a page to machines, which are excluded from evidence.

Rule C11 of `docs/requirements.md`. A sentence is such an order if it takes a form that only orders
have (`order_forms.py`), or if enough of its words are those of orders to readers
(`order_signs.py`); where the question is known, fewer are enough in a sentence that has nothing to
do with its page, and text for programs is left out unless its page speaks of what it names. A
sentence is compared as a reader sees it: folded, decoded, joined over cells and list items. This is
one layer; what does not depend on it is in `address_wall.py` and `search_words.py`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise

from research.engine.text.remembered import remember_texts
from research.engine.text.sentences import (
    REMEMBERED_CHARACTERS,
    Sentence,
    split_sentences,
    text_length,
)
from research.engine.text.tokens import is_stop_word
from research.engine.untrusted.embedded_parts import LEAST_BLOCKS
from research.engine.untrusted.order_forms import is_about_orders, is_for_machines, takes_form
from research.engine.untrusted.order_model import (
    EMBEDDED_RULED_SCORE,
    EMBEDDED_SCORE,
    REMOVED_SCORE,
    steering_scores,
    steering_sentences,
)
from research.engine.untrusted.order_signs import order_points
from research.engine.untrusted.order_words import content_terms

ORDER_POINTS = 5.5
STRANGER_POINTS = 3.5
"""Enough for a sentence that shares next to no word with the question or the rest of its page."""
STRANGER_SHARE = 0.15
CODED_SHARE = 0.3
"""Required share of known words for code and markup, which are no statements otherwise."""
DOUBTFUL_POINTS = 1.0
FOREIGN_SHARE = 0.1
"""Share of words in common with the surroundings, for each further point, up to which a text counts
as foreign: the more a text looks like an order, the more it must share with its page."""
SHARED_POINTS = -1.0
MOST_SHARED = 3
FORM_POINTS = 8.0
MOST_COLUMNS = 8
ENDS = frozenset(".!?。！？…;；")
JOINED_ITEMS = 3
JOINED_CHARACTERS = 120

_WORD = re.compile(r"(?<![\w./-])[^\W\d_]+(?![\w/=-]|\.\w)")
_DICTATED = re.compile(r"[:：“«„「『\"]")
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
    """Return whether a sentence instructs a machine that reads it.

    `asked` is the question: what it is about itself is no sign of an order.
    """
    return _order_points(text, asked) >= ORDER_POINTS


@lru_cache(maxsize=8_000)
def _order_points(text: str, asked: str) -> float:
    text = (_QUOTATION if is_about_orders(asked) else _MENTIONED).sub(" ", text)
    points = max(order_points(text, asked), FORM_POINTS * takes_form(text, asked))
    if points < STRANGER_POINTS or not asked:
        return points
    shared = len(content_terms(_frame(text, asked)) & content_terms(asked))
    return points + SHARED_POINTS * min(shared, MOST_SHARED)


def _frame(text: str, asked: str) -> str:
    """Return the part of a text before a dictated quotation if that part alone looks like an order,
    else the text; a dictated quotation may be on any subject.
    """
    frame = _DICTATED.split(text, maxsplit=1)[0]
    return frame if order_points(frame, asked) >= STRANGER_POINTS else text


@remember_texts(REMEMBERED_CHARACTERS, text_length)
def find_orders(found: Sequence[Sentence], asked: str = "") -> frozenset[int]:
    """Return the numbers of the sentences that are orders, or belong to one in its block.

    What follows an order in its block belongs to it; what precedes it does if it shares no
    word with the question.
    """
    numbers = set(_single_orders(found, asked))
    numbers.update(_unended(found, numbers))
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


@remember_texts(REMEMBERED_CHARACTERS, text_length)
def orders_by_themselves(found: Sequence[Sentence]) -> frozenset[int]:
    """Return the numbers of the sentences that are orders whatever the question is, each alone."""
    return frozenset(each.number for each in found if is_order(each.text))


@remember_texts(REMEMBERED_CHARACTERS, text_length)
def removed_orders(found: Sequence[Sentence], asked: str) -> frozenset[int]:
    """Return the numbers of the sentences that aren't shown at all: the orders by the rules that
    the fitted model firmly takes for orders, too; none if the question is about orders.
    """
    if is_about_orders(asked):
        return frozenset()
    told = _single_orders(found, asked)
    if not told:
        return told
    scores = steering_scores(found, asked)
    is_short = len({sentence.block for sentence in found}) < LEAST_BLOCKS
    least = EMBEDDED_SCORE if is_short else REMOVED_SCORE
    return frozenset(number for number in told if scores[number] >= least)


def only_quoted(found: Sequence[Sentence], asked: str) -> frozenset[int]:
    """Return the numbers of the other sentences that may only be quoted."""
    told = modelled_orders(found, asked) | ruled_orders(found, asked)
    return told - removed_orders(found, asked)


def ruled_orders(found: Sequence[Sentence], asked: str = "") -> frozenset[int]:
    """Return the numbers of the sentences that are orders by the rules, and may be by the model."""
    told = _single_orders(found, asked)
    scores = steering_scores(found, asked) if told else {}
    return frozenset(number for number in told if scores[number] >= EMBEDDED_RULED_SCORE)


def modelled_orders(found: Sequence[Sentence], asked: str) -> frozenset[int]:
    """Return the numbers of the sentences that the fitted model classifies as instructions or
    dictation.
    """
    return steering_sentences(found, asked, EMBEDDED_SCORE)


def _unended(found: Sequence[Sentence], numbers: Collection[int]) -> Iterator[int]:
    """Yield list items that continue an order which the text before the list leaves open."""
    left = 0
    for before, sentence in pairwise(found):
        if before.number in numbers:
            left = JOINED_ITEMS
        are_items = before.kind == sentence.kind == "item"
        left = left - 1 if are_items and before.text[-1:] not in ENDS else 0
        if left > 0:
            yield sentence.number


@remember_texts(REMEMBERED_CHARACTERS, text_length)
def _single_orders(found: Sequence[Sentence], asked: str) -> frozenset[int]:
    """Return the numbers of the sentences that are orders, alone or together with their neighbours,
    by the rules.
    """
    return frozenset(_find_single_orders(found, asked))


def _find_single_orders(found: Sequence[Sentence], asked: str) -> Iterator[int]:
    common: frozenset[str] | None = None
    is_subject = is_about_orders(asked)
    has_others = bool(asked and found) and found[0].block != found[-1].block
    for sentence in found:
        points = max(_order_points(part, asked) for part in _parts(sentence))
        coded = _coded_part(sentence) if has_others and not is_subject else ""
        if not coded and (points < STRANGER_POINTS or (is_subject and points < ORDER_POINTS)):
            continue
        common = _common_terms(found) if common is None else common
        known = (common, content_terms(f"{asked} {sentence.section}"))
        is_stranger = points >= STRANGER_POINTS and _is_stranger(
            _frame(sentence.text, asked), known, STRANGER_SHARE
        )
        is_stranger = has_others and (is_stranger or _is_stranger(coded, known, CODED_SHARE))
        if is_stranger or (points >= ORDER_POINTS and not is_subject):
            yield sentence.number
    if not is_subject:
        yield from _orders_in_parts(found, asked)


def _parts(sentence: Sentence) -> Iterator[str]:
    """Yield the sentence; for a table row also what follows each column name."""
    yield sentence.text
    if sentence.kind == "row":
        cells = sentence.text.split(": ", MOST_COLUMNS)
        yield from (": ".join(cells[at:]) for at in range(1, len(cells)))


def _common_terms(found: Sequence[Sentence]) -> frozenset[str]:
    """Return the terms that are in more than one block."""
    blocks: dict[int, set[str]] = {}
    for sentence in found:
        blocks.setdefault(sentence.block, set()).update(content_terms(sentence.text))
    counts = Counter(term for terms in blocks.values() for term in terms)
    return frozenset(term for term, count in counts.items() if count > 1)


def _coded_part(sentence: Sentence) -> str:
    """Return what of a sentence is written for programs, of a row its cells; '' if nothing is."""
    if sentence.kind == "code":
        return sentence.text if _has_words(sentence.text) else ""
    if not is_for_machines(sentence.text):
        return ""  # and so is no part of it
    return next(part for part in reversed([*_parts(sentence)]) if is_for_machines(part))


def _has_words(code: str) -> bool:
    """Return whether code has words of sentences; names and figures alone tell nobody to do
    anything.
    """
    return any(is_stop_word(word) for word in _WORD.findall(code))


def _is_stranger(text: str, known: Collection[Collection[str]], share: float) -> bool:
    terms = content_terms(text)
    shared = sum(any(term in each for each in known) for term in terms)
    return shared < share * len(terms)


def is_foreign(text: str, surroundings: str, asked: str) -> bool:
    """Return whether a text with some signs of an order shares too few words with the question and
    what surrounds it.
    """
    points = max((_order_points(each.text, asked) for each in split_sentences(text)), default=0.0)
    if points < DOUBTFUL_POINTS:
        return False
    terms = content_terms(text)
    shared = len(terms & content_terms(f"{asked} {surroundings}"))
    return shared <= FOREIGN_SHARE * max(1.0, points - DOUBTFUL_POINTS) * len(terms)


def _orders_in_parts(found: Sequence[Sentence], asked: str) -> Iterator[int]:
    """Orders whose parts are list items, cells or short lines."""
    for at, first in enumerate(found[:-1]):
        if not _may_be_part(first) or first.text[-1:] in ENDS:
            continue
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
