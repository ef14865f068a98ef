"""A report's Markdown as a flat list of blocks, for formats other than HTML."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field, replace
from itertools import groupby
from typing import Any, Literal

from markdown_it.token import Token

from dashboard.charts import Chart, draw_charts
from dashboard.exports.contents import LONGEST_LINK
from dashboard.markdown.parsing import (
    ENDS,
    MARKER,
    PARSER,
    in_lines,
    is_command,
    with_last_blocks,
)
from dashboard.markdown.tables import is_better_transposed, transposed
from research.engine.text.language import ENGLISH

Kind = Literal["heading", "paragraph", "item", "quote", "code", "table"]


@dataclass(frozen=True)
class Run:
    """Text in one style. `cite` is a citation marker, `link` a URL."""

    text: str
    bold: bool = False
    italic: bool = False
    code: bool = False
    link: str = ""
    cite: int = 0


@dataclass(frozen=True)
class Block:
    """A block of the report.

    `level` is the heading level, or the depth in lists, 0 outside; `number` is the number of an
    ordered item; an item is `in_box` if its list is in a quotation, as the sides of a dispute are;
    only tables have `rows`, each a tuple of cells, and `charts`.
    """

    kind: Kind
    runs: tuple[Run, ...] = ()
    level: int = 0
    number: int = 0
    in_box: bool = False
    rows: tuple[tuple[tuple[Run, ...], ...], ...] = ()
    charts: tuple[Chart, ...] = ()

    def plain(self) -> dict[str, Any]:
        return asdict(self)


@dataclass
class _Place:
    """Position of the parser in nested lists and quotations."""

    numbers: list[int] = field(default_factory=list)
    quoted: int = 0
    fresh: bool = False
    heading: int = 0


def parse_blocks(markdown: str, markers: frozenset[int], language: str = ENGLISH) -> list[Block]:
    """Return the blocks of a report, with the commands of its steps as on its page. `markers` are
    the citations that it has.
    """
    return list(_iterate_blocks(PARSER.parse(with_last_blocks(markdown)), markers, language))


def _iterate_blocks(tokens: list[Token], markers: frozenset[int], language: str) -> Iterator[Block]:
    place = _Place()
    rows: list[list[tuple[Run, ...]]] = []
    for token in tokens:
        match token.type:
            case "heading_open":
                place.heading = int(token.tag[1])
            case "heading_close":
                place.heading = 0
            case "blockquote_open" | "blockquote_close":
                place.quoted += token.nesting
            case "bullet_list_open":
                place.numbers.append(0)
            case "ordered_list_open":
                place.numbers.append(int(token.attrGet("start") or 1))
            case "bullet_list_close" | "ordered_list_close":
                place.numbers.pop()
            case "list_item_open":
                place.fresh = True
            case "table_open":
                rows = []
            case "tr_open":
                rows.append([])
            case "table_close":
                texts = [list(map(_plain, row)) for row in rows]
                charts = draw_charts(texts, language)
                is_wide = is_better_transposed(texts[0][0], len(rows), len(rows[0]))
                shown = transposed(rows) if is_wide else rows
                yield Block("table", rows=tuple(map(tuple, shown)), charts=charts)
                rows = []
            case "fence" | "code_block":
                code = (Run(token.content.rstrip("\n"), code=True),)
                yield Block("code", code, len(place.numbers))
            case "inline" if rows:
                rows[-1].append(tuple(_runs(token.children or [], markers)))
            case "inline":
                yield from _blocks(_runs(token.children or [], markers), place)


def _plain(cell: tuple[Run, ...]) -> str:
    return "".join(run.text for run in cell if not run.cite)


def _blocks(runs: Iterable[Run], place: _Place) -> Iterator[Block]:
    """Yield a text, the long commands of a numbered list as blocks of their own, as on its page."""
    is_step, before = any(place.numbers), False
    for is_apart, found in groupby(runs, lambda run: is_step and run.code and is_command(run.text)):
        parts = tuple(found)
        if is_apart:
            if place.fresh:
                yield _block((), place)
            lines = (replace(run, text=in_lines(run.text)) for run in parts)
            yield from (Block("code", (run,), len(place.numbers)) for run in lines)
        else:
            told = tuple(_behind_command(parts)) if before else parts
            if told:
                yield _block(told, place)
        before = is_apart


def _behind_command(runs: Iterable[Run]) -> Iterator[Run]:
    """Yield a text without the space and the mark that would open its line."""
    is_begin = True
    for run in runs:
        text = run.text.lstrip() if is_begin else run.text
        if is_begin and text.startswith(ENDS):
            text = text[1:].lstrip()
        if text:
            is_begin = False
            yield replace(run, text=text)


def _block(runs: tuple[Run, ...], place: _Place) -> Block:
    if place.heading:
        return Block("heading", runs, place.heading)
    if place.numbers and place.fresh:
        place.fresh = False
        number = place.numbers[-1]
        place.numbers[-1] += bool(number)
        return Block("item", runs, len(place.numbers), number, place.quoted > 0)
    return Block("quote" if place.quoted else "paragraph", runs, len(place.numbers))


def _runs(children: list[Token], markers: frozenset[int]) -> Iterator[Run]:
    style = {"strong": 0, "em": 0}
    link = ""
    for child in children:
        name = child.type.partition("_")[0]
        if child.type in ("link_open", "link_close"):
            link = _link(child) if child.nesting > 0 else ""
        elif name in style:
            style[name] += child.nesting
        elif name in ("text", "code", "softbreak", "hardbreak"):
            text = " " if name.endswith("break") else child.content
            styled = Run(text, style["strong"] > 0, style["em"] > 0, name == "code", link)
            pieces = _cited(styled, markers) if child.type == "text" and not link else [styled]
            yield from (piece for piece in pieces if piece.text)


def _link(opening: Token) -> str:
    """Return the URL of a link; '' if it is too long for one."""
    address = str(opening.attrGet("href"))
    return address if len(address) <= LONGEST_LINK else ""


def _cited(run: Run, markers: frozenset[int]) -> Iterator[Run]:
    """Split a run at its citation markers."""
    position = 0
    for match in MARKER.finditer(run.text):
        if int(match[1]) in markers:
            yield Run(run.text[position : match.start()], run.bold, run.italic)
            yield Run(match[1], cite=int(match[1]))
            position = match.end()
    yield Run(run.text[position:], run.bold, run.italic)
