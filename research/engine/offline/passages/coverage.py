"""Coverage of a question by the pages that were read: by one page, or by two that are linked.

Pages that each contain some of the question's words without a link prove nothing; a page and
another that it names do. Words weigh by their rarity among the sentences that were read, and words
of the question's names weigh double.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, permutations
from math import fsum

from research.engine.evidence.ledger import Ledger
from research.engine.offline.planning import query_of
from research.engine.offline.questions.weighted_query import Vocabulary
from research.engine.ports import Page
from research.engine.text.relevance import term_weights
from research.engine.text.sentences import sentence_terms
from research.engine.text.tokens import term_set, without_accents

ENOUGH = 0.85
SHORTEST_TITLE = 3
_WORD = re.compile(r"[^\W_]+")
_REMARK = re.compile(r"(?:(?<!\s)\s+)?\([^()]*\)")


@dataclass(frozen=True)
class QuestionScale:
    """Weights of the question's terms."""

    weights: Mapping[str, float]

    @classmethod
    def of(cls, ledger: Ledger) -> QuestionScale:
        told = chain.from_iterable(sentence_terms(page.text) for page in ledger.pages.values())
        vocabulary = Vocabulary(told)
        weights = term_weights(ledger.question)
        return cls({term: weight * vocabulary.rarity(term) for term, weight in weights.items()})

    def share(self, held: Iterable[str]) -> float:
        """Return the weighted share (0-1) of the question that terms, in any order, make up."""
        total = fsum(self.weights.values())
        return fsum(self.weights.get(term, 0.0) for term in held) / total if total else 0.0


def page_terms(page: Page) -> frozenset[str]:
    return _terms_of_page(page.title, page.text)


@lru_cache(maxsize=256)
def _terms_of_page(title: str, text: str) -> frozenset[str]:
    return term_set(title).union(*sentence_terms(text))


@dataclass(frozen=True)
class Coverage:
    """The largest share (0-1) of the question in one page, and in two that are linked.

    `apart` are the question's words that neither of the best contains.
    """

    alone: float
    linked: float
    apart: tuple[str, ...]

    @property
    def is_enough(self) -> bool:
        return max(self.alone, self.linked) >= ENOUGH

    @property
    def is_chain(self) -> bool:
        """Return whether it takes two pages, so that no single source has the whole."""
        return self.alone < ENOUGH <= self.linked


def measure_coverage(ledger: Ledger) -> Coverage:
    """Return the coverage of a question by the pages that were read."""
    scale, pages = QuestionScale.of(ledger), list(ledger.pages.values())
    asked = frozenset(scale.weights)
    held = {page.url: page_terms(page) & asked for page in pages}
    pairs = (
        held[one.url] | held[other.url] for one, other in _linked_pairs(ledger.question, pages)
    )
    alone = max(held.values(), key=scale.share, default=frozenset())
    linked = max(pairs, key=scale.share, default=alone)
    words = query_of(ledger.question).split()
    apart = tuple(word for word in words if not term_set(word) & linked)
    return Coverage(scale.share(alone), scale.share(linked), apart)


def _linked_pairs(question: str, pages: Iterable[Page]) -> Iterator[tuple[Page, Page]]:
    """Pairs of which one calls the other by its title, or the question both."""
    titles = {page.url: in_words(plain_title(page.title)) for page in pages}
    asked = {url for url, title in titles.items() if _names_title(question, title)}
    for one, other in permutations(pages, 2):
        if _names_title(one.text, titles[other.url]) or {one.url, other.url} <= asked:
            yield one, other


def _names_title(text: str, title: str) -> bool:
    return len(title.strip()) > SHORTEST_TITLE and title in words_of_page(text)


def plain_title(title: str) -> str:
    """Return a title without remarks in brackets: what other pages call the page."""
    return _REMARK.sub("", title).strip()


def in_words(text: str) -> str:
    """Return a text as its words in lower case and without accents, a space before and
    after each.
    """
    return f" {' '.join(_WORD.findall(without_accents(text.casefold())))} "


words_of_page = lru_cache(maxsize=256)(in_words)
