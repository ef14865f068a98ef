"""Pages as a prompt shows them: numbered sentences, the most relevant ones where not all fit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from research.engine.directives import orders
from research.engine.relevance import term_weights
from research.engine.text import Sentence, sentence_terms, sentences, term_set
from research.engine.tools import Page

PAGE_CHARACTERS = 8000


@dataclass(frozen=True)
class Numbered:
    """A sentence as the prompt shows it."""

    number: int
    sentence: Sentence
    page: Page


@dataclass(frozen=True)
class Sheet:
    """A page as the prompt shows it: the sentences that fit, in the page's order."""

    number: int
    page: Page
    lines: tuple[Numbered, ...]


def number_sentences(pages: Sequence[Page], wanted: str, room: int | None = None) -> list[Sheet]:
    """Number the sentences of all pages through, each page cut to `PAGE_CHARACTERS`.

    With `room` all pages together keep to so many characters, an equal share each. What a page
    tells machines to do is not shown.
    """
    share = PAGE_CHARACTERS if room is None else min(PAGE_CHARACTERS, room // max(1, len(pages)))
    sheets, number = [], 0
    for position, page in enumerate(pages, 1):
        lines = []
        for sentence in _fitting(page, wanted, share):
            number += 1
            lines.append(Numbered(number, sentence, page))
        sheets.append(Sheet(position, page, tuple(lines)))
    return sheets


def _fitting(page: Page, wanted: str, room: int) -> Sequence[Sentence]:
    """The most relevant sentences that fit, in the page's order; the opening before all."""
    every, held = sentences(page.text), sentence_terms(page.text)
    told = orders(every)
    found = [sentence for sentence in every if sentence.number not in told]
    if sum(len(s.text) for s in found) <= room:
        return found
    weights = term_weights(wanted)

    def worth(sentence: Sentence) -> float:
        said = held[sentence.number] | term_set(sentence.section)
        return sum(weight for term, weight in weights.items() if term in said)

    kept = []
    for sentence in sorted(found, key=lambda s: (s.number > 1, -worth(s), s.number)):
        if len(sentence.text) <= room:
            kept.append(sentence)
            room -= len(sentence.text)
    return sorted(kept, key=lambda s: s.number)
