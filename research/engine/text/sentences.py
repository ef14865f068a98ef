"""Sentences of a page, each at its place in the text.

Pages come as the light Markdown that `tools.Page` describes. Abbreviations are English and German
ones; ideographic full stops end a sentence as well.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Literal

from research.engine.text.remembered import remember_texts
from research.engine.text.tokens import normalise_space, term_set

_DATA = Path(__file__).parent / "data"

SentenceKind = Literal["prose", "item", "row", "code"]

_ABBREVIATIONS = frozenset(
    word
    for name in ("abbreviations_en.txt", "abbreviations_de.txt")
    for word in (_DATA / name).read_text("utf-8").split()
)
_COUNTED = re.compile(
    r"(?:Januar|Jänner|Februar|März|April|Mai|Juni|Juli|August|September|Oktober|November|Dezember"
    r"|Jahrhunderts?|Jahrtausends?|Jh|Weltkriegs?)\b"
)
"""What follows a German ordinal, as in "8. Januar"."""
_BOUNDARY = re.compile(r"(?:(?<![.!?…])[.!?…]+[\"'”’)\]]*(?=\s)|[。！？]+[」』”）]*)")
_IDENTIFIER = re.compile(r"[a-z]\w*(?:_\w|\.\w|\()")
QUESTION_MARKS = ("?", "？")
_HEADING = re.compile(r"(#{1,6})\s+(.*)")
_ITEM = re.compile(r"\s*(?:[-*•]|\d{1,3}[.)])\s+")


TERM_LEVEL = 6
"""Headings of this level are terms with a definition beneath (`tools.Page`)."""


END_OF_TERMS = "***"
"""A line that ends the definitions above it (`tools.Page`)."""


REMEMBERED_CHARACTERS = 30_000_000
"""Of pages taken apart: 60 runs at once need less than 6 million, 200 need more."""
_SHORT = 1_000
"""Characters of a text that is a quote or a claim rather than a page."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of a page: `page.text[start:end]` is its verbatim text.

    `text` has its white space folded, `section` is the heading above it, `block` the number of its
    block in the page, and `label` the offsets of the defined term that it explains, if any.
    """

    number: int
    start: int
    end: int
    text: str
    kind: SentenceKind
    section: str
    block: int
    label: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class _Block:
    start: int
    end: int
    kind: SentenceKind
    section: str
    label: tuple[int, int] | None = None


def split_sentences(text: str) -> tuple[Sentence, ...]:
    """Return the sentences of a page's text in order; headings are sections, not sentences."""
    return _split_short(text) if len(text) <= _SHORT else _split_long(text)


@lru_cache(maxsize=1024)
def _split_short(text: str) -> tuple[Sentence, ...]:
    return _find_sentences(text)


@remember_texts(REMEMBERED_CHARACTERS, len)
def _split_long(text: str) -> tuple[Sentence, ...]:
    return _find_sentences(text)


def _find_sentences(text: str) -> tuple[Sentence, ...]:
    found: list[Sentence] = []
    for number, block in enumerate(_split_blocks(text)):
        for start, end in _sentence_spans(text, block):
            words = normalise_space(text[start:end])
            if words:
                found.append(
                    Sentence(
                        len(found),
                        start,
                        end,
                        words,
                        block.kind,
                        block.section,
                        number,
                        block.label,
                    )
                )
    return tuple(found)


@remember_texts(REMEMBERED_CHARACTERS, len)
def sentence_terms(text: str) -> tuple[frozenset[str], ...]:
    """Return the terms of each of a page's sentences."""
    return tuple(term_set(sentence.text) for sentence in split_sentences(text))


def text_length(found: Sequence[Sentence]) -> int:
    """Return about how long the text of these sentences is, for `remember_texts`."""
    return found[-1].end if found else 0


def take_apart(texts: Iterable[str]) -> None:
    """Find the sentences of these texts and their terms ahead of their use: both are remembered,
    and of a megabyte they take a second.
    """
    for text in texts:
        sentence_terms(text)


def with_parent_heading(text: str, start: int, section: str) -> str:
    """Return the section of the sentence at an offset behind the heading that its own one is part
    of, below the page's title: "Chat server › Port forwarding". Many parts have the same heading.
    """
    own, _, _ = section.partition(" › ")
    level, end = 0, start
    while own and (begin := text.rfind("\n#", 0, end)) >= 0:
        title = _HEADING.match(text, begin + 1, (text + "\n").index("\n", begin + 1))
        end = begin
        if title is None or len(title[1]) >= TERM_LEVEL:
            continue
        name = normalise_space(title[2])
        if not level and name == own:
            level = len(title[1])
        elif 2 <= len(title[1]) < level:
            return f"{name} › {section}" if name != own else section
        elif level and len(title[1]) < 2:
            break
    return section


def _split_blocks(text: str) -> Iterator[_Block]:
    """Paragraphs, single list items, table rows and code blocks, with their section."""
    heading = section = ""
    label: tuple[int, int] | None = None
    open_block: _Block | None = None
    fenced = False
    for start, end, line in _split_lines(text):
        title = None if fenced else _HEADING.match(line)
        fence = line.lstrip().startswith(("```", "~~~"))
        kind: SentenceKind = "code" if fenced else _line_kind(line)
        if kind == "item" and open_block and _breaks_off(text, open_block, line):
            kind = "prose"
        rule = not fenced and line.strip() == END_OF_TERMS
        if rule:
            section, label = heading, None
        if fence or title or rule or not line.strip():
            if open_block:
                yield open_block
            open_block, fenced = None, fenced != fence
            if title:
                name = normalise_space(title.group(2))
                if len(title.group(1)) < TERM_LEVEL:
                    heading, section, label = name, name, None
                else:
                    section = f"{heading} › {name}" if heading else name
                    label = (start + title.start(2), end)
        elif open_block and _goes_on(open_block.kind, kind):
            open_block = replace(open_block, end=end)
        else:
            if open_block:
                yield open_block
            marker = _ITEM.match(line) if kind == "item" else None
            begin = start + (marker.end() if marker else 0)
            open_block = _Block(begin, end, kind, section, label)
    if open_block:
        yield open_block


def _goes_on(kind: SentenceKind, following: SentenceKind) -> bool:
    """Return whether a line continues the block above it."""
    if kind == "item":
        return following in {"prose", "code"}
    return kind == following and kind in {"prose", "code"}


def _breaks_off(text: str, above: _Block, line: str) -> bool:
    """Return whether a line continues the sentence above it: "… network\n127. is meant"."""
    last = text[above.start : above.end].rstrip()[-1:]
    return above.kind == "prose" and line[:1].isdigit() and (last.isalnum() or last in ",(")


def _split_lines(text: str) -> Iterator[tuple[int, int, str]]:
    start = 0
    for line in text.splitlines(keepends=True):
        yield start, start + len(line.rstrip()), line.rstrip()
        start += len(line)


def _line_kind(line: str) -> SentenceKind:
    if line.startswith("    "):
        return "code"
    if _ITEM.match(line):
        return "item"
    return "row" if "\t" in line else "prose"


def _sentence_spans(text: str, block: _Block) -> Iterator[tuple[int, int]]:
    start = _skip_space(text, block.start, block.end)
    if block.kind in {"code", "row"}:
        yield start, block.end
        return
    for match in _BOUNDARY.finditer(text, start, block.end):
        if match.end() <= start or _is_abbreviation(text, start, match.start(), match.end()):
            continue
        yield start, match.end()
        start = _skip_space(text, match.end(), block.end)
    if start < block.end:
        yield start, block.end


def _skip_space(text: str, start: int, end: int) -> int:
    while start < end and text[start].isspace():
        start += 1
    return start


def _is_abbreviation(text: str, start: int, dot: int, end: int) -> bool:
    """Return whether the full stop at `dot` belongs to a word, or a lower-case word follows."""
    if text[dot] != ".":
        return False
    last = text[start:dot].rsplit(None, 1)[-1].lstrip("(\"'“‘[").lower() if dot > start else ""
    if last in _ABBREVIATIONS or (len(last) == 1 and last.isalpha() and last != "i"):
        return True
    following = _skip_space(text, end, len(text))
    if len(last) <= 2 and last.isdigit() and _COUNTED.match(text, following):
        return True
    lower = text[following : following + 1].islower() and last != ""
    return lower and not _IDENTIFIER.match(text, following)
