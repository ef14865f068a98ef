"""CSV export: one line for each cited quote with the statements that cite it, for spreadsheets."""

from __future__ import annotations

import csv
from io import StringIO

from django.utils.translation import gettext_lazy as _

from dashboard.exports import Format
from dashboard.exports.contents import Contents

HEAD = (
    _("Number"), _("Quote"), _("Section"), _("Page"), _("Site"), _("Address"), _("Published"),
    _("Read on"), _("Statements of the report"),
)  # fmt: skip
FORMULA = ("=", "+", "-", "@", "\t", "\r")


def render(whole: Contents) -> bytes:
    written = StringIO()
    lines = csv.writer(written)
    lines.writerow(map(str, HEAD))
    for each in whole.citations:
        where = (each.title, each.domain, each.url, each.published)
        for passage in each.passages:
            statements = "\n".join(passage.statements)
            read = f"{each.fetched:%Y-%m-%d}"
            cells = (passage.quote, passage.section, *where, read, statements)
            lines.writerow((each.number, *map(_as_text, cells)))
    return written.getvalue().encode("utf-8-sig", errors="replace")  # Excel needs the mark


def _as_text(cell: str) -> str:
    """Keep a spreadsheet from running what a page wrote as a formula."""
    return f"'{cell}" if cell.startswith(FORMULA) else cell


FORMAT = Format(
    "CSV",
    "csv",
    "text/csv; charset=utf-8",
    render,
    position=5,
    group=_("Data"),
    purpose=_("The cited quotes and their statements, for a spreadsheet"),
)
