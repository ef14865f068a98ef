"""How near passages come to the wording of a question, beyond the words that BM25 counts.

BM25 doesn't see whether words stand together, nor that a page says a question's word in another
way. Both are looked up in the texts of the few best documents.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from research.engine.offline.questions.weighted_query import load_synonyms
from research.engine.text.tokens import stem

TOGETHER = 6
"""Words that are neighbours in a question stand together if they are no further apart."""
NEIGHBOURS, SYNONYMS = 0.7, 0.6
"""What the rarity of words that stand together, or have a synonym in a passage, adds."""

_WORD = re.compile(r"[^\W_]+")

Places = Mapping[str, Sequence[int]]


@dataclass(frozen=True)
class Wording:
    """The words of a question as stems with their rarity, and pairs of neighbours among them."""

    rarity: Mapping[str, float]
    neighbours: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, query: str, rarity: Mapping[str, float]) -> Wording:
        """`rarity` is that of each word searched, without case; others are passed over."""
        asked = [word for word in _words(query) if word in rarity]
        stems = [stem(word) for word in asked]
        pairs = dict.fromkeys(pair for pair in pairwise(stems) if pair[0] != pair[1])
        return cls(
            {each: rarity[word] for each, word in zip(stems, asked, strict=True)}, tuple(pairs)
        )

    def worth(self, passages: Iterable[str]) -> float:
        """Return what the passage that comes nearest to the wording adds to its document."""
        return max(map(self._nearness, passages), default=0.0)

    def _nearness(self, passage: str) -> float:
        places: dict[str, list[int]] = defaultdict(list)
        for place, word in enumerate(_stems(passage)):
            places[word].append(place)
        together = sum(
            min(self.rarity[one], self.rarity[other])
            for one, other in self.neighbours
            if one in places and other in places and _are_near(places[one], places[other])
        )
        in_other_words = sum(
            rarity
            for word, rarity in self.rarity.items()
            if word not in places and not load_synonyms().get(word, frozenset()).isdisjoint(places)
        )
        return NEIGHBOURS * together + SYNONYMS * in_other_words


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


@lru_cache(maxsize=4096)
def _stems(text: str) -> tuple[str, ...]:
    return tuple(map(stem, _words(text)))


def _are_near(some: Sequence[int], others: Sequence[int]) -> bool:
    """Return whether two words, given by their places in rising order, stand together anywhere."""
    for place in some:
        at = bisect_left(others, place - TOGETHER)
        if at < len(others) and others[at] <= place + TOGETHER:
            return True
    return False
