"""Near-duplicates and novelty on stop-worded words: no model, no network.

Rules E2 (Jaccard of words, refused from 0.75) and E6 (share of new words, early end
below 0.15) of `docs/requirements.md`.

Rule D5: a page that several sites publish is one source. A page is a near-copy of an earlier one
where at least `COPIED` of the shorter one's runs of `RUN` words stand in the other (containment of
shingles, Broder 1997). Pages shorter than `SHORTEST` runs are copies only where their text is the
same.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice
from zlib import crc32

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


RUN = 5
COPIED = 0.7
SHORTEST = 30
LONGEST = 5000
REMEMBERED = 64
"""Pages: a page is compared in its round's reading and again when it is merged."""
_WORD = re.compile(r"\w+")


@dataclass
class NearDuplicates:
    """The pages of a run in canonical order, each with the key that it counts under.

    From `copied_share` of its runs of words on, a page counts as a copy.
    """

    copied_share: float = COPIED
    _keys: dict[str, str] = field(default_factory=dict)
    _runs: dict[str, array[int]] = field(default_factory=dict)

    def add(self, sha256: str, text: str, independence_key: str) -> None:
        """Note a page's text; what was noted before stays as it is."""
        if sha256 in self._keys:
            return
        runs = text_shingles(text)
        original = self._find_original(runs)
        self._keys[sha256] = self._keys[original] if original else independence_key
        self._runs[sha256] = array("I", runs)

    def key(self, sha256: str, independence_key: str) -> str:
        """Return the key that a page counts under: its own, or that of the page that it copies."""
        return self._keys.setdefault(sha256, independence_key)

    def _find_original(self, runs: frozenset[int]) -> str | None:
        """Return the earliest page that these runs were copied from, or that was copied
        into them.
        """
        if len(runs) < SHORTEST:
            return None
        for page, held in self._runs.items():
            shorter = min(len(held), len(runs))
            if shorter >= SHORTEST and len(runs.intersection(held)) >= self.copied_share * shorter:
                return page
        return None


@lru_cache(REMEMBERED)
def text_shingles(text: str) -> frozenset[int]:
    """Checksums of every run of `RUN` words among the first `LONGEST`, case folded."""
    words = [match.group().lower().encode() for match in islice(_WORD.finditer(text), LONGEST)]
    return frozenset([crc32(b" ".join(words[at : at + RUN])) for at in range(len(words) - RUN + 1)])


def near_copies(one: str, other: str, copied_share: float = COPIED) -> bool:
    """Return whether one of two pages is a near-copy of the other."""
    runs, others = text_shingles(one), text_shingles(other)
    shorter = min(len(runs), len(others))
    return one == other or (shorter >= SHORTEST and len(runs & others) >= copied_share * shorter)
