"""Which rows of a page's tables tell something, and the head of its table for each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from research.engine.extractive.lines import Line
from research.engine.features import NUMBER


def told_rows(text: str, found: Sequence[Line]) -> dict[int, Line | None]:
    """The rows but for those that name columns, by number, each with its table's head if known.

    A first row without a number names the columns, where it names three or each row beneath
    has a number; otherwise it may as well be a row like the others.
    """
    told: dict[int, Line | None] = {}
    for first, *others in _tables(text, found):
        opens = bool(others) and not _has_number(first)
        heads = opens and (_cells(text, first) > 2 or all(map(_has_number, others)))
        told |= {row.sentence.number: first if heads else None for row in others}
        if not opens:
            told[first.sentence.number] = None
    return told


def _tables(text: str, found: Sequence[Line]) -> Iterator[list[Line]]:
    """Rows on following lines."""
    table: list[Line] = []
    for line in found:
        if line.sentence.kind != "row":
            continue
        if table and text[table[-1].sentence.end : line.sentence.start].count("\n") != 1:
            yield table
            table = []
        table.append(line)
    if table:
        yield table


def _cells(text: str, row: Line) -> int:
    return text.count("\t", row.sentence.start, row.sentence.end) + 1


def _has_number(row: Line) -> bool:
    return NUMBER.search(row.sentence.text) is not None
