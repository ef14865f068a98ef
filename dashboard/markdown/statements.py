"""The cited statements of a report, in the words that stand there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from markdown_it.token import Token

from dashboard.markdown.dates import days_in_words
from dashboard.markdown.markers import DOUBTED, TOLD_BY
from dashboard.markdown.parsing import MARKER, parse_with_places, plain_text

ENDED = re.compile(r"[.!?…:。！？：][”\"’»)」』）]*$|[”»」』]$")
"""The end of a sentence or a quotation, behind which another statement begins."""
CONTINUES = re.compile(r"[,;:.!?)”»’…]")
"""What follows the word before a marker without a space: "as `a_b` [1], then"."""
CLOSING = re.compile(r"(?<![.!?…。])[.!?…。]{1,5}(?=\s|$)")
"""What ends a sentence behind its markers: "It fell [1]."."""
PARENTHESIS = re.compile(r" ?\([^()]{2,90}\)(?=[.!?…。！？”\"]*$)")
OPENING_QUOTES, CLOSING_QUOTES = {"“", "„", "«"}, {"”", "»"}
LEAD_ENDS = (":", ".", "?", "：", "。", "？")
"""Ends of a bold name that opens a statement without being part of it."""
Marked = tuple[int, int]
"""A marker's number and its occurrence."""


@dataclass(frozen=True)
class CitedText:
    """A statement with its markers, under the `heading` of its section ('' in the short answer).

    A value of a table has the names of its row and column as its `label`. `clauses` are the words
    before each group of markers, with the group, and make up the text; () if one group stands
    behind all of them. `is_step` says that it is a step of a numbered list.
    """

    text: str
    markers: tuple[Marked, ...]
    heading: str = ""
    label: str = ""
    clauses: tuple[tuple[str, tuple[Marked, ...]], ...] = ()
    is_step: bool = False

    @cached_property
    def bare(self) -> str:
        """Return the statement without what a report tells beside it in a parenthesis."""
        return PARENTHESIS.sub("", TOLD_BY.sub("", self.text)).strip()

    @property
    def is_quotation(self) -> bool:
        said = self.bare.rstrip(".。")
        return said[:1] in OPENING_QUOTES and said[-1:] in CLOSING_QUOTES and len(said) > 1

    def clause_of(self, number: int) -> int | None:
        """Return the index of the clause that a citation number follows first; None if the number
        cites the whole statement.
        """
        groups = (n for n, (_text, markers) in enumerate(self.clauses) if number in dict(markers))
        return next(groups, None)

    def place_of(self, number: int) -> int | None:
        """Return the first occurrence of a number behind the statement; None if it has none."""
        return next((place for each, place in self.markers if each == number), None)


def cited_texts(markdown: str) -> list[CitedText]:
    """Return the statements of a report that cite something, in their order."""
    return list(_read(parse_with_places(markdown)))


def _read(tokens: list[Token]) -> Iterator[CitedText]:
    heading, names, row, within_head, numbered = "", list[str](), list[str](), False, 0
    for before, token in zip([tokens[0], *tokens] if tokens else [], tokens, strict=False):
        if token.type in ("thead_open", "thead_close"):
            within_head = token.type == "thead_open"
            names = [] if within_head else names
        elif token.type == "tr_open":
            row = []
        elif token.type in ("ordered_list_open", "ordered_list_close"):
            numbered += token.nesting
        elif token.type == "inline" and before.type == "heading_open":
            heading = plain_text(token) if before.tag == "h2" else heading
        elif token.type == "inline" and within_head:
            names.append(MARKER.sub("", plain_text(token)).strip())
        elif token.type == "inline":
            label = ""
            if before.type == "td_open":
                row.append(MARKER.sub("", plain_text(token)).strip())
                label = _label_of(row, names)
            for said in _statements(token, heading, label):
                yield replace(said, is_step=bool(numbered))


def _label_of(row: list[str], names: list[str]) -> str:
    """Return the names of a value's row and column; '' for a sentence."""
    if len(row) < 2 or ENDED.search(row[-1]):
        return ""
    column = names[len(row) - 1] if len(row) <= len(names) else ""
    return " · ".join(filter(None, (row[0], column)))


def _statements(inline: Token, heading: str, label: str) -> Iterator[CitedText]:
    said = _Said()
    pieces = [*_pieces(inline), ("", False)]
    for n, (piece, is_bold) in enumerate(pieces, 1):
        is_last = n == len(pieces)
        if isinstance(piece, tuple):
            said.mark(piece)
            continue
        if said.markers and (closing := CLOSING.match(piece)):
            said.add(closing[0])
            piece = piece[closing.end() :]
        if said.markers and (is_last or _begins_another(said.text, piece)):
            if (told := said.as_cited(heading, label)).text:
                yield told
            said = _Said()
        if not (is_bold and not said.text.strip() and piece.rstrip().endswith(LEAD_ENDS)):
            said.add(piece)


class _Said:
    """A statement as far as it was read: clauses, each with the markers behind it."""

    def __init__(self) -> None:
        self._clauses: list[tuple[str, list[Marked]]] = [("", [])]

    @property
    def text(self) -> str:
        return "".join(text for text, _ in self._clauses)

    @property
    def markers(self) -> list[Marked]:
        return [each for _, markers in self._clauses for each in markers]

    def mark(self, marker: Marked) -> None:
        self._clauses[-1][1].append(marker)

    def add(self, piece: str) -> None:
        """Add words; behind markers they begin another clause."""
        text, markers = self._clauses[-1]
        if markers and CONTINUES.match(piece):
            text = text.rstrip()
            self._clauses[-1] = (text, markers)
        if markers and piece.strip():
            self._clauses.append((piece, []))
        else:
            self._clauses[-1] = (text + piece, markers)

    def as_cited(self, heading: str, label: str) -> CitedText:
        (first, behind), *others = self._clauses
        parts = [(DOUBTED.sub("", first), behind), *others]
        clauses = tuple((text, tuple(markers)) for text, markers in parts)
        text = " ".join("".join(text for text, _ in clauses).split())
        is_in_parts = sum(bool(markers) for _, markers in clauses) > 1
        return CitedText(text, tuple(self.markers), heading, label, clauses if is_in_parts else ())


def _begins_another(said: str, text: str) -> bool:
    """Return whether a text behind markers begins another statement, not another clause."""
    is_closed = not said.strip() or ENDED.search(said.rstrip()) is not None
    return is_closed and any(map(str.isalnum, text))


def _pieces(inline: Token) -> Iterator[tuple[str | Marked, bool]]:
    """Yield the texts and markers of a text, of texts whether they are in bold. Days are in words,
    except in code.
    """
    bold: str | None = None
    for child in inline.children or ():
        if child.type == "strong_open":
            bold = ""
        elif child.type == "strong_close":
            yield days_in_words(bold or ""), True
            bold = None
        elif bold is not None:
            bold += child.content
        elif child.type == "text":
            position, places = 0, child.meta.get("places", ())
            for match, place in zip(MARKER.finditer(child.content), places, strict=False):
                if text := child.content[position : match.start()]:
                    yield days_in_words(text), False
                yield (int(match[1]), place), False
                position = match.end()
            yield days_in_words(child.content[position:]) or " ", False
        else:
            yield child.content or " ", False
