"""Passages that can be read alone: a few whole sentences, items or rows of one section.

A passage is at most `MOST_SLICES` slices of the page's text, each short enough for a quote. A list
brings its lead-in, a row the names of its columns and a definition its term.
"""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby, pairwise

from research.engine.evidence.quotes import MAX_QUOTE, plain_quote
from research.engine.offline.passages.ranked_sentences import (
    RankedSentence,
    quotable_lines,
    ranked_sentences,
    told_rows,
)
from research.engine.ports import Page
from research.engine.text.sentences import TERM_LEVEL
from research.engine.text.tokens import term_set, words_in

FEWEST_WORDS, MOST_WORDS = 60, 120
MOST_SLICES = 4
_ONLY_MARK = re.compile(r"\s*(?:[-*•]\s+|\d{1,3}[.)]\s+)?")
"""`\\n2. `: the separator of two list items."""
_NAMED = re.compile(r"(\S{2,60}?)(?:\(\d\w*\))?\s+[-–—]{1,2}\s")
"""`ST_Resize — Resize a raster`: how a manual page names what it describes."""
_STATES = re.compile(
    r"^(?:defaults?\b|default value|new in\b|added in\b|changed in\b|deprecated since|since\b"
    r"|availability\b|introduced in\b)|\bdefault\t",
    re.IGNORECASE,
)
"""A line or the head of a table that states the default or version of an entry."""
_CODE_NAME = re.compile(r"^[a-z]|[a-zA-Z%$][_.:/]+\w|[a-z][A-Z]")
"""`wick_length`, `Ratelimit.Burst`, `RatelimitBurst`, `batch`."""
_NAMES_ENTRY = re.compile(_CODE_NAME.pattern + r"|[“\"'‘]\S+[”\"'’]|\(\)$")
"""Further ones that stand above the sections of an entry: `The “ttl” property`, `Open ()`."""
_HEADING = re.compile(rf"^(#{{1,{TERM_LEVEL - 1}}})[ \t]+(\S(?:.*\S)?)[ \t]*$", re.MULTILINE)
MOST_NAME_WORDS = 3
"""Words of a heading that may be an entry's name."""
_OPENINGS = frozenset({"name", "synopsis"})
"""Sections of a manual page that are read with the description behind them."""
MOST_OPENING = 12
"""Sentences and lines of code of such sections; longer ones stand alone."""
Span = tuple[int, int]
"""Offsets of a slice of a page's text."""


@dataclass(frozen=True)
class Passage:
    """Slices of one section of a page, in the page's order.

    `lines` are the sentences in the slices without the defined term; `first` is the number of the
    first of them. `above` are the terms of heading and defined term.
    """

    page: Page
    slices: tuple[Span, ...]
    lines: tuple[RankedSentence, ...]
    section: str
    label: Span | None
    above: frozenset[str]
    opens_section: bool

    @cached_property
    def text(self) -> str:
        """Return the passage as people read it; what is left out between two slices is marked."""
        return joined(self.page.text, self.slices)

    def repeats(self, other: Passage) -> bool:
        """Return whether a passage shares a sentence with another one, or has the same words."""
        if self.page.url != other.page.url:
            return self.text == other.text
        spans = ((one, two) for one in self.slices for two in other.slices)
        return any(start < stop and begin < end for (start, end), (begin, stop) in spans)

    @property
    def terms(self) -> list[str]:
        """Return the stems of its sentences, in order."""
        return [term for line in self.lines for term in line.terms]


def joined(text: str, slices: Sequence[Span]) -> str:
    """Return slices of a text as one passage; " … " marks omitted words."""
    parts = [plain_quote(text[start:end]) for start, end in slices]
    for at, ((_, end), (start, _)) in enumerate(pairwise(slices), 1):
        if not _ONLY_MARK.fullmatch(text[end:start]):
            parts[at] = f"… {parts[at]}"
    return " ".join(parts)


def complete_passages(page: Page) -> list[Passage]:
    """Every passage of a page that may be shown, in the page's order; they overlap."""
    found = ranked_sentences(page.text)
    heads = told_rows(page.text, found)
    told = quotable_lines(found, heads)
    headings = _headings(page.text)
    result: list[Passage] = []
    opening: list[RankedSentence] = []
    described: Span | None = None
    for (name, _), group in groupby(
        told, key=lambda line: (line.sentence.section, line.sentence.label)
    ):
        lines = [*opening, *group]
        if name.casefold() == "name" and not opening:
            described = _described(page.text, lines[0])
        entry = described
        if entry is None:
            above = None if _opens_entry(lines[0]) else _entry_above(page.text, lines[0], headings)
            entry = above or _heading_of(page.text, lines[0])
        is_opening = name.casefold() in _OPENINGS and len(lines) < MOST_OPENING
        opening = lines if is_opening else []
        if not is_opening:
            result += _Section(page, lines, heads, entry).passages()
    if opening:
        result += _Section(page, opening, heads, None).passages()
    return result


def _described(text: str, line: RankedSentence) -> Span | None:
    """Return the name that the first line of a manual page gives to what it describes."""
    start = line.sentence.start
    found = _NAMED.match(text, start, line.sentence.end)
    return found.span(1) if found else None


def _heading_of(text: str, line: RankedSentence) -> Span | None:
    """Return the short heading right above a line if it names an entry: it isn't written like a
    word of prose, or what is below it begins with a statement or a table.
    """
    name = line.sentence.section.rpartition(" › ")[2]
    states = line.sentence.kind == "row" or _opens_entry(line)
    if not 0 < len(name.split()) <= MOST_NAME_WORDS or not (states or _CODE_NAME.search(name)):
        return None
    start = text.rfind(f" {name}\n", 0, line.sentence.start) + 1
    above = text.rfind("\n", 0, start) + 1
    return (start, start + len(name)) if start and not text[above:start].strip("# ") else None


def _opens_entry(line: RankedSentence) -> bool:
    """Return whether the first line of a section states the default or version of an entry."""
    return _STATES.search(line.sentence.text) is not None


def _headings(text: str) -> tuple[re.Match[str], ...]:
    """Return the headings of a page except defined terms."""
    return tuple(_HEADING.finditer(text))


def _entry_above(text: str, line: RankedSentence, headings: Sequence[re.Match[str]]) -> Span | None:
    """Return the nearest heading above a line's section that names the entry it is part of:
    `g_mount_eject ()` above "Returns".
    """
    level = TERM_LEVEL
    for found in reversed(headings[: bisect(headings, line.sentence.start, key=re.Match.start)]):
        if len(found[1]) >= level:
            continue
        level, name = len(found[1]), found[2]
        if len(name.split()) <= MOST_NAME_WORDS and _NAMES_ENTRY.search(name):
            return found.span(2)
    return None


class _Section:
    """The sentences of one section, of which passages are cut."""

    def __init__(
        self,
        page: Page,
        found: list[RankedSentence],
        heads: dict[int, RankedSentence | None],
        entry: Span | None,
    ) -> None:
        self.page, self.lines, self.heads, self.entry = page, found, heads, entry
        self.words = [words_in(line.sentence.text) for line in found]
        self.blocks = [line.sentence.block for line in found]

    def passages(self) -> Iterator[Passage]:
        """Yield a passage for each block, and for each sentence of a block that is too long for
        one.
        """
        if sum(self.words) <= MOST_WORDS:
            yield self._passage(0, len(self.lines))
            return
        known: set[Span] = set()
        for start in range(len(self.lines)):
            if not self._opens_block(start) and not self._is_long(start):
                continue
            reach = self._reach(start)
            if reach not in known:
                known.add(reach)
                yield self._passage(*reach)

    def _opens_block(self, at: int) -> bool:
        return at == 0 or self.blocks[at] != self.blocks[at - 1]

    def _block_end(self, at: int) -> int:
        """Return the number behind the last sentence of the block of a sentence."""
        end = at
        while end < len(self.lines) and self.blocks[end] == self.blocks[at]:
            end += 1
        return end

    def _is_long(self, at: int) -> bool:
        """Return whether the rest of a block doesn't fit into one passage with its beginning."""
        start = at
        while start > 0 and self.blocks[start - 1] == self.blocks[at]:
            start -= 1
        return sum(self.words[start : self._block_end(at)]) > MOST_WORDS

    def _reach(self, start: int) -> Span:
        """From which sentence to which a passage goes that opens with `start`: whole blocks while
        they fit, then whole sentences up to the least length, at last those in front."""
        end, count = start, 0
        while end < len(self.lines):
            stop = self._block_end(end)
            size = sum(self.words[end:stop])
            if count + size > MOST_WORDS:
                break
            if count >= FEWEST_WORDS and not self._goes_on(end):
                break
            end, count = stop, count + size
        while end < len(self.lines) and count < FEWEST_WORDS:
            if end > start and count + self.words[end] > MOST_WORDS:
                break
            count += self.words[end]
            end += 1
        while start > 0 and count < FEWEST_WORDS and count + self.words[start - 1] <= MOST_WORDS:
            start -= 1
            count += self.words[start]
        return start, max(end, start + 1)

    def _goes_on(self, at: int) -> bool:
        """Return whether a sentence belongs to a list, table or code block that the previous one
        introduces, or ends the sentence that was interrupted by such a block.
        """
        before, this = self.lines[at - 1].sentence, self.lines[at].sentence
        ends = this.kind == "prose" != before.kind and this.text[0].islower()
        return ends or before.text.endswith(":") or (this.kind == before.kind != "prose")

    def _lead_in(self, start: int) -> RankedSentence | None:
        """Return the sentence that announces the list or code, or the head of the table, that a
        passage opens in the midst of.
        """
        first = self.lines[start].sentence
        if first.kind == "row":
            return self.heads.get(first.number)
        if first.kind == "prose":
            return None
        for line in reversed(self.lines[:start]):
            if line.sentence.kind == "prose":
                return line if line.sentence.text.endswith(":") else None
        return None

    def _passage(self, start: int, end: int) -> Passage:
        chosen = self.lines[start:end]
        lead = self._lead_in(start)
        told = [lead, *chosen] if lead and lead not in chosen else chosen
        label = chosen[0].sentence.label or self._named_by(told)
        spans = [(line.sentence.start, line.sentence.end) for line in told]
        slices = _sliced(self.page.text, [label, *spans] if label else spans)
        named = term_set(self.page.text[slice(*label)]) if label else frozenset()
        heading = chosen[0].heading | named
        return Passage(
            self.page, slices, tuple(told), chosen[0].sentence.section, label, heading, start == 0
        )

    def _named_by(self, told: Sequence[RankedSentence]) -> Span | None:
        """Return the name of the entry whose default or version these lines state without it."""
        if self.entry is None:
            return None
        start, end = self.entry
        if any(line.sentence.start <= start < line.sentence.end for line in told):
            return None
        raw = (self.page.text[line.sentence.start : line.sentence.end] for line in told)
        return (start, end) if any(map(_STATES.search, raw)) else None


def _sliced(text: str, spans: Sequence[Span]) -> tuple[Span, ...]:
    """Neighbouring spans joined while they fit into a quote; no more than `MOST_SLICES`."""
    slices: list[Span] = []
    for start, end in spans:
        first, last = slices[-1] if slices else (start, start)
        is_near = bool(slices) and bool(_ONLY_MARK.fullmatch(text[last:start]))
        if is_near and start >= last and end - first <= MAX_QUOTE:
            slices[-1] = (first, end)
        else:
            slices += _pieces(text, start, end)
    return tuple(slices[:MOST_SLICES])


def _pieces(text: str, start: int, end: int) -> Iterator[Span]:
    """Return a span, cut at white space if it is too long for one quote."""
    while end - start > MAX_QUOTE:
        cut = max(
            text.rfind(" ", start + 1, start + MAX_QUOTE),
            text.rfind("\n", start + 1, start + MAX_QUOTE),
        )
        cut = cut if cut > start else start + MAX_QUOTE
        yield start, cut
        start = cut
        while start < end and text[start].isspace():
            start += 1
    if start < end:
        yield start, end
