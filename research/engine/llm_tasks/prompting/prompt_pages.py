"""Pages as a prompt shows them: numbered sentences, the most relevant ones where not all fit."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from itertools import pairwise
from math import fsum

from research.engine.ports import Page
from research.engine.text.relevance import RELEVANT, page_relevance, term_weights
from research.engine.text.sentences import (
    Sentence,
    sentence_terms,
    split_sentences,
    with_parent_heading,
)
from research.engine.text.similarity import COPIED, near_copies
from research.engine.text.tokens import term_set, words_in
from research.engine.untrusted.prompt_injection import only_quoted, removed_orders
from research.engine.untrusted.screening import label_of

PAGE_CHARACTERS = 8000
NEAR = 1
MOST_TERM_WORDS, MOST_HEADING_WORDS = 6, 7
_LABEL = re.compile(
    r"(?:note|tip|hint|warning|caution|important|example|figure|fig\.|table|listing)"
    r"(?: [\d.–-]+)?[.:]?",
    re.IGNORECASE,
)
"""What heads a note or numbers a figure and says nothing."""
OF_QUESTION, SHOWN_BEFORE = 0.25, 0.7
"""In the choice of a long page's sentences: what a term of the question weighs beside one of the
topic that the page is read for, and a term once more beside what it weighed before.
"""
MOST_TOPICS = 3
"""Topics for each of which a page that several searches named first has room."""
SHORT_PAGE = 1200
"""Characters up to which a page is shown whole."""
SHARE_OF_ONE = 0.5
"""Of a page's room, what one section or paragraph may take as a whole."""
MOST_LED = 400
"""Characters of a block, such as a command, that comes along with the sentence before it which ends
with a colon.
"""
_COLON = re.compile(r"[:：][)\]”\"]*$")


@dataclass(frozen=True)
class NumberedSentence:
    """A sentence as shown in the prompt, and whether it dictates wording. `heading` stands above it
    and the sentences after it; `term` is what they define.
    """

    number: int
    sentence: Sentence
    page: Page
    dictated: bool = False
    heading: str = ""
    term: str = ""


@dataclass(frozen=True)
class PromptPage:
    """A page as the prompt shows it: the sentences that fit, in the page's order."""

    number: int
    page: Page
    lines: tuple[NumberedSentence, ...]


def number_sentences(
    pages: Sequence[Page],
    aims: tuple[str, ...],
    room: int | None = None,
    copied_share: float = COPIED,
    *,
    only_near: bool = False,
    whole: bool = False,
    beside: Mapping[str, tuple[str, ...]] | None = None,
    known: Mapping[str, Set[int]] | None = None,
    pointed: bool = False,
) -> list[PromptPage]:
    """Number the sentences of all pages consecutively, each page cut to `PAGE_CHARACTERS`, or to
    that for each of the topics `beside` those of this reading that it may be relevant to as well.

    `aims` are the texts that a page may be relevant to, the question first. With `room` all pages
    together keep to this number of characters: equal shares, with unused room given to the others.
    Instructions to machines are left out, and so is what a near-copy repeats of an earlier page.
    `only_near` cuts relevant pages to the surroundings of wanted terms as well; `whole` cuts no
    page to them. Sentences that dictate what texts are to say are marked. Those whose numbers on
    their page are `known` are left out. Both mappings are by address. Where a
    reading is `pointed`, sentences have the headings above them and the terms that they define, and
    those of a long page are chosen by what its topics name, so that nothing which one names often
    crowds out the rest.
    """
    beside, known = beside or {}, known or {}
    shown = [
        [
            each
            for each in _shown_sentences(page, aims[0])
            if each.number not in known.get(page.url, ())
        ]
        for page in pages
    ]
    topics = [min(1 + len(beside.get(page.url, ())), MOST_TOPICS) for page in pages]
    most = [PAGE_CHARACTERS * number for number in topics]
    shares = _share_room([_text_size(each) for each in shown], most, room)
    sheets: list[PromptPage] = []
    number = 0
    for position, page in enumerate(pages):
        lines = []
        told = only_quoted(split_sentences(page.text), aims[0])
        repeated = _repeated_sentences(page, sheets, copied_share)
        wanted = (*aims, *beside.get(page.url, ()))
        left, section, headings = shown[position], "", [page.title]
        weights = _weights_of(wanted, OF_QUESTION if pointed else 1.0)
        near = left if whole else _near_sentences(page, left, wanted, weights, only_near)
        for sentence in _fit_sentences(page, near, weights, shares[position], pointed):
            if sentence.text not in repeated and not _LABEL.fullmatch(sentence.text):
                number += 1
                is_told = sentence.number in told
                heading = term = ""
                if pointed and sentence.section != section:
                    above, _, defined = sentence.section.partition(" › ")
                    term = _name_shown(defined, MOST_TERM_WORDS, aims[0])
                    path = with_parent_heading(page.text, sentence.start, above).split(" › ")
                    new = [each for each in path if each not in headings]
                    heading = " › ".join(
                        filter(None, (_name_shown(h, MOST_HEADING_WORDS, aims[0]) for h in new))
                    )
                    section, headings = sentence.section, [page.title, *path]
                lines.append(NumberedSentence(number, sentence, page, is_told, heading, term))
        sheets.append(PromptPage(position + 1, page, tuple(lines)))
    return sheets


def _name_shown(text: str, most: int, asked: str) -> str:
    """Return a heading, or a term that sentences define, such as a setting of a manual; "" for one
    that instructs, or that is no name but a text.
    """
    return label_of(text, asked) if 0 < words_in(text) <= most else ""


def _share_room(sizes: Sequence[int], most: Sequence[int], room: int | None) -> list[int]:
    """Return the characters that each page may take, the smallest ones served first."""
    left = sum(most) if room is None else room
    shares = [0] * len(sizes)
    ascending = sorted(range(len(sizes)), key=lambda at: min(sizes[at], most[at]))
    for turn, at in enumerate(ascending):
        shares[at] = min(sizes[at], most[at], left // (len(sizes) - turn))
        left -= shares[at]
    return shares


def _text_size(found: Iterable[Sentence]) -> int:
    return sum(len(sentence.text) for sentence in found)


def _shown_sentences(page: Page, asked: str) -> list[Sentence]:
    """Return the page's sentences, without its orders to machines."""
    every = split_sentences(page.text)
    told = removed_orders(every, asked)
    return [sentence for sentence in every if sentence.number not in told]


def _repeated_sentences(page: Page, sheets: Sequence[PromptPage], copied_share: float) -> set[str]:
    """Return the sentences of the earlier pages that this one is a near-copy of."""
    originals = (sheet for sheet in sheets if near_copies(sheet.page.text, page.text, copied_share))
    return {line.sentence.text for sheet in originals for line in sheet.lines}


def _fit_sentences(
    page: Page,
    shown: Sequence[Sentence],
    weights: Mapping[str, float],
    room: int,
    pointed: bool,
) -> Sequence[Sentence]:
    """Return the sentences of a page that fit, in order: all, or the best ones."""
    if _text_size(shown) <= room:
        return shown
    if pointed:
        return _covering_sentences(page, shown, weights, room)
    return _best_sentences(shown, _sentence_weights(page, shown, weights), room)


def _near_sentences(
    page: Page,
    shown: Sequence[Sentence],
    aims: tuple[str, ...],
    weights: Mapping[str, float],
    only_near: bool,
) -> Sequence[Sentence]:
    """Return the sentences with a wanted term and their neighbours; all of a short page.

    A page without any such term may be in another language and is returned whole, and so is a
    relevant one unless `only_near`.
    """
    if only_near and _text_size(shown) <= SHORT_PAGE:
        return shown
    worth = _sentence_weights(page, shown, weights)
    near = {number + step for number in worth for step in range(-NEAR, NEAR + 1)}
    if not near or (not only_near and _is_relevant(page, aims)):
        return shown
    return [sentence for sentence in shown if sentence.number in near]


def _is_relevant(page: Page, aims: tuple[str, ...]) -> bool:
    return any(page_relevance(aim, page.title, page.text) >= RELEVANT for aim in aims)


def _weights_of(aims: tuple[str, ...], of_question: float) -> Mapping[str, float]:
    """Return the weights of the terms of all aims, the first of which is the question."""
    every, topics = term_weights(" ".join(aims)), term_set(" ".join(aims[1:]))
    return {term: w if term in topics else of_question * w for term, w in every.items()}


def _sentence_weights(
    page: Page, shown: Sequence[Sentence], weights: Mapping[str, float]
) -> dict[int, float]:
    """Return the weights of sentences with a wanted term, by number; headings count."""
    worth = {
        sentence.number: sum(weight for term, weight in weights.items() if term in said)
        for sentence, said in zip(shown, _terms_of(page, shown), strict=True)
    }
    return {number: weight for number, weight in worth.items() if weight}


def _terms_of(page: Page, shown: Sequence[Sentence]) -> list[Set[str]]:
    """Return the terms of each sentence and of the heading above it."""
    held = sentence_terms(page.text)
    headings = ("" if each.section == page.title else each.section for each in shown)
    return [
        held[each.number] | term_set(heading) for each, heading in zip(shown, headings, strict=True)
    ]


def _best_sentences(
    shown: Sequence[Sentence], worth: Mapping[int, float], room: int
) -> list[Sentence]:
    """Return the opening, then the most relevant sentences, each with as much of its surroundings
    as fits: its section, its paragraph or its neighbours.
    """
    kept = {shown[0].number: shown[0]} if len(shown[0].text) <= room else {}
    room -= _text_size(kept.values())
    around = _Surroundings.of(shown, most=int(room * SHARE_OF_ONE))
    ordered = sorted(range(len(shown)), key=lambda at: -worth.get(shown[at].number, 0.0))
    for at in ordered:
        for group in around.groups(at):
            new = [sentence for sentence in group if sentence.number not in kept]
            if _text_size(new) <= room:
                kept |= {sentence.number: sentence for sentence in new}
                room -= _text_size(new)
    return sorted(kept.values(), key=lambda sentence: sentence.number)


def _covering_sentences(
    page: Page, shown: Sequence[Sentence], weights: Mapping[str, float], room: int
) -> list[Sentence]:
    """Choose sentences greedily: the opening, then repeatedly the sentence with the highest weight
    and as much of its surroundings as fits. The weight of a term decays each time it is shown.
    """
    said, left = _terms_of(page, shown), dict(weights)
    kept = {shown[0].number: shown[0]} if len(shown[0].text) <= room else {}
    room -= _text_size(kept.values())
    around = _Surroundings.of(shown, most=int(room * SHARE_OF_ONE))

    def cost(at: int) -> float:
        # Exact, so that the order of a set, which differs between processes, doesn't matter.
        return -fsum(left[term] for term in said[at] if term in left)

    waiting = [(cost(at), at) for at in range(len(shown))]
    heapify(waiting)
    while waiting:
        _, at = heappop(waiting)
        now = cost(at), at
        if waiting and now > waiting[0]:  # others have shown its terms meanwhile
            heappush(waiting, now)
            continue
        for group in around.groups(at):
            new = {each.number: each for each in group if each.number not in kept}
            if new and _text_size(new.values()) <= room:
                kept |= new
                room -= _text_size(new.values())
                for term in {term for number in new for term in sentence_terms(page.text)[number]}:
                    if term in left:
                        left[term] *= SHOWN_BEFORE
    return sorted(kept.values(), key=lambda sentence: sentence.number)


@dataclass(frozen=True)
class _Surroundings:
    """The sections and paragraphs of what is shown of a page, those of `most` characters."""

    shown: Sequence[Sentence]
    sections: Mapping[str, Sequence[Sentence]]
    blocks: Mapping[int, Sequence[Sentence]]
    led: Mapping[int, Sequence[Sentence]]
    """Blocks that sentences lead to, by the number of the sentence."""

    @classmethod
    def of(cls, shown: Sequence[Sentence], most: int) -> _Surroundings:
        sections: dict[str, list[Sentence]] = {}
        blocks: dict[int, list[Sentence]] = {}
        for sentence in shown:
            sections.setdefault(sentence.section, []).append(sentence)
            blocks.setdefault(sentence.block, []).append(sentence)
        led = {
            one.number: blocks[other.block]
            for one, other in pairwise(shown)
            if one.section == other.section and one.block != other.block
            and _COLON.search(one.text) and _text_size(blocks[other.block]) <= MOST_LED
        }  # fmt: skip
        return cls(
            shown,
            {key: found for key, found in sections.items() if _text_size(found) <= most},
            {key: found for key, found in blocks.items() if _text_size(found) <= most},
            led,
        )

    def groups(self, at: int) -> Iterator[Sequence[Sentence]]:
        """Yield the surroundings that may be shown with a sentence, largest first."""
        sentence = self.shown[at]
        yield self.sections.get(sentence.section, ())
        block = self.blocks.get(sentence.block, ())
        beside = self.shown[max(0, at - NEAR) : at + NEAR + 1]
        beside = [other for other in beside if other.section == sentence.section]
        for group in (block, beside, [sentence]):
            last = group[-1].number if group else -1
            yield [*group, *self.led.get(last, ())]
