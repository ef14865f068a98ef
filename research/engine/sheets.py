"""Pages as a prompt shows them: numbered sentences, the most relevant ones where not all fit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from research.engine.copies import near_copies
from research.engine.directives import orders
from research.engine.relevance import term_weights
from research.engine.sentences import Sentence, sentence_terms, sentences
from research.engine.text import term_set
from research.engine.tools import Page

PAGE_CHARACTERS = 8000
NEAR = 1


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
    tells machines to do is not shown, nor what a near-copy repeats of an earlier page.
    """
    share = PAGE_CHARACTERS if room is None else min(PAGE_CHARACTERS, room // max(1, len(pages)))
    sheets: list[Sheet] = []
    number = 0
    for position, page in enumerate(pages, 1):
        lines = []
        repeated = _repeated(page, sheets)
        for sentence in _fitting(page, wanted, share):
            if sentence.text not in repeated:
                number += 1
                lines.append(Numbered(number, sentence, page))
        sheets.append(Sheet(position, page, tuple(lines)))
    return sheets


def _repeated(page: Page, sheets: Sequence[Sheet]) -> set[str]:
    """The sentences of the earlier pages that this one is a near-copy of."""
    originals = (sheet for sheet in sheets if near_copies(sheet.page.text, page.text))
    return {line.sentence.text for sheet in originals for line in sheet.lines}


def _fitting(page: Page, wanted: str, room: int) -> Sequence[Sentence]:
    """The most relevant sentences that fit, in the page's order; the opening before all.

    A sentence without any of the wanted terms that stands beside none that has one is left out.
    """
    every, held = sentences(page.text), sentence_terms(page.text)
    told = orders(every)
    weights = term_weights(wanted)

    def worth(sentence: Sentence) -> float:
        heading = "" if sentence.section == page.title else sentence.section
        said = held[sentence.number] | term_set(heading)
        return sum(weight for term, weight in weights.items() if term in said)

    near = {s.number + step for s in every if worth(s) for step in range(-NEAR, NEAR + 1)}
    found = [s for s in every if s.number not in told and (s.number in near or not near)]
    if sum(len(s.text) for s in found) <= room:
        return found
    kept = []
    for sentence in sorted(found, key=lambda s: (s.number > 1, -worth(s), s.number)):
        if len(sentence.text) <= room:
            kept.append(sentence)
            room -= len(sentence.text)
    return sorted(kept, key=lambda s: s.number)
