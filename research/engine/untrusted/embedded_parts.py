"""The parts of a sentence that it only embeds: what somebody says, repeats, is to answer or puts on
a wall, so that the page itself need not say it.

Embedded is what stands in quotation marks or brackets, after a colon, a dash, a sign of equality or
a cell's border, and a that-clause. What is left is its frame.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import chain, groupby
from typing import NamedTuple

from research.engine.text.sentences import Sentence
from research.engine.untrusted.order_words import content_terms, evident_terms

SHARES_OF_PART = (0.1, 0.25, 0.4, 0.6)
RANKS = 4
LEAST_BLOCKS = 3
"""Of a page that a sentence may be foreign to."""
MOST_ASKED = 3
QUOTED = re.compile(
    r"“[^“”]{3,400}(?:”|$)|«[^«»]{3,400}(?:»|$)|„[^„“”]{3,400}(?:[“”]|$)|「[^「」]{2,400}(?:」|$)"
    r"|『[^』]{2,400}(?:』|$)|(?<!\w)\"[^\"]{3,400}(?:\"|$)|(?<!\w)'[^']{8,400}'(?!\w)"
)
"""A quotation, or one that its sentence doesn't end, such as “no second witness was heard”."""
LEAST = 6
LEAST_FOREIGN = 2
"""Words of the end of a title by which it may be foreign to its page."""
BRACKETS = re.compile(r"[(\[（【][^()\[\]（）【】]{6,400}(?:[)\]）】]|$)")
_LEFT_OVER = " \t-–—:：,;"
_MARKS = {
    "colon": re.compile(r"[:：](?!//)\s*"),
    "dash": re.compile(r"\s[–—-]\s|—|――|――|──"),
    "cell": re.compile(r"\s\|\s"),
    "equals": re.compile(r"(?<==)(?=[^=])"),
}
_THAT = re.compile(
    r"\b(?:that|how|namely|dass|daß|nämlich|wonach|que|quod|que|что|будто)\s|\bqu['’]"
    r"|(?<![\u0600-\u06ff])(?:أن|أنّ|بأن|أنها|أنه|إن)\s|[，,]?(?:就是|即是|说是|因为)",
    re.IGNORECASE,
)


_OPENING = "“«„「『"
_QUOTATION_MARK = re.compile("[“”«»„「」『』]")
"""A German “ closes, so that it opens only where none is open."""


@dataclass(frozen=True)
class EmbeddedPart:
    """The embedded part of a sentence, its kind, and the rest of the sentence."""

    kind: str
    text: str
    frame: str


@lru_cache(maxsize=4_000)
def embedded_parts(text: str) -> tuple[EmbeddedPart, ...]:
    """Return the parts that a sentence embeds."""
    return tuple(part for part in _parts(text) if len(part.text) >= LEAST)


def _parts(text: str) -> Iterator[EmbeddedPart]:
    for kind, pattern in (("quotation", QUOTED), ("brackets", BRACKETS)):
        found = list(pattern.finditer(text))
        if found:
            yield EmbeddedPart(kind, " ".join(each[0] for each in found), pattern.sub(" ", text))
    for kind, pattern in _MARKS.items():
        marks = list(pattern.finditer(text))
        for mark in {mark.end(): mark for mark in (marks[:1] + marks[-1:])}.values():
            yield EmbeddedPart(kind, text[mark.end() :], text[: mark.start()])
    for clause in list(_THAT.finditer(text))[:2]:
        yield EmbeddedPart("clause", text[clause.end() :], text[: clause.start()])


def without_foreign_end(label: str, around: str, asked: str) -> str:
    """Return a title or heading up to the mark from which on most of its words are neither around
    it nor in the question.
    """
    patterns = (QUOTED, BRACKETS, *_MARKS.values())
    starts = {mark.start() for pattern in patterns for mark in pattern.finditer(label)}
    said = f"{asked} {around}"
    if not starts or _foreign_start(label, starts, evident_terms(label, said)) is None:
        return label
    start = _foreign_start(label, starts, content_terms(said))
    return label if start is None else label[:start].rstrip(_LEFT_OVER)


def _foreign_start(label: str, starts: Iterable[int], known: frozenset[str]) -> int | None:
    """Return where the first end of a label that is foreign to what is known starts."""
    for start in sorted(starts):
        terms = {term for term in content_terms(label[start:]) if term.isalpha()}
        unknown = terms - known
        if len(unknown) >= LEAST_FOREIGN and 2 * len(unknown) > len(terms):
            return start
    return None


def within_quotations(found: Sequence[Sentence]) -> Iterator[int]:
    """Yield the numbers of the sentences that begin in a quotation which their block has opened."""
    for _, block in groupby(found, key=lambda each: each.block):
        is_open = False
        for sentence in block:
            if is_open:
                yield sentence.number
            for mark in _QUOTATION_MARK.findall(sentence.text):
                is_open = mark in _OPENING and not (is_open and mark == "“")


class Standing(NamedTuple):
    """How a sentence stands on its page: in steps, how much of its terms is known, and how much of
    its block's beside those of the other blocks; how many of its terms the question has, and
    whether it has a figure.
    """

    step: str
    rank: int
    asked: int
    has_figure: bool


@dataclass(frozen=True)
class PageTerms:
    """The share of each block's terms that another block or the question has, those terms, and
    those of the question.
    """

    shares: Mapping[int, float]
    shared: frozenset[str]
    asked: frozenset[str]

    @property
    def is_enough(self) -> bool:
        """Return whether the page has enough blocks for one to be foreign to it."""
        return len(self.shares) >= LEAST_BLOCKS

    @cached_property
    def _in_order(self) -> Sequence[float]:
        return sorted(self.shares.values())

    def step(self, text: str) -> str:
        """Return how much of a text's terms is known, in steps; "e" if it has none."""
        terms = content_terms(text)
        share = share_known(terms, self.shared)
        return str(bisect_left(SHARES_OF_PART, share)) if terms else "e"

    def standing(self, sentence: Sentence) -> Standing:
        below = bisect_left(self._in_order, self.shares[sentence.block])
        return Standing(
            self.step(sentence.text),
            RANKS * below // (len(self.shares) - 1),
            min(MOST_ASKED, len(content_terms(sentence.text) & self.asked)),
            any(map(str.isdigit, sentence.text)),
        )

    @classmethod
    def of(cls, found: Sequence[Sentence], asked: str) -> PageTerms:
        blocks = {
            number: frozenset[str]().union(*(content_terms(each.text) for each in block))
            for number, block in groupby(found, key=lambda each: each.block)
        }
        counts, wanted = Counter(chain.from_iterable(blocks.values())), content_terms(asked)
        shared = wanted.union(term for term, count in counts.items() if count > 1)
        shares = {number: share_known(terms, shared) for number, terms in blocks.items()}
        return cls(shares, shared, wanted)


def share_known(terms: frozenset[str], known: frozenset[str]) -> float:
    return len(terms & known) / max(1, len(terms))
