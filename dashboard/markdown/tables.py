"""Tables: those that are easier to read transposed, and cells that keep their small letters."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, TypeVar

from markdown_it.token import Token

from dashboard.markdown.parsing import plain_text, top_blocks
from research.engine.text.tokens import capitalize_heading

MOST_COLUMNS = 5
"""Columns that a page of text has room for."""
Cell = TypeVar("Cell")


def is_better_transposed(head: str, rows: int, columns: int) -> bool:
    """Return whether a table is too wide for a page and narrower transposed. `rows` includes the
    header row; `head` is its first cell, which is empty in a table that compares things.
    """
    return not head.strip() and columns > MOST_COLUMNS and rows < columns


def transposed(rows: Sequence[Sequence[Cell]]) -> list[list[Cell]]:
    return [list(column) for column in zip(*rows, strict=True)]


def transpose_wide_tables(tokens: Sequence[Token]) -> list[Token]:
    """Return the tokens of a report with the tables transposed that are too wide for a page."""
    return [token for block in top_blocks(tokens) for token in _transposed_block(block)]


def is_transposed(block: Sequence[Token]) -> bool:
    return bool(block[0].meta.get("is_transposed"))


def _transposed_block(block: Sequence[Token]) -> Iterable[Token]:
    if block[0].type != "table_open":
        return block
    rows: list[list[Token]] = []
    for token in block:
        if token.type == "tr_open":
            rows.append([])
        elif token.type == "inline":
            rows[-1].append(token)
    if not is_better_transposed(rows[0][0].content, len(rows), len(rows[0])):
        return block
    block[0].meta["is_transposed"] = True
    return [block[0], *_table(transposed(rows)), block[-1]]


def _part(name: str, tag: str, nesting: Literal[1, -1]) -> Token:
    return Token(name, tag, nesting, level=1)  # level 0 would end the block


def _table(rows: Sequence[Sequence[Token]]) -> Iterator[Token]:
    """Yield the tokens inside a table with these cells; the first row is its head."""
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


def keep_identifiers(tokens: Sequence[Token]) -> None:
    """Set a class on cells and items that the style sheet gives no capital: they begin with an
    identifier ("work_mem"), or name what a table compares.
    """
    opening, heads, is_comparison = None, list[str](), False
    for token in tokens:
        heads = [] if token.type == "table_open" else heads
        if token.type in ("th_open", "td_open", "list_item_open"):
            opening = token
        elif token.type == "inline" and opening:
            text = plain_text(token)
            if opening.type == "th_open":
                heads.append(text)
                is_comparison = not heads[0] and any(head[:1].isupper() for head in heads)
            is_kept = is_comparison and opening.type != "list_item_open"
            is_kept |= [child.type for child in token.children or ()][:1] == ["code_inline"]
            if text[:1].islower() and (is_kept or capitalize_heading(text) == text):
                opening.attrSet("class", "as-written")
            opening = None
