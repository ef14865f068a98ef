"""How well each sentence of some pages answers a sub-question.

Four views of a sentence count alike: itself with its heading, what stands around it, and
the BM25 of its window and of its section. Words that the best windows share, and the kind of
thing that the question asks for, come on top. The weights are round numbers,
picked by hand among a few that did about as well on questions over documentation.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby

from research.engine.extractive.matching import Held, Question, Vocabulary, most, summed
from research.engine.extractive.wanted import Need, answers_kind
from research.engine.text import Sentence, sentences, term_set, terms
from research.engine.tools import Page

RADIUS = 3
OWN = NEAR = WINDOW = SECTION = 2.0
FEEDBACK = 1.0
KIND = 5.0
TOTAL = OWN + NEAR + WINDOW + SECTION + FEEDBACK + KIND
FEEDBACK_LINES = 12
FEEDBACK_TERMS = 20


@dataclass(frozen=True)
class Line:
    """A sentence as the ranking sees it: its terms in order and as a set, its heading's, and
    the defined term that it stands under."""

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


@dataclass
class _View:
    """A line against a question: what it, its heading and its surroundings hold."""

    line: Line
    own: float
    near: float
    heading: float
    window: float
    section: float


def _sections(page: Sequence[Line]) -> list[list[Line]]:
    return [list(group) for _, group in groupby(page, lambda line: line.sentence.section)]


def _around(at: int) -> slice:
    """The places of a window's lines in their section."""
    return slice(max(0, at - RADIUS), at + RADIUS + 1)


class Ranking:
    """The sentences of some pages, to be ranked for any number of sub-questions."""

    def __init__(self, pages: Sequence[Page]) -> None:
        self._pages = [_sections(lines(page.text)) for page in pages]
        every = [line for page in self._pages for section in page for line in section]
        self._vocabulary = Vocabulary(line.words | line.heading for line in every)
        words = sum(len(line.terms) for line in every)
        windows = sum(
            len(line.terms)
            for page in self._pages
            for section in page
            for at in range(len(section))
            for line in section[_around(at)]
        )
        self._mean_window = windows / max(1, len(every))
        self._mean_section = words / max(1, sum(map(len, self._pages)))

    def scores(self, need: Need) -> list[list[float]]:
        """0-1 for each sentence of each page; falls where the pages lack the question's words."""
        question = Question(need.terms, need.names, self._vocabulary)
        views = [
            [view for section in page for view in self._section(section, question)]
            for page in self._pages
        ]
        every = [view for page in views for view in page]
        best_window = max((view.window for view in every), default=0.0) or 1.0
        best_section = max((view.section for view in every), default=0.0) or 1.0
        shared = self._shared(every, question, best_window)
        return [
            [
                self._score(view, need, shared, best_window, best_section) * question.known_share
                for view in page
            ]
            for page in views
        ]

    def _score(
        self,
        view: _View,
        need: Need,
        shared: dict[str, float],
        best_window: float,
        best_section: float,
    ) -> float:
        if not view.near and not view.heading:
            return 0.0
        line = view.line
        value = OWN * view.own + NEAR * view.near
        value += WINDOW * view.window / best_window + SECTION * view.section / best_section
        value += FEEDBACK * sum(shared[word] for word in line.words & shared.keys())
        value += KIND * answers_kind(line.sentence.text, line.label, line.words, need)
        return value / TOTAL

    def _section(self, section: Sequence[Line], question: Question) -> list[_View]:
        heading = question.held(section[0].heading)
        held = [question.held(line.words) for line in section]
        counts = [question.counted(line.terms) for line in section]
        lengths = [len(line.terms) for line in section]
        whole = question.bm25(summed([*counts, heading, heading]), sum(lengths), self._mean_section)
        return [
            _View(
                line,
                question.share(most((held[at], heading))),
                question.share(most(held[_around(at)])),
                question.share(heading),
                self._window(question, counts[_around(at)], lengths[_around(at)]),
                whole,
            )
            for at, line in enumerate(section)
        ]

    def _window(self, question: Question, counts: Sequence[Held], lengths: Sequence[int]) -> float:
        return question.bm25(summed(counts), sum(lengths), self._mean_window)

    def _shared(
        self, views: Sequence[_View], question: Question, best_window: float
    ) -> dict[str, float]:
        """Terms that several of the best windows share, with their part of all such terms."""
        counted: Counter[str] = Counter()
        ranked = sorted(
            views, key=lambda v: -(0.5 * v.near + 0.5 * v.window / best_window + 0.3 * v.heading)
        )
        for rank, view in enumerate(ranked[:FEEDBACK_LINES]):
            for word in view.line.words - question.stands_for.keys():
                counted[word] += 1 / (1 + 0.2 * rank)  # type: ignore[assignment]
        weighed = {w: c * self._vocabulary.rarity(w) for w, c in counted.items() if c > 1.2}
        chosen = sorted(weighed, key=lambda word: (-weighed[word], word))[:FEEDBACK_TERMS]
        total = sum(weighed[word] for word in chosen) or 1.0
        return {word: weighed[word] / total for word in chosen}
