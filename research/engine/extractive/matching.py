"""Which words of a page stand for a word of a question: itself, a derivation, or a synonym.

`data/synonyms_en.txt` holds groups of general English words. A word in it is no subject:
it tells less of what a question is about than a word that stands in no dictionary.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from research.engine.text import stem, term_set, terms, tokens, unique

DERIVED = 0.7
SYNONYM = 0.5
GENERAL_WORD = 0.6
NAME = 1.5
SHORTEST_STEM = 5

Held = Mapping[int, float]
"""How well a text holds each term of a question: its place among the terms → 0-1."""


@lru_cache(maxsize=1)
def synonyms() -> dict[str, frozenset[str]]:
    """Each general word's stem with those that may stand for it."""
    found: dict[str, set[str]] = defaultdict(set)
    listed = (Path(__file__).parents[1] / "data" / "synonyms_en.txt").read_text()
    for line in listed.splitlines():
        if not line.startswith("#"):
            group = {stem(word) for word in line.split()}
            for word in group:
                found[word] |= group - {word}
    return {word: frozenset(others) for word, others in found.items()}


class Vocabulary:
    """The terms of some texts, with the number of texts that hold each."""

    def __init__(self, texts: Iterable[frozenset[str]]) -> None:
        self.texts = 0
        self.holders: Counter[str] = Counter()
        for words in texts:
            self.texts += 1
            self.holders.update(words)
        self._families: dict[str, list[str]] = defaultdict(list)
        for word in self.holders:
            if len(word) >= SHORTEST_STEM and word.isalpha():
                self._families[word[:SHORTEST_STEM]].append(word)

    def rarity(self, term: str) -> float:
        """Inverse document frequency, smoothed as in BM25."""
        count = self.holders[term]
        return math.log(1 + (self.texts - count + 0.5) / (count + 0.5))

    def standing_for(self, term: str) -> dict[str, float]:
        """The terms here that stand for another one, and how well (0-1)."""
        found = {word: SYNONYM for word in synonyms().get(term, ()) if word in self.holders}
        if term.isalpha():
            for word in self._families.get(term[:SHORTEST_STEM], ()):
                if _shared(term, word) >= 0.7 * max(len(term), len(word)):
                    found[word] = DERIVED
        if term in self.holders:
            found[term] = 1.0
        return found


def _shared(one: str, other: str) -> int:
    """The number of letters that two words open with alike."""
    pairs = zip(one, other, strict=False)
    return next((n for n, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))


class Question:
    """The terms of a question, weighed against a vocabulary, and what stands for them."""

    def __init__(self, asked: Sequence[str], names: frozenset[str], vocabulary: Vocabulary) -> None:
        self._asked = {term: vocabulary.rarity(term) for term in asked if vocabulary.holders[term]}
        self.stands_for: dict[str, dict[int, float]] = defaultdict(dict)
        self.weights: list[float] = []
        missing = 0.0
        for place, term in enumerate(asked):
            standing = vocabulary.standing_for(term)
            weight = max((vocabulary.rarity(t) * x for t, x in standing.items()), default=0.0)
            general = GENERAL_WORD if term in synonyms() else 1.0
            self.weights.append(weight * general * (NAME if term in names else 1.0))
            if not standing and term not in synonyms():
                missing += vocabulary.rarity(term)
            for word, x in standing.items():
                self.stands_for[word][place] = x
        self.total = sum(self.weights)
        self.known_share = self.total / (self.total + missing) if self.total else 0.0

    def held(self, words: frozenset[str]) -> Held:
        """What of the question a bag of words holds."""
        found: dict[int, float] = {}
        for word in words & self.stands_for.keys():
            for place, x in self.stands_for[word].items():
                found[place] = max(found.get(place, 0.0), x)
        return found

    def counted(self, words: Iterable[str]) -> Held:
        """How often a text says each term, synonyms counted in part."""
        found: dict[int, float] = {}
        for word in words:
            for place, x in self.stands_for.get(word, {}).items():
                found[place] = found.get(place, 0.0) + x
        return found

    def share(self, held: Held) -> float:
        """The weighted share (0-1) of the question."""
        return sum(self.weights[place] * x for place, x in held.items()) / (self.total or 1.0)

    def word_for_word(self, words: frozenset[str]) -> float:
        """The share (0-1) of the question's own terms, by their rarity, that a text holds."""
        held = sum(rarity for term, rarity in self._asked.items() if term in words)
        return held / (sum(self._asked.values()) or 1.0)

    def bm25(self, counts: Held, length: float, mean_length: float) -> float:
        """BM25 with k1 = 1.2 and b = 0.75."""
        norm = 1.2 * (0.25 + 0.75 * length / (mean_length or 1.0))
        return sum(self.weights[p] * c * 2.2 / (c + norm) for p, c in counts.items())


def summed(several: Iterable[Held]) -> Held:
    """The sum of several counts for each term."""
    found: dict[int, float] = {}
    for counts in several:
        for place, x in counts.items():
            found[place] = found.get(place, 0.0) + x
    return found


def share_held(asked: str, text: str) -> float:
    """The share (0-1) of a question's words that a text holds, or words that stand for them.

    A compound counts as one word, whatever its parts. 1 for a question without content words.
    """
    vocabulary = Vocabulary([term_set(text)])
    held = [
        sum(max(vocabulary.standing_for(term).values(), default=0.0) for term in parts) / len(parts)
        for word in unique(token.lower() for token in tokens(asked))
        if (parts := terms(word))
    ]
    return sum(held) / len(held) if held else 1.0


def holds_one(wanted: Iterable[str], text: str) -> bool:
    """Whether a text holds one of some terms, or a word that stands for it."""
    vocabulary = Vocabulary([term_set(text)])
    return any(vocabulary.standing_for(term) for term in wanted)
