"""Detect sentences that dictate wording: "accounts of it open with the words “…”".

They order nobody, and honest pages have them too: rules of an archive, duties to report, errata. So
they are not removed but demoted: such a sentence may be quoted with its source, and that is all. It
is recognised by its build, in the languages of `dictation_words.toml`: words for texts, for those
who write them, for telling and for a norm stand around dictated content (a quotation, what follows
a colon or "say that", a short telephone number; other addresses are left to the wall), or open a
block whose later sentences hold it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import groupby

from research.engine.text.folding import folded
from research.engine.text.remembered import remember_texts
from research.engine.text.sentences import REMEMBERED_CHARACTERS, Sentence, text_length
from research.engine.untrusted.addresses import addresses_in
from research.engine.untrusted.order_forms import is_about_orders
from research.engine.untrusted.order_words import dictation_kinds, telling_kinds

AROUND = 2
"""Kinds of words around dictated content from which a sentence dictates it."""
OPENING = 3
"""Kinds of words with which a sentence opens a block that dictates."""
WITH_SPEECH = frozenset({"hearer", "speaker", "test", "label"})
"""Kinds of words of which one, beside speech, makes a question one about what people say."""
_QUOTED = re.compile(
    r"“[^“”]{4,400}(?:”|$)|«[^«»]{4,400}(?:»|$)|„[^„“”]{4,400}(?:[“”]|$)|「[^「」]{3,400}(?:」|$)"
    r"|『[^』]{3,400}(?:』|$)|(?<!\w)\"[^\"]{4,400}(?:\"|$)"
)
"""A quotation, such as “no second witness was heard”."""
_AFTER_COLON = re.compile(r"[:：](?!//)\s?(?:[^:：]{6,400})$")
_THAT = re.compile(
    r"\b(?:that|dass|daß|que|qu'|что)\s(?:(?:\S+\s+){2,}\S.*)$|(?:أن|أنّ|أنها|أنه)\s(?:.{8,})$",
    re.IGNORECASE,
)
_OPENED, _CLOSED, _LEFT_OVER = "([{（【［", ")]}）】］", " \t-–—:：,;"
_SHORT_NUMBER = re.compile(r"(?<![\w-])\d{3}-\d{4}(?![\w-])")
"""A telephone number without its area, such as "555-0142"."""


@lru_cache(maxsize=8_000)
def dictates(text: str) -> bool:
    """Return whether a text by itself dictates wording."""
    return any(map(_is_frame, _frames(text)))


def _frames(text: str) -> Iterator[str]:
    """Yield the text without each passage whose wording it may dictate."""
    outside = _QUOTED.sub(" ", text)
    if outside != text or _SHORT_NUMBER.search(text):
        yield outside
    for said in dict.fromkeys((outside, text)):
        for pattern in (_AFTER_COLON, _THAT):
            if found := pattern.search(said):
                yield said[: found.start()]


def _is_frame(text: str) -> bool:
    return any(len(kinds) >= AROUND for kinds in dictation_kinds(folded(text)))


def without_dictated(label: str) -> str:
    """Return a title or name without what it dictates, from the bracket or mark before it on."""
    found = [_AFTER_COLON.search(label), _QUOTED.search(label)]
    starts = [each.start() for each in found if each and _is_frame(label[: each.start()])]
    starts += [each.start for each in addresses_in(label) if _is_frame(label[: each.start])]
    if not starts:
        return label
    kept = label[: min(starts)]
    opened = max(map(kept.rfind, _OPENED))
    closed = max(map(kept.rfind, _CLOSED))
    return (kept[:opened] if opened > closed else kept).rstrip(_LEFT_OVER)


def asks_for_wording(question: str) -> bool:
    """Return whether a question is about rules, texts or orders, or about what people say, answer
    or put on signs, so that a page that dictates may answer it.
    """
    told = set(telling_kinds(question))
    if "speech" in told and told & WITH_SPEECH:
        return True
    found = dictation_kinds(folded(question))
    is_on_texts = any({"norm", "text"} & kinds or len(kinds) >= AROUND for kinds in found)
    return is_on_texts or is_about_orders(question)


def opens_dictation(text: str) -> bool:
    """Return whether a sentence says how texts are written, so that what follows may be theirs."""
    found = dictation_kinds(folded(_QUOTED.sub(" ", text)))
    return any(len(kinds) >= OPENING and "norm" in kinds for kinds in found)


@remember_texts(REMEMBERED_CHARACTERS, text_length)
def find_dictation(found: Sequence[Sentence]) -> frozenset[int]:
    """Return the numbers of the sentences that dictate, with those that go on from one in its
    block, and the one before a norm without content of its own: "This is to open every account."
    """
    return frozenset(_dictating(found))


def _dictating(found: Iterable[Sentence]) -> Iterator[int]:
    for _, block in groupby(found, key=lambda each: each.block):
        is_open, before = False, None
        for sentence in block:
            has_content = dictates(sentence.text)
            if not is_open and opens_dictation(sentence.text):
                is_open = True
                if before is not None and not has_content:
                    yield before
            if is_open or has_content:
                yield sentence.number
            before = sentence.number
