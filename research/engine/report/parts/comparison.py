"""The table of a comparison: a row for each thing, a column for each property, cited cells."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from research.engine.evidence.relations import Relations
from research.engine.report.markdown_escape import escape_markdown
from research.engine.report.parts.timeline import render_cell
from research.engine.report.report_i18n import Labels


def render_comparison(
    relations: Relations, words: Labels, marks: Callable[[Iterable[str]], str]
) -> str:
    """Return the table as a section; "" if nothing is compared. `marks` returns citations."""
    if not relations.cells:
        return ""
    head = ["", *map(escape_markdown, relations.properties)]
    lines = [head, ["---"] * len(head)]
    for entity in relations.entities:
        row = [escape_markdown(entity)]
        for name in relations.properties:
            cell = relations.cells.get((entity, name))
            row.append(
                f"{escape_markdown(cell.value)} {marks(cell.evidence)}"
                if cell
                else words["not_found_cell"]
            )
        lines.append(row)
    table = "\n".join(f"| {' | '.join(map(render_cell, line))} |" for line in lines)
    return f"## {words['comparison']}\n\n{table}"
