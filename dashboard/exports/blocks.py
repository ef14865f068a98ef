"""A report's Markdown as a flat list of blocks, for formats other than HTML."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from markdown_it.token import Token

from dashboard.charts import Chart, draw_charts
from dashboard.exports.contents import LONGEST_LINK
from dashboard.markdown.parsing import MARKER, PARSER
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

    `level` is the heading level or list depth, from 1; `number` is the number of an ordered item;
    only tables have `rows`, each a tuple of cells, and `charts`.
    """

    kind: Kind
    runs: tuple[Run, ...] = ()
    level: int = 1
    number: int = 0
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
    """Return the blocks of a report. `markers` are the citations that it has."""
    return list(_iterate_blocks(PARSER.parse(markdown), markers, language))


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
                charts = draw_charts([list(map(_plain, row)) for row in rows], language)
                yield Block("table", rows=tuple(map(tuple, rows)), charts=charts)
                rows = []
            case "fence" | "code_block":
                yield Block("code", (Run(token.content.rstrip("\n"), code=True),))
            case "inline":
                runs = tuple(_runs(token.children or [], markers))
                if rows:
                    rows[-1].append(runs)
                else:
                    yield _block(runs, place)


def _plain(cell: tuple[Run, ...]) -> str:
    return "".join(run.text for run in cell if not run.cite)


def _block(runs: tuple[Run, ...], place: _Place) -> Block:
    if place.heading:
        return Block("heading", runs, place.heading)
    if place.numbers and place.fresh:
        place.fresh = False
        number = place.numbers[-1]
        place.numbers[-1] += bool(number)
        return Block("item", runs, len(place.numbers), number)
    return Block("quote" if place.quoted else "paragraph", runs)


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
