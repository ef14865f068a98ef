"""The sentences of a page as the ranking sees them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from research.engine.text.sentences import Sentence, split_sentences
from research.engine.text.tokens import split_terms, term_set


@dataclass(frozen=True)
class RankedSentence:
    """A sentence with its terms in order and as a set, its heading's terms, and the defined term
    that it explains.
    """

    sentence: Sentence
    terms: tuple[str, ...]
    words: frozenset[str]
    heading: frozenset[str]
    label: str


@lru_cache(maxsize=64)
def ranked_sentences(text: str) -> tuple[RankedSentence, ...]:
    """Return the sentences of a page's text, with their terms."""
    return tuple(
        RankedSentence(
            sentence,
            found := tuple(split_terms(sentence.text)),
            frozenset(found),
            term_set(sentence.section),
            text[slice(*sentence.label)] if sentence.label else "",
        )
        for sentence in split_sentences(text)
    )
