"""Near-duplicates and novelty on stop-worded words: no model, no network.

Rules E2 (Jaccard of words, refused from 0.75) and E6 (share of new words, early end
below 0.15) of `docs/requirements.md`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from research.engine.records import Skipped
from research.engine.text.tokens import term_set


def jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    """Return the shared share of two sets; 0 if both are empty."""
    shared = len(one & other)
    union = len(one) + len(other) - shared
    return shared / union if union else 0.0


def find_twin(topic: str, earlier: Iterable[str], threshold: float) -> Skipped | None:
    """Return the most similar earlier topic at or above the threshold, or None.

    A single different word ("… training data", "… training speed") is a difference in meaning:
    topics that each have distinct words are twins only if those are less than a fifth of the shared
    ones.
    """
    words, best = _topic_words(topic), None
    for candidate in earlier:
        other = _topic_words(candidate)
        similarity = jaccard(words, other)
        if similarity < threshold or _each_has_its_own(words, other):
            continue
        if best is None or similarity > best.similarity:
            best = Skipped(topic, candidate, round(similarity, 3))
    return best


@lru_cache(maxsize=10_000)
def _topic_words(topic: str) -> frozenset[str]:
    return term_set(topic)


def _each_has_its_own(one: frozenset[str], other: frozenset[str]) -> bool:
    own = min(len(one - other), len(other - one))
    return own > 0 and own * 5 >= len(one & other)


@dataclass
class Corpus:
    """The words of all findings so far."""

    words: frozenset[str] = frozenset()

    def novelty(self, findings: Iterable[str]) -> float:
        """Return |W(new) - W(earlier)| ÷ |W(new)|; 0 if nothing was found."""
        new = term_set(" ".join(findings))
        return len(new - self.words) / len(new) if new else 0.0

    def add(self, findings: Iterable[str]) -> None:
        self.words |= term_set(" ".join(findings))
