"""Informative rows of a page's tables, each with its table's header."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from research.engine.offline.passages.ranked_sentence import RankedSentence
from research.engine.text.entities import NUMBER


def told_rows(text: str, found: Sequence[RankedSentence]) -> dict[int, RankedSentence | None]:
    """Return all rows except headers, by number, each with its table's header if known.

    A first row without a number is a header if it names three columns or each row below it has a
    number; otherwise it may be a row like the others.
    """
    told: dict[int, RankedSentence | None] = {}
    for first, *others in _find_tables(text, found):
        opens = bool(others) and not _has_number(first)
        heads = opens and (_count_cells(text, first) > 2 or all(map(_has_number, others)))
        told |= {row.sentence.number: first if heads else None for row in others}
        if not heads:
            told[first.sentence.number] = None
    return told


def _find_tables(text: str, found: Sequence[RankedSentence]) -> Iterator[list[RankedSentence]]:
    """Rows on following lines."""
    table: list[RankedSentence] = []
    for line in found:
        if line.sentence.kind != "row":
            continue
        if table and text[table[-1].sentence.end : line.sentence.start].count("\n") != 1:
            yield table
            table = []
        table.append(line)
    if table:
        yield table


def _count_cells(text: str, row: RankedSentence) -> int:
    return text.count("\t", row.sentence.start, row.sentence.end) + 1


def _has_number(row: RankedSentence) -> bool:
    return NUMBER.search(row.sentence.text) is not None
