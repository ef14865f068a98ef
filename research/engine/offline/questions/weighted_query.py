"""Term rarity among some texts, and general words with nearly the same meaning.

`data/synonyms_en.txt` contains groups of general English words.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType

from research.engine.text.tokens import stem


@lru_cache(maxsize=1)
def load_synonyms() -> MappingProxyType[str, frozenset[str]]:
    """Return the stem of each general word with its synonyms."""
    found: dict[str, set[str]] = defaultdict(set)
    listed = (Path(__file__).parents[1] / "data" / "synonyms_en.txt").read_text()
    for line in listed.splitlines():
        if not line.startswith("#"):
            group = {stem(word) for word in line.split()}
            for word in group:
                found[word] |= group - {word}
    return MappingProxyType({word: frozenset(others) for word, others in found.items()})


class Vocabulary:
    """The terms of some texts, each with the number of texts that contain it."""

    def __init__(self, texts: Iterable[frozenset[str]]) -> None:
        self.texts = 0
        self.holders: Counter[str] = Counter()
        for words in texts:
            self.texts += 1
            self.holders.update(words)

    def rarity(self, term: str) -> float:
        """Inverse document frequency, smoothed as in BM25."""
        count = self.holders[term]
        return math.log(1 + (self.texts - count + 0.5) / (count + 0.5))
