"""The most that what a sentence is on its page may add to its score, by its own text and its block.

Most sentences can't reach a threshold whatever the rest of their page is, so that the terms of the
page need not be found. Each bound is the maximum over the steps that a page could give; of features
that are counted once though several parts have them, only those that add are bounded.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache

from research.engine.untrusted.embedded_parts import MOST_ASKED, RANKS, SHARES_OF_PART
from research.engine.untrusted.order_features import (
    EMBEDDED,
    EMBEDDED_SEED,
    SHARES_OF_BLOCK,
    SHARES_OF_SENTENCE,
    SURROUNDINGS,
    SURROUNDINGS_SEED,
    embedded_kinds,
    order_kinds,
    rule_features,
    summed,
    telling_alone,
    telling_stepped,
)

STEPS = (*map(str, range(len(SHARES_OF_PART) + 1)), "e")


class Ceilings:
    """Upper bounds by the weights of a model."""

    def __init__(self, weights: Sequence[float]) -> None:
        self.weights = weights
        self._telling = lru_cache(maxsize=4_000)(self._most_telling)
        self._of_text = lru_cache(maxsize=4_000)(self._most_of_text)
        self._stepped = lru_cache(maxsize=4_000)(self._most_stepped)
        self._of_embedded = lru_cache(maxsize=8_000)(self._sum_of_embedded)
        self._foreign = lru_cache(maxsize=2)(self._most_foreign)

    def most_beside(self, text: str, told: tuple[str, ...], is_quoted: bool) -> float:
        """Return the most that is added to what the words of a sentence and of those around it add;
        `told` are the kinds of words for telling in its block.
        """
        return self._of_text(text) + self._telling(told, is_quoted)

    def _most_of_text(self, text: str) -> float:
        surroundings = self._sum(rule_features(text), SURROUNDINGS_SEED)
        surroundings += self._foreign(bool(order_kinds(text)))
        return SURROUNDINGS * surroundings + EMBEDDED * self._most_embedded(text)

    def _most_foreign(self, has_kinds: bool) -> float:
        names = ("fo", "fok") if has_kinds else ("fo",)
        steps = range(len(SHARES_OF_SENTENCE) + 1)
        most = max(
            self._sum([b"%s %d" % (name.encode(), step) for name in names], SURROUNDINGS_SEED)
            for step in steps
        )
        of_block = range(len(SHARES_OF_BLOCK) + 1)
        most += max(self._sum([b"fb %d" % step], SURROUNDINGS_SEED) for step in of_block)
        return max(most, self._sum([b"fo none"], SURROUNDINGS_SEED))

    def _most_embedded(self, text: str) -> float:
        most = 0.0
        for part in embedded_kinds(text):
            most += sum(max(0.0, self._of_embedded(name)) for name in part.alone)
            most += sum(max(0.0, self._stepped(begins)) for begins in part.stepped)
            most += max(0.0, *(self._stepped(f"ef {step}") for step in STEPS))
            most += max(0.0, self._stepped(f"ef {part.kind}"))
        return most

    def _most_telling(self, told: tuple[str, ...], is_quoted: bool) -> float:
        alone = sum(map(self._of_embedded, telling_alone(told, is_quoted)))
        stepped = [*telling_stepped(told, is_quoted)]
        most = max(
            sum(self._of_embedded(f"{begins} {step}") for begins in stepped) + self._standing(step)
            for step in STEPS
        )
        return EMBEDDED * (alone + max(0.0, most))

    def _standing(self, step: str) -> float:
        """Return the most that its rank, its terms of the question and its figures may add to a
        sentence with this step.
        """
        of_rank = (
            self._of_embedded(f"rb {rank}") + self._of_embedded(f"rb {rank} {step}")
            for rank in range(RANKS + 1)
        )
        of_asked = (self._of_embedded(f"fq {asked} {step}") for asked in range(MOST_ASKED + 1))
        of_figure = (self._of_embedded(f"fg {has_figure} {step}") for has_figure in (False, True))
        return max(of_rank) + max(of_asked) + max(of_figure)

    def _most_stepped(self, begins: str) -> float:
        return max(self._of_embedded(f"{begins} {step}") for step in STEPS)

    def _sum_of_embedded(self, name: str) -> float:
        return self._sum([name.encode()], EMBEDDED_SEED)

    def _sum(self, features: Iterable[bytes], seed: int) -> float:
        return summed(self.weights, features, seed)
