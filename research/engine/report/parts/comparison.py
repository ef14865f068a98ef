"""The table of a comparison with its extremes, and the box of key figures, all cited."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from decimal import Decimal

from research.engine.evidence.relations import Cell, Relations
from research.engine.report.markdown_escape import escape_markdown
from research.engine.report.parts.timeline import render_cell
from research.engine.report.report_i18n import Labels
from research.engine.text.quantities import parse_value

Marks = Callable[[Iterable[str]], str]
"""Returns the citations of evidence ids."""
LEAST_COMPARED = 2
MISSING = "–"


def render_comparison(
    relations: Relations, words: Labels, marks: Marks, language: str = "", is_dense: bool = False
) -> str:
    """Return the table as a section, with a row for each thing and a column for each property; ""
    if nothing is compared. With a `language`, the highest and lowest value of each column follow,
    read as that language writes numbers. A dense one has a dash for what was not found.
    """
    if not relations.cells:
        return ""
    rows = [["", *map(escape_markdown, relations.properties)]]
    for entity in relations.entities:
        row = [escape_markdown(entity)]
        for name in relations.properties:
            cell = relations.cells.get((entity, name))
            row.append(
                f"{escape_markdown(cell.value)} {marks(cell.evidence)}"
                if cell
                else MISSING
                if is_dense
                else words["not_found_cell"]
            )
        rows.append(row)
    extremes = "\n".join(_extremes(relations, words, marks, language)) if language else ""
    parts = (f"## {words['comparison']}", _table(rows), extremes)
    return "\n\n".join(filter(None, parts))


def render_figures(relations: Relations, words: Labels, marks: Marks) -> str:
    """Return the key figures as a section; "" if there are none."""
    if not relations.figures:
        return ""
    rows = [["", words["value"], words["as_of"]]]
    for figure in relations.figures:
        value = f"**{escape_markdown(figure.value)}** {marks(figure.evidence)}"
        rows.append([escape_markdown(figure.name), value, figure.date or words["undated"]])
    return f"## {words['key_figures']}\n\n{_table(rows)}"


def _table(rows: list[list[str]]) -> str:
    lines = [rows[0], ["---"] * len(rows[0]), *rows[1:]]
    return "\n".join(f"| {' | '.join(map(render_cell, line))} |" for line in lines)


def _extremes(relations: Relations, words: Labels, marks: Marks, language: str) -> Iterator[str]:
    """Yield an item for each column that has one highest and one lowest value."""
    for name in relations.properties:
        column = {
            entity: relations.cells[entity, name]
            for entity in relations.entities
            if (entity, name) in relations.cells
        }
        amounts = {entity: _amount(cell, language) for entity, cell in column.items()}
        known = {entity: amount for entity, amount in amounts.items() if amount is not None}
        if len(known) < LEAST_COMPARED or len(known) < len(column):
            continue
        ordered = sorted(known, key=lambda entity: known[entity][0])
        least, most = ordered[0], ordered[-1]
        is_shared = known[least] == known[ordered[1]] or known[most] == known[ordered[-2]]
        if len({measure for _, measure in known.values()}) > 1 or is_shared:
            continue
        told = words["extremes"].format(
            name=escape_markdown(name),
            most=escape_markdown(most),
            highest=f"{escape_markdown(column[most].value)} {marks(column[most].evidence)}",
            least=escape_markdown(least),
            lowest=f"{escape_markdown(column[least].value)} {marks(column[least].evidence)}",
        )
        missing = len(column) < len(relations.entities)
        count = words["known_of"].format(n=len(column), all=len(relations.entities))
        yield f"- {told}{f' ({count})' if missing else ''}"


def _amount(cell: Cell, language: str) -> tuple[Decimal, str] | None:
    """Return the one amount of a cell with what it measures; None if it has none or several."""
    amounts = parse_value(cell.value, language)
    if len(amounts) != 1 or not amounts[0].measures:
        return None
    return Decimal(amounts[0].value), amounts[0].measures
