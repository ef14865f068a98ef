"""Relevance of a page to a sub-question: one formula, 0-1, without a model.

From 0.6 on a page counts as relevant for the overview gate. `python -m bench.retrieval` measures
how well that threshold separates pages that answer from others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType

from research.engine.text import entities
from research.engine.text.sentences import sentence_terms
from research.engine.text.similarity import jaccard
from research.engine.text.tokens import split_terms, split_tokens, term_set

_NAME_WEIGHT = 2.0
_WINDOW = 3
WORDED_ALIKE = 0.3
RELEVANT = 0.6
# A page answers in other words than it is asked in: of the pages that are known to answer,
# nine in ten hold this share of the terms, and more than one of them, or a name; of other
# pages two in a hundred. See `python -m bench.retrieval`.
ANSWERING_SHARE = 0.25
MORE_THAN_ONE = 1.5
OF_A_FEW = 0.75


@lru_cache(maxsize=4096)
def page_relevance(wanted: str, title: str, text: str) -> float:
    """Return the weighted share of the query's terms that a page contains, and contains together.

    Terms of proper names weigh double. Half of the result is the weight of the terms anywhere in
    the page (title included), half the best weight within three neighbouring sentences. The share
    at which pages usually answer maps to `RELEVANT`; below and above it the result grows linearly.
    """
    weights = term_weights(wanted)
    total = sum(weights.values())
    if not total:
        return 0.0
    asked = frozenset(weights)
    in_title = asked & term_set(title)
    held = [asked & bag for bag in sentence_terms(text)]
    everywhere = _sum_weights(in_title.union(*held), weights)
    near = max(
        (
            _sum_weights(in_title.union(*held[i : i + _WINDOW]), weights)
            for i, h in enumerate(held)
            if h
        ),
        default=_sum_weights(in_title, weights) if held else 0.0,
    )
    return round(_scale_relevance(0.5 * everywhere + 0.5 * near, total), 4)


def _scale_relevance(held: float, total: float) -> float:
    enough = min(max(ANSWERING_SHARE * total, MORE_THAN_ONE), OF_A_FEW * total)
    if held <= enough:
        return RELEVANT * held / enough
    return RELEVANT + (1 - RELEVANT) * (held - enough) / (total - enough)


def hit_relevance(wanted: str, title: str, snippet: str) -> float:
    """Return the same idea on what a search shows of a page before it is read.

    A title that is worded like the question itself is worth up to `WORDED_ALIKE` more.
    """
    weights = term_weights(wanted)
    total = sum(weights.values())
    if not total:
        return 0.0
    in_title = _sum_weights(term_set(title), weights) / total
    anywhere = _sum_weights(term_set(f"{title} {snippet}"), weights) / total
    alike = jaccard(_words_in(wanted), _words_in(title))
    shown = 0.35 * in_title + 0.65 * anywhere
    return round((1 - WORDED_ALIKE) * shown + WORDED_ALIKE * alike, 4)


def _words_in(text: str) -> frozenset[str]:
    return frozenset(token.lower() for token in split_tokens(text))


@lru_cache(maxsize=256)
def term_weights(wanted: str) -> MappingProxyType[str, float]:
    named = Counter(t for name in entities.find_names(wanted) for t in term_set(name))
    return MappingProxyType(
        {t: _NAME_WEIGHT if named[t] else 1.0 for t in dict.fromkeys(split_terms(wanted))}
    )


def _sum_weights(held: frozenset[str] | set[str], weights: Mapping[str, float]) -> float:
    return sum(weight for term, weight in weights.items() if term in held)
