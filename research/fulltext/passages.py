"""Cuts a page's text into passages: a few paragraphs under one heading, with its path."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

MAX_WORDS = 200
LEAD_WORDS = 40
# No more of a text is looked at for its lead, and no more taken where words have no spaces.
_LEAD_WITHIN, _LEAD_CHARACTERS = 5000, 400
_SENTENCE_WORDS = 10

_DEEPEST = 5
_HEADING = re.compile(r"(#{1,5})\s+(.*)")
# Longer texts are divided into parts, which rank and are read as pages of their own.
LONGEST_WHOLE, LONGEST_PART = 400_000, 100_000
# "###### autovacuum_max_workers (integer)"
_TERM = re.compile(r"#{6}[ \t]+(\S.*)")
# "once.\n", "What now? "
_SENTENCE_END = re.compile(r"[^\W\d_]{2}[.!?。](?:\s|$)")
_PAGE_MARK = re.compile(r"Page \d+")
# Code and rules.
_NO_SENTENCES = ("    ", "```", "~~~", "***")
_GAP = re.compile(r"\n\s*?\n")
_FENCE = re.compile(r"^(```|~~~)", re.MULTILINE)
_SPLIT = re.compile(r"(?<=[.!?。！？])\s+|\n")


@dataclass(frozen=True)
class Passage:
    """`text[start:end]` of the page is the passage; `heading` the path of headings above it."""

    heading: str
    start: int
    end: int


@dataclass(frozen=True)
class _Block:
    start: int
    end: int
    words: int
    level: int = 0
    title: str = ""


@dataclass(frozen=True)
class Term:
    """A line that introduces an explanation, marked in the text as a heading of the sixth level,
    and the number of words that explain it, up to the next heading or term.
    """

    line: str
    words: int


@dataclass(frozen=True)
class Outline:
    """The structure of a page.

    `terms` are what a page explains; an index or a table of contents explains nothing.
    `prose_share` is the share of words in lines long enough for a sentence: near 0 for an index or
    a table of contents.
    """

    headings: tuple[str, ...]
    terms: tuple[Term, ...]
    passages: tuple[Passage, ...]
    prose_share: float


def page_mark(number: int) -> str:
    """Return the heading of a page in a paged document; it is no part of its text."""
    return f"## Page {number}"


def outline_text(text: str, max_words: int = MAX_WORDS) -> Outline:
    """Headings and passages in the order of the text; passages of at most `max_words`."""
    blocks = list(_split_blocks(text, max_words))
    return Outline(
        headings=tuple(block.title for block in blocks if block.title),
        terms=tuple(_explained_terms(text)),
        passages=tuple(_passages(blocks, max_words)),
        prose_share=_prose_share(text),
    )


def divide_text(text: str) -> list[tuple[int, int, str]]:
    """Return the parts of a long text (start, end, chapter), else the text as one part.

    It is divided at headings, at the highest level that makes the parts short enough; the chapter
    is the last heading of the first level up to a part's beginning.
    """
    if len(text) <= LONGEST_WHOLE:
        return [(0, len(text), "")]
    blocks = list(_split_blocks(text, MAX_WORDS))
    spans = _divide(blocks, len(text), 1)
    chapters = [block for block in blocks if block.level == 1]
    return [
        (start, end, next((c.title for c in reversed(chapters) if c.start <= start), ""))
        for start, end in spans
    ]


def _divide(blocks: Sequence[_Block], end: int, level: int) -> list[tuple[int, int]]:
    """Divide blocks that reach to `end` at headings of a level; without any left, at each block."""
    pieces: list[list[_Block]] = []
    for block in blocks:
        if not pieces or level > _DEEPEST or 0 < block.level <= level:
            pieces.append([])
        pieces[-1].append(block)
    parts: list[tuple[int, int]] = []
    is_open = False
    for number, piece in enumerate(pieces):
        start = piece[0].start
        stop = pieces[number + 1][0].start if number + 1 < len(pieces) else end
        if stop - start > LONGEST_PART and level <= _DEEPEST:
            parts += _divide(piece, stop, level + 1)
            is_open = False
        elif is_open and stop - parts[-1][0] <= LONGEST_PART:
            parts[-1] = (parts[-1][0], stop)
        else:
            parts.append((start, stop))
            is_open = True
    return parts


def lead_text(text: str) -> str:
    """Return the first words under the title, in most documents a summary of the page."""
    words: list[str] = []
    for block in _GAP.split(text[:_LEAD_WITHIN]):
        heading = block.startswith("#")
        if words and (heading or len(words) >= LEAD_WORDS):
            break
        if not (heading or block.startswith(_NO_SENTENCES)):
            words += block.split()
    return " ".join(words[:LEAD_WORDS])[:_LEAD_CHARACTERS]


def _passages(blocks: Iterable[_Block], max_words: int) -> Iterator[Passage]:
    path: list[_Block] = []
    gathered: list[_Block] = []
    words = 0
    for block in blocks:
        if gathered and (block.level or words + block.words > max_words):
            yield from _make_passage(path, gathered)
            gathered, words = [], 0
        if block.level:
            path = [*(above for above in path if above.level < block.level), block]
        gathered.append(block)
        words += block.words
    yield from _make_passage(path, gathered)


def _make_passage(path: Sequence[_Block], gathered: Sequence[_Block]) -> Iterator[Passage]:
    """One passage, or none for a heading alone."""
    if any(not block.level for block in gathered):
        heading = " > ".join(above.title for above in path if above.title)
        yield Passage(heading, gathered[0].start, gathered[-1].end)


def _explained_terms(text: str) -> Iterator[Term]:
    """Yield the terms that a sentence follows before the next heading; several may share it."""
    waiting: list[str] = []
    words, has_sentence = 0, False
    for line in (*text.split("\n"), "#"):
        if not line.startswith("#"):
            words += len(line.split())
            has_sentence = has_sentence or bool(_SENTENCE_END.search(line))
            continue
        if has_sentence:
            yield from (Term(term, words) for term in waiting)
        term = _TERM.match(line)
        if not term or has_sentence or not waiting:
            waiting, words = [], 0
        waiting += [term[1].strip()] if term else []
        has_sentence = False


def _prose_share(text: str) -> float:
    counts = [len(line.split()) for line in text.split("\n") if not line.startswith("#")]
    return sum(count for count in counts if count >= _SENTENCE_WORDS) / (sum(counts) or 1)


def _split_blocks(text: str, max_words: int) -> Iterator[_Block]:
    """Paragraphs, headings and fences, those above `max_words` cut at sentences or lines."""
    for start, end in _spans(text):
        block = text[start:end]
        heading = _HEADING.match(block)
        if heading and "\n" not in block:
            title = heading[2].strip()
            told = "" if _PAGE_MARK.fullmatch(title) else title
            yield _Block(start, end, 0, len(heading[1]), told)
        else:
            yield from _pieces(text, start, end, max_words)


def _spans(text: str) -> Iterator[tuple[int, int]]:
    """Blocks between blank lines; a code fence with blank lines in it stays one block."""
    start = seen = fences = 0
    for gap in re.finditer(r"\n\s*\n|\Z", text):
        fences += len(_FENCE.findall(text, seen, gap.start()))
        seen = gap.end()
        if fences % 2 and gap.end() < len(text):
            continue
        block = text[start : gap.start()]
        if block.strip():
            lead = len(block) - len(block.lstrip("\n"))
            yield start + lead, gap.start()
        start, fences = gap.end(), 0


def _pieces(text: str, start: int, end: int, max_words: int) -> Iterator[_Block]:
    words = len(text[start:end].split())
    if words <= max_words:
        yield _Block(start, end, words)
        return
    begin, count = start, 0
    for piece_start, piece_end in _sentences(text, start, end):
        size = len(text[piece_start:piece_end].split())
        if count and count + size > max_words:
            yield _Block(begin, piece_start, count)
            begin, count = piece_start, 0
        count += size
    yield _Block(begin, end, count)


def _sentences(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    begin = start
    for gap in _SPLIT.finditer(text, start, end):
        yield begin, gap.end()
        begin = gap.end()
    if begin < end:
        yield begin, end
