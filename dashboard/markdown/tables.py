"""Tables that are easier to read turned: few things compared by many properties."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, TypeVar

from markdown_it.token import Token

from dashboard.markdown.parsing import top_blocks

MOST_COLUMNS = 5
"""Columns that a page of text has room for."""
Cell = TypeVar("Cell")


def is_better_turned(head: str, rows: int, columns: int) -> bool:
    """Return whether a table with so many rows, its head among them, is to be turned: it compares
    things, so that its first cell has no text in its `head`, by more properties than there are
    things.
    """
    return not head.strip() and columns > MOST_COLUMNS and rows < columns


def turned(rows: Sequence[Sequence[Cell]]) -> list[list[Cell]]:
    return [list(column) for column in zip(*rows, strict=True)]


def turn_wide_tables(tokens: Sequence[Token]) -> list[Token]:
    """Return the tokens of a report with the tables turned that are too wide for a page."""
    return [token for block in top_blocks(tokens) for token in _turned_block(block)]


def is_turned(block: Sequence[Token]) -> bool:
    return bool(block[0].meta.get("is_turned"))


def _turned_block(block: Sequence[Token]) -> Iterable[Token]:
    if block[0].type != "table_open":
        return block
    rows: list[list[Token]] = []
    for token in block:
        if token.type == "tr_open":
            rows.append([])
        elif token.type == "inline":
            rows[-1].append(token)
    if not is_better_turned(rows[0][0].content, len(rows), len(rows[0])):
        return block
    block[0].meta["is_turned"] = True
    return [block[0], *_table(turned(rows)), block[-1]]


def _part(name: str, tag: str, nesting: Literal[1, -1]) -> Token:
    return Token(name, tag, nesting, level=1)  # not 0: it stands inside of a block


def _table(rows: Sequence[Sequence[Token]]) -> Iterator[Token]:
    """Yield what is inside of a table with these texts of cells; the first row is its head."""
    head, *body = rows
    yield _part("thead_open", "thead", 1)
    yield from _row(head, "th")
    yield _part("thead_close", "thead", -1)
    yield _part("tbody_open", "tbody", 1)
    for row in body:
        yield from _row(row, "td")
    yield _part("tbody_close", "tbody", -1)


def _row(texts: Iterable[Token], tag: str) -> Iterator[Token]:
    yield _part("tr_open", "tr", 1)
    for text in texts:
        yield from (_part(f"{tag}_open", tag, 1), text, _part(f"{tag}_close", tag, -1))
    yield _part("tr_close", "tr", -1)
