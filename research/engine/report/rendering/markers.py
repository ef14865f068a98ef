"""The markers of a report's citations, and what its parts share as it is rendered."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import cached_property

from research.engine.assessment.answer_status import AspectStatus, mark_of
from research.engine.evidence.ledger import Ledger
from research.engine.evidence.quotes import plain_quote
from research.engine.evidence.relations import Cell
from research.engine.journal.forms import Form
from research.engine.records import Citation, Evidence, OpenPoint
from research.engine.report.draft import Statement
from research.engine.report.parts.dating import year_of_cell
from research.engine.report.parts.headings import headings_of
from research.engine.report.parts.sources import lone_titles
from research.engine.report.rendering.calculations import Calculated, lines_with
from research.engine.report.rendering.markdown_escape import (
    PLACE_END,
    PLACE_START,
    escape_markdown,
    escape_sentence,
    escape_with_code,
    with_code_words,
)
from research.engine.report.report_format import Layout
from research.engine.report.report_i18n import Labels, labels_for
from research.engine.text.tokens import unique_texts
from research.engine.untrusted.address_wall import AddressWall

_PLACE = re.compile(rf"{PLACE_START}(\d{{1,4}}):([E\d,]+){PLACE_END}")


USUAL = Layout()


@dataclass
class Markers:
    """Number the cited pages in the order in which the report cites them.

    Until `place` replaces them, markers carry the ids of their records, since the order of
    rendering is not the order of reading.
    """

    ledger: Ledger
    calculations: Sequence[Calculated] = ()
    layout: Layout = USUAL
    numbers: dict[str, int] = field(default_factory=dict)
    quoted: dict[tuple[str, str], None] = field(default_factory=dict)
    """Pairs of a cited record and the page that it is cited from."""
    places: dict[int, list[tuple[str, ...]]] = field(default_factory=dict)
    untold: Mapping[Statement, Sequence[str]] = field(default_factory=dict)
    """Records that contradict a statement and are told beside it alone."""
    flagged: Set[str] = frozenset()
    """Sub-questions beside which the short answer marks that sources disagree."""
    left_open: Mapping[str, int] = field(default_factory=dict)
    """How many points the report lists as open, by their sub-question."""
    code: Set[str] = frozenset()
    """Words that some statement sets as code."""
    weighed: Set[str] = frozenset()
    """Records whose disagreement a conclusion of the author of all sections weighs."""
    boxed: Set[str] = frozenset()
    """Records whose disagreement is told in a box of the section that is being rendered."""
    is_whole: bool = False
    """Whether one author wrote all sections, whose sentences may each tell a dispute."""
    open_first: Sequence[OpenPoint] = ()
    """Open points that the short answer names."""
    given: Mapping[str, str] = field(default_factory=dict)
    """Headings that their author gave to the sections on sub-questions."""
    told_in_one: set[Statement] = field(default_factory=set)
    """Such sentences of the sections."""

    @cached_property
    def words(self) -> Labels:
        return labels_for(self.ledger.plan.language)

    @cached_property
    def headings(self) -> Mapping[str, str]:
        """Return the escaped headings of the sub-questions, or of the sections that are on them."""
        known = {**headings_of(self.ledger), **self.given}
        return {aspect_id: escape_markdown(text) for aspect_id, text in known.items()}

    @cached_property
    def lone_titles(self) -> Mapping[str, str]:
        """Return the titles that name the pages of the only site or collection; see `sources`."""
        return lone_titles(self.ledger)

    @cached_property
    def wall(self) -> AddressWall:
        pages = tuple(self.ledger.pages.values())
        return AddressWall(self.ledger.question, pages)

    @property
    def statuses(self) -> dict[str, AspectStatus]:
        """Return how far each sub-question is answered in this report."""
        return {
            each.id: replace(mark_of(self.ledger, each), open_points=self.left_open.get(each.id, 0))
            for each in self.ledger.aspects.values()
        }

    @property
    def urls(self) -> set[str]:
        """Return the addresses of the pages that are cited so far."""
        return set(self.numbers)

    def quote_of(self, record: Evidence) -> str:
        """Return a record's first quote, without addresses that may not be given."""
        return self.escaped(self.wall.masked(plain_quote(record.sources[0].quote)))

    def escaped(self, text: str) -> str:
        """Return a text of a page or a person as Markdown, before `Form.COMPUTED` without code."""
        return escape_with_code(text) if self._shows_code else escape_markdown(text)

    def cell(self, text: str) -> str:
        """Return the text of a cell like `escaped`, with words as code that are elsewhere."""
        return escape_with_code(text, self.code) if self._shows_code else escape_markdown(text)

    def sentence(self, text: str) -> str:
        """Return a sentence of a model as Markdown, before `Form.COMPUTED` with identifiers alone
        as code. Words that are code elsewhere in the report are code.
        """
        return escape_sentence(with_code_words(text, self.code), has_options=self._shows_code)

    @property
    def _shows_code(self) -> bool:
        return self.ledger.began >= Form.COMPUTED

    def of(self, evidence_ids: Iterable[str]) -> str:
        """Return a marker for each page behind these records, still with the ids of its records."""
        by_page: dict[str, list[str]] = {}
        for record_id in evidence_ids:
            for url in unique_texts(s.url for s in self.ledger.book.records[record_id].sources):
                by_page.setdefault(url, []).append(record_id)
        marks: dict[int, str] = {}
        for url, ids in by_page.items():
            number = self.numbers.setdefault(url, len(self.numbers) + 1)
            self.quoted |= dict.fromkeys((record_id, url) for record_id in ids)
            marks[number] = f"{PLACE_START}{number}:{','.join(dict.fromkeys(ids))}{PLACE_END}"
        return "".join(marks[number] for number in sorted(marks))

    def numbers_of(self, evidence_ids: Iterable[str]) -> str:
        """Return the plain markers of the cited pages behind these records."""
        wanted = {*evidence_ids}
        known = {url for record_id, url in self.quoted if record_id in wanted}
        return "".join(f"[{number}]" for url, number in self.numbers.items() if url in known)

    def year_of(self, cell: Cell) -> str:
        """Return the year of a compared value that may have been overtaken."""
        stale = self.layout.stale
        return year_of_cell(cell, self.ledger, stale) if stale else ""

    def place(self, markdown: str) -> str:
        """Return the report with plain markers such as `[3]`, and note the records of each."""
        for marker in _PLACE.finditer(markdown):
            self.places.setdefault(int(marker[1]), []).append(tuple(marker[2].split(",")))
        return without_places(markdown)

    def citations(self) -> tuple[Citation, ...]:
        found, words = [], labels_for(self.ledger.plan.language)
        for url, number in self.numbers.items():
            ids = tuple(record_id for record_id, page in self.quoted if page == url)
            lines = unique_texts(
                line
                for i in ids
                for line in lines_with(i, self.calculations, self.numbers_of, words)
            )
            places = tuple(self.places.get(number, ()))
            found.append(Citation(number, ids, url, tuple(lines), places))
        return tuple(found)


def without_places(markdown: str) -> str:
    """Return a text with plain markers in place of those that carry the ids of their records."""
    return _PLACE.sub(r"[\1]", markdown)
