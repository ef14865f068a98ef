"""How well each passage of some pages answers a sub-question.

A passage gives seventeen signs between 0 and 1: what it says of the question, how much is said
of it around the passage, whether it brings the kind of thing that is asked for, and where it
stands. Their weighted sum is its score; `weights.py` has the weights and where they come from.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from research.engine.extractive.lines import Line, lines
from research.engine.extractive.matching import Held, Question, Vocabulary, summed
from research.engine.extractive.passages import Passage
from research.engine.extractive.wanted import Need, brings_kind, defines, is_version_note
from research.engine.extractive.weights import BASE, BY_HAND, WEIGHTS
from research.engine.text import joined_verbs, terms, unique
from research.engine.tools import Page

RADIUS = 3
WORTH = WEIGHTS | BY_HAND
MANY_TERMS = 6
TITLE_COUNTS = 3
ON_THE_QUESTION = 0.5
"""Share of the question in one sentence from which the pages read count as being on it."""


@dataclass(frozen=True)
class _Place:
    """What stands around a line: BM25 of its window and section, and whether it opens it."""

    line: Line
    window: float
    section: float
    opens: bool


class Ranking:
    """The pages whose passages are ranked, for any number of sub-questions."""

    def __init__(self, pages: Sequence[Page]) -> None:
        self.titles = [page.title for page in pages]
        self.pages = [_sections(lines(page.text)) for page in pages]
        every = [line for page in self.pages for section in page for line in section]
        self.vocabulary = Vocabulary(line.words | line.heading for line in every)
        words = sum(len(line.terms) for line in every)
        windows = sum(
            len(line.terms)
            for page in self.pages
            for section in page
            for at in range(len(section))
            for line in section[_around(at)]
        )
        self.mean_window = windows / max(1, len(every))
        self.mean_section = words / max(1, sum(map(len, self.pages)))
        self.mean_page = words / max(1, len(pages))

    def scores(self, need: Need) -> Scores:
        return Scores(self, need)


def _sections(page: Sequence[Line]) -> list[list[Line]]:
    return [list(group) for _, group in groupby(page, lambda line: line.sentence.section)]


def _around(at: int) -> slice:
    """The places of a window's lines in their section."""
    return slice(max(0, at - RADIUS), at + RADIUS + 1)


class Scores:
    """How well passages of a ranking's pages answer one sub-question."""

    def __init__(self, ranking: Ranking, need: Need) -> None:
        self._ranking, self._need = ranking, need
        nouns = [noun for noun in joined_verbs(need.text) if ranking.vocabulary.holders[noun]]
        asked = unique([*need.terms, *nouns])
        self._question = Question(asked, need.names, ranking.vocabulary)
        self._places = [
            [place for section in page for place in self._section(section)]
            for page in ranking.pages
        ]
        every = [place for page in self._places for place in page]
        self._reached = min(1.0, self._most(every) / ON_THE_QUESTION)
        self._best_window = max((place.window for place in every), default=0.0) or 1.0
        self._best_section = max((place.section for place in every), default=0.0) or 1.0
        whole = [self._page(number) for number in range(len(ranking.pages))]
        best = max(whole, default=0.0) or 1.0
        self._whole_page = [value / best for value in whole]
        self._page_window = [
            max((place.window for place in page), default=0.0) / self._best_window
            for page in self._places
        ]

    def of(self, page: int, passage: Passage) -> float:
        """0-1 for a passage of the page of this number; falls where no sentence of any page
        holds much of the question, and is 0 where nothing around the passage holds any."""
        place = self._places[page][passage.number]
        if not place.window and not self._question.held(place.line.heading):
            return 0.0
        signs = self.signs(page, passage)
        value = BASE + sum(WORTH[name] * sign for name, sign in signs.items())
        return min(1.0, max(0.0, value)) * self._reached

    def signs(self, page: int, passage: Passage) -> dict[str, float]:
        """Every sign of a passage, 0-1, by the names of `WORTH`."""
        question, place = self._question, self._places[page][passage.number]
        above = passage.subject
        kind = brings_kind(passage.text, self._need)
        return {
            "with its headings": question.share(question.held(passage.terms | above)),
            "word for word": question.word_for_word(passage.terms),
            "headings word for word": question.word_for_word(above),
            "terms": min(MANY_TERMS, len(question.held(passage.terms))) / MANY_TERMS,
            "window": place.window / self._best_window,
            "section": place.section / self._best_section,
            "page": self._whole_page[page],
            "page's best window": self._page_window[page],
            "number": float(kind.number),
            "default": float(kind.default),
            "condition": float(kind.condition),
            "opens its section": float(place.opens),
            "list item": float(place.line.sentence.kind == "item"),
            "table row": float(place.line.sentence.kind == "row"),
            "definition": float(defines(passage.text, self._need)),
            "counted": float(kind.counted),
            "version note": float(is_version_note(passage.text)),
        }

    def _most(self, places: Sequence[_Place]) -> float:
        """The largest share of the whole question in one line and its heading."""
        words = (place.line.words | place.line.heading for place in places)
        best = max((self._question.share(self._question.held(each)) for each in words), default=0.0)
        return best * self._question.known_share

    def _section(self, section: Sequence[Line]) -> list[_Place]:
        question, ranking = self._question, self._ranking
        heading = question.held(section[0].heading)
        counts = [question.counted(line.terms) for line in section]
        lengths = [len(line.terms) for line in section]
        whole = question.bm25(
            summed([*counts, heading, heading]), sum(lengths), ranking.mean_section
        )
        return [
            _Place(line, self._window(counts[_around(at)], lengths[_around(at)]), whole, at == 0)
            for at, line in enumerate(section)
        ]

    def _window(self, counts: Sequence[Held], lengths: Sequence[int]) -> float:
        return self._question.bm25(summed(counts), sum(lengths), self._ranking.mean_window)

    def _page(self, number: int) -> float:
        """BM25 of a whole page, its title counted several times."""
        every = [line for section in self._ranking.pages[number] for line in section]
        title = self._question.counted(terms(self._ranking.titles[number]))
        counts = summed([*(self._question.counted(line.terms) for line in every),
                         *[title] * TITLE_COUNTS])  # fmt: skip
        length = sum(len(line.terms) for line in every)
        return self._question.bm25(counts, length, self._ranking.mean_page)
