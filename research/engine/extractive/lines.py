"""The sentences of a page as the ranking sees them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from research.engine.sentences import Sentence, sentences
from research.engine.text import term_set, terms


@dataclass(frozen=True)
class Line:
    """A sentence with its terms in order and as a set, its heading's, and the defined term
    that it stands under."""

    sentence: Sentence
    terms: tuple[str, ...]
    words: frozenset[str]
    heading: frozenset[str]
    label: str


@lru_cache(maxsize=64)
def lines(text: str) -> tuple[Line, ...]:
    """The sentences of a page's text, with their terms."""
    return tuple(
        Line(
            sentence,
            found := tuple(terms(sentence.text)),
            frozenset(found),
            term_set(sentence.section),
            text[slice(*sentence.label)] if sentence.label else "",
        )
        for sentence in sentences(text)
    )
