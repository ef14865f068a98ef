"""Pages as a prompt shows them: numbered sentences, the most relevant ones where not all fit."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from research.engine.copies import near_copies
from research.engine.directives import orders
from research.engine.relevance import RELEVANT, relevance, term_weights
from research.engine.sentences import Sentence, sentence_terms, sentences
from research.engine.text import term_set
from research.engine.tools import Page

PAGE_CHARACTERS = 8000
NEAR = 1
SHARE_OF_ONE = 0.5
"""Of a page's room, what one section or paragraph may take as a whole."""


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


def number_sentences(
    pages: Sequence[Page], aims: tuple[str, ...], room: int | None = None
) -> list[Sheet]:
    """Number the sentences of all pages through, each page cut to `PAGE_CHARACTERS`.

    `aims` are the texts that a page may be relevant to. With `room` all pages together keep to
    so many characters: an equal share each, and what one doesn't need is for the others. What a
    page tells machines to do is not shown, nor what a near-copy repeats of an earlier page.
    """
    shown = [_shown(page) for page in pages]
    shares = _shares([_size(each) for each in shown], room)
    sheets: list[Sheet] = []
    number = 0
    for position, page in enumerate(pages):
        lines = []
        repeated = _repeated(page, sheets)
        for sentence in _fitting(page, shown[position], aims, shares[position]):
            if sentence.text not in repeated:
                number += 1
                lines.append(Numbered(number, sentence, page))
        sheets.append(Sheet(position + 1, page, tuple(lines)))
    return sheets


def _shares(sizes: Sequence[int], room: int | None) -> list[int]:
    """The characters that each page may take, the smallest ones served first."""
    left = len(sizes) * PAGE_CHARACTERS if room is None else room
    shares = [0] * len(sizes)
    ascending = sorted(range(len(sizes)), key=lambda at: sizes[at])
    for turn, at in enumerate(ascending):
        shares[at] = min(sizes[at], PAGE_CHARACTERS, left // (len(sizes) - turn))
        left -= shares[at]
    return shares


def _size(found: Iterable[Sentence]) -> int:
    return sum(len(sentence.text) for sentence in found)


def _shown(page: Page) -> list[Sentence]:
    """The page's sentences, without its orders to machines."""
    every = sentences(page.text)
    told = orders(every)
    return [sentence for sentence in every if sentence.number not in told]


def _repeated(page: Page, sheets: Sequence[Sheet]) -> set[str]:
    """The sentences of the earlier pages that this one is a near-copy of."""
    originals = (sheet for sheet in sheets if near_copies(sheet.page.text, page.text))
    return {line.sentence.text for sheet in originals for line in sheet.lines}


def _fitting(
    page: Page, shown: Sequence[Sentence], aims: tuple[str, ...], room: int
) -> Sequence[Sentence]:
    """What fits of a page, in its order: all of it, or what `_best` chooses.

    Of a page that is hardly relevant only the sentences with a wanted term are shown, and their
    neighbours; where no sentence has one, it may be in another language, and counts as relevant.
    """
    worth = _worth(page, shown, aims)
    near = {number + step for number in worth for step in range(-NEAR, NEAR + 1)}
    if near and not any(relevance(aim, page.title, page.text) >= RELEVANT for aim in aims):
        shown = [sentence for sentence in shown if sentence.number in near]
    return shown if _size(shown) <= room else _best(shown, worth, room)


def _worth(page: Page, shown: Sequence[Sentence], aims: tuple[str, ...]) -> dict[int, float]:
    """What the sentences with a wanted term weigh, by number; their headings count."""
    held, weights = sentence_terms(page.text), term_weights(" ".join(aims))
    worth = {}
    for sentence in shown:
        heading = "" if sentence.section == page.title else sentence.section
        said = held[sentence.number] | term_set(heading)
        worth[sentence.number] = sum(weight for term, weight in weights.items() if term in said)
    return {number: weight for number, weight in worth.items() if weight}


def _best(shown: Sequence[Sentence], worth: Mapping[int, float], room: int) -> list[Sentence]:
    """The opening, then with each sentence, the most relevant ones first, as much of what stands
    around it as fits: its section, its paragraph, its neighbours.
    """
    kept = {shown[0].number: shown[0]} if len(shown[0].text) <= room else {}
    room -= _size(kept.values())
    around = _Surroundings.of(shown, most=int(room * SHARE_OF_ONE))
    ordered = sorted(range(len(shown)), key=lambda at: -worth.get(shown[at].number, 0.0))
    for at in ordered:
        for group in around.groups(at):
            new = [sentence for sentence in group if sentence.number not in kept]
            if _size(new) <= room:
                kept |= {sentence.number: sentence for sentence in new}
                room -= _size(new)
    return sorted(kept.values(), key=lambda sentence: sentence.number)


@dataclass(frozen=True)
class _Surroundings:
    """The sections and paragraphs of what is shown of a page, those of `most` characters."""

    shown: Sequence[Sentence]
    sections: Mapping[str, Sequence[Sentence]]
    blocks: Mapping[int, Sequence[Sentence]]

    @classmethod
    def of(cls, shown: Sequence[Sentence], most: int) -> _Surroundings:
        sections: dict[str, list[Sentence]] = {}
        blocks: dict[int, list[Sentence]] = {}
        for sentence in shown:
            sections.setdefault(sentence.section, []).append(sentence)
            blocks.setdefault(sentence.block, []).append(sentence)
        return cls(
            shown,
            {key: found for key, found in sections.items() if _size(found) <= most},
            {key: found for key, found in blocks.items() if _size(found) <= most},
        )

    def groups(self, at: int) -> Iterator[Sequence[Sentence]]:
        """What may be shown with a sentence, the most of it first."""
        sentence = self.shown[at]
        yield self.sections.get(sentence.section, ())
        yield self.blocks.get(sentence.block, ())
        beside = self.shown[max(0, at - NEAR) : at + NEAR + 1]
        yield [other for other in beside if other.section == sentence.section]
        yield [sentence]
