"""CSV and TSV tables to text: one block per row, each cell labelled with its column."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from itertools import zip_longest
from urllib.parse import unquote, urlsplit

from research.extract.extracted import EmptyPageError, Extracted
from research.extract.html.metadata import MAX_TITLE
from research.fetch.sites import kind_of

_SEPARATORS = "\t;,|"
# "1,234.5", "-3 %"
_NUMBER = re.compile(r"[-+−]?[\d.,]+\s?%?")


def extract_csv(content: str, url: str) -> Extracted:
    """Return the rows of a table as text; raise `EmptyPageError`."""
    rows = _rows(content.lstrip("\ufeff").splitlines(keepends=True))
    names = rows[0] if len(rows) > 1 and _are_names(rows[0]) else []
    text = "\n\n".join(_label_cells(row, names) for row in (rows[1:] if names else rows))
    if not text:
        raise EmptyPageError("the page contains no readable text")
    name = unquote(urlsplit(url).path.rpartition("/")[2])
    return Extracted(name[:MAX_TITLE], text, kind=kind_of(url))


def _rows(lines: Sequence[str]) -> list[list[str]]:
    """Return the non-empty rows, split by the most frequent separator of the first line."""
    first = next(filter(str.strip, lines), "")
    separator = max(_SEPARATORS, key=first.count)
    try:
        rows = [[_spaced(cell) for cell in row] for row in csv.reader(lines, delimiter=separator)]
    except csv.Error as error:
        raise EmptyPageError("the table is damaged and cannot be read") from error
    return [row for row in rows if any(row)]


def _are_names(row: Sequence[str]) -> bool:
    return 1 < len(row) == len(set(row)) and not any(map(_NUMBER.fullmatch, row))


def _label_cells(row: Sequence[str], names: Sequence[str]) -> str:
    """Join the non-empty cells by tabs, each with its column's name."""
    cells = zip_longest(names, row, fillvalue="")
    return "\t".join(f"{name}: {cell}" if name else cell for name, cell in cells if cell)


def _spaced(text: str) -> str:
    return " ".join(text.split())
