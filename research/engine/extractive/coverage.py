"""How much of a question the pages that were read cover: one page, or two that are linked.

Pages that each hold some of the question's words and don't know of each other prove nothing;
a page and another that it names do. What a word tells goes by its rarity among the
sentences that were read, and words of the question's names tell twice as much.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, permutations

from research.engine.extractive.matching import Vocabulary
from research.engine.extractive.planning import query_of
from research.engine.ledger import Ledger
from research.engine.relevance import term_weights
from research.engine.sentences import sentence_terms
from research.engine.text import term_set, without_accents
from research.engine.tools import Page

ENOUGH = 0.85
SHORTEST_TITLE = 3
_WORD = re.compile(r"[^\W_]+")
_REMARK = re.compile(r"(?:(?<!\s)\s+)?\([^()]*\)")


@dataclass(frozen=True)
class Scale:
    """What each term of the question weighs."""

    weights: Mapping[str, float]

    @classmethod
    def of(cls, ledger: Ledger) -> Scale:
        told = chain.from_iterable(sentence_terms(page.text) for page in ledger.pages.values())
        vocabulary = Vocabulary(told)
        weights = term_weights(ledger.question)
        return cls({term: weight * vocabulary.rarity(term) for term, weight in weights.items()})

    def share(self, held: Iterable[str]) -> float:
        """The weighted share (0-1) of the question that these terms make up."""
        total = sum(self.weights.values())
        return sum(self.weights.get(term, 0.0) for term in held) / total if total else 0.0


def page_terms(page: Page) -> frozenset[str]:
    return _terms(page.title, page.text)


@lru_cache(maxsize=256)
def _terms(title: str, text: str) -> frozenset[str]:
    return term_set(title).union(*sentence_terms(text))


@dataclass(frozen=True)
class Coverage:
    """The largest share (0-1) of the question in one page, and in two that are linked.

    `apart` are the question's words that stand in neither of the best.
    """

    alone: float
    linked: float
    apart: tuple[str, ...]

    @property
    def is_enough(self) -> bool:
        return max(self.alone, self.linked) >= ENOUGH

    @property
    def is_chain(self) -> bool:
        """Whether it takes two pages, so that no other source has the whole."""
        return self.alone < ENOUGH <= self.linked


def covered(ledger: Ledger) -> Coverage:
    """How much of the question the pages that were read cover."""
    scale, pages = Scale.of(ledger), list(ledger.pages.values())
    asked = frozenset(scale.weights)
    held = {page.url: page_terms(page) & asked for page in pages}
    pairs = (held[one.url] | held[other.url] for one, other in _links(ledger.question, pages))
    alone = max(held.values(), key=scale.share, default=frozenset())
    linked = max(pairs, key=scale.share, default=alone)
    words = query_of(ledger.question).split()
    apart = tuple(word for word in words if not term_set(word) & linked)
    return Coverage(scale.share(alone), scale.share(linked), apart)


def _links(question: str, pages: Iterable[Page]) -> Iterator[tuple[Page, Page]]:
    """Pairs of which one calls the other by its title, or the question both."""
    titles = {page.url: in_words(plain_title(page.title)) for page in pages}
    asked = {url for url, title in titles.items() if _calls(question, title)}
    for one, other in permutations(pages, 2):
        if _calls(one.text, titles[other.url]) or {one.url, other.url} <= asked:
            yield one, other


def _calls(text: str, title: str) -> bool:
    return len(title.strip()) > SHORTEST_TITLE and title in words_of_page(text)


def plain_title(title: str) -> str:
    """A title without remarks in brackets: what other pages call the page."""
    return _REMARK.sub("", title).strip()


def in_words(text: str) -> str:
    """A text as its words in lower case and without accents, a space before and after each."""
    return f" {' '.join(_WORD.findall(without_accents(text.casefold())))} "


words_of_page = lru_cache(maxsize=256)(in_words)
