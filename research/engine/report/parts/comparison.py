"""The table of a comparison with its extremes, and the box of key figures, all cited."""

from __future__ import annotations

import string
from collections.abc import Callable, Iterable
from decimal import Decimal

from research.engine.evidence.relations import Cell, Relations
from research.engine.records import Evidence
from research.engine.report.draft import Statement
from research.engine.report.rendering.markdown_escape import escape_markdown
from research.engine.report.rendering.tables import render_table
from research.engine.report.report_i18n import Labels
from research.engine.text import entities
from research.engine.text.quantities import parse_value
from research.engine.text.tokens import capitalize_heading, term_set, unique_texts

Marks = Callable[[Iterable[str]], str]
"""Returns the citations of evidence ids."""
LEAST_COMPARED = 2
MISSING = "–"
LONGEST_VALUE = 16
"""Words of a cell."""
_COUNTING = term_set("all any both certain each few many most no none not only other some several")
LONGEST_COLUMN = 40
"""Words of a sentence that gives all values of a column."""


def render_comparison(
    relations: Relations,
    words: Labels,
    marks: Marks,
    language: str = "",
    year_of: Callable[[Cell], str] = lambda _: "",
    escape: Callable[[str], str] = escape_markdown,
) -> str:
    """Return the table as a section, with a row for each thing and a column for each property; ""
    if nothing is compared. With a `language`, the highest and lowest value of each column follow,
    read as that language writes numbers. A cell without a value has a dash, which is explained
    below. A value that may have been overtaken has its `year_of`. Things keep their small letters.
    """
    if not relations.cells:
        return ""
    rows = [["", *(capitalize_heading(escape(name)) for name in relations.properties)]]
    for entity in relations.entities:
        row = [escape(entity)]
        for name in relations.properties:
            cell = relations.cells.get((entity, name))
            row.append(
                f"{escape(cell.value)}{_in_brackets(year_of(cell))} {marks(cell.evidence)}"
                if cell
                else MISSING
            )
        rows.append(row)
    told = (
        _tell_extremes(relations, name, words, language, escape, marks)
        for name in relations.properties
        if language
    )
    extremes = "\n".join(f"- {each}" for each in filter(None, told))
    is_full = len(relations.cells) == len(relations.entities) * len(relations.properties)
    note = "" if is_full else f"*{words['no_value'].format(mark=MISSING)}*"
    parts = (f"## {words['comparison']}", render_table(rows), note, extremes)
    return "\n\n".join(filter(None, parts))


def _in_brackets(year: str) -> str:
    return f" ({year})" if year else ""


def render_figures(
    relations: Relations,
    words: Labels,
    marks: Marks,
    is_listed: bool = False,
    escape: Callable[[str], str] = escape_markdown,
) -> str:
    """Return the key figures as a section, a table, in which a column has their dates if some are
    known, or a list; "" if there are none.
    """
    if not relations.figures:
        return ""
    if is_listed:
        items = (
            f"- {escape(capitalize_heading(each.name))}: **{escape(each.value)}**"
            f"{_in_brackets(each.date)}. {marks(each.evidence)}"
            for each in relations.figures
        )
        return f"## {words['key_figures']}\n\n" + "\n".join(items)
    is_dated = any(figure.date for figure in relations.figures)
    rows = [["", words["value"], *([words["as_of"]] if is_dated else [])]]
    for figure in relations.figures:
        name = escape(capitalize_heading(figure.name))
        value = f"**{escape(figure.value)}** {marks(figure.evidence)}"
        date = words.date(figure.date) or words["undated"]
        rows.append([name, value, *([date] if is_dated else [])])
    return f"## {words['key_figures']}\n\n{render_table(rows)}"


def told_columns(relations: Relations, words: Labels, language: str) -> dict[str, Statement]:
    """Return for the evidence of the table's cells a sentence on their whole column: its highest
    and lowest value, or all values where they are no amounts and few words. Its name is its label.
    """
    told: dict[str, Statement] = {}
    for name in relations.properties:
        column = _column(relations, name)
        evidence = tuple(unique_texts(i for cell in column.values() for i in cell.evidence))
        values = "; ".join(f"{entity}: {cell.value}" for entity, cell in column.items())
        text = _tell_extremes(relations, name, words, language, str, lambda _: "")
        text = text or f"{name} – {values}"
        if len(column) >= LEAST_COMPARED and len(text.split()) <= LONGEST_COLUMN:
            text = f"{text[:1].upper()}{text[1:]}."
            named = f"**{name[:1].upper()}{name[1:]}:** "
            text = f"{named}{text[len(name) :].lstrip(' :：–')}"
            said = Statement(text, evidence, is_column=True, lead_in=named)
            told |= dict.fromkeys(evidence, said)
    return told


def _column(relations: Relations, name: str) -> dict[str, Cell]:
    """Return the known cells of a property by the things that are compared."""
    return {
        entity: relations.cells[entity, name]
        for entity in relations.entities
        if (entity, name) in relations.cells
    }


def _tell_extremes(
    relations: Relations,
    name: str,
    words: Labels,
    language: str,
    shown: Callable[[str], str],
    marks: Marks,
) -> str:
    """Return the highest and lowest value of a column; "" unless both are unique."""
    ends = extremes_of(relations, name, language)
    if ends is None:
        return ""
    (least, most), column = ends, _column(relations, name)
    told = words["extremes"].format(
        name=shown(name),
        most=shown(most),
        highest=f"{shown(column[most].value)} {marks(column[most].evidence)}".strip(),
        least=shown(least),
        lowest=f"{shown(column[least].value)} {marks(column[least].evidence)}".strip(),
    )
    missing = len(column) < len(relations.entities)
    count = words["known_of"].format(n=len(column), all=len(relations.entities))
    return f"{told}{f' ({count})' if missing else ''}"


def extremes_of(relations: Relations, name: str, language: str) -> tuple[str, str] | None:
    """Return the things with the lowest and the highest value of a column; None where it has not
    one of each.
    """
    column = _column(relations, name)
    amounts = {entity: _amount(cell, language) for entity, cell in column.items()}
    known = {entity: amount for entity, amount in amounts.items() if amount is not None}
    if len(known) < LEAST_COMPARED or len(known) < len(column):
        return None
    ordered = sorted(known, key=lambda entity: known[entity][0])
    least, most = ordered[0], ordered[-1]
    is_shared = known[least] == known[ordered[1]] or known[most] == known[ordered[-2]]
    if len({measure for _, measure in known.values()}) > 1 or is_shared:
        return None
    return least, most


def _amount(cell: Cell, language: str) -> tuple[Decimal, str] | None:
    """Return the one amount of a cell with what it measures; None if it has none or several."""
    amounts = parse_value(cell.value, language)
    if len(amounts) != 1 or not amounts[0].measures:
        return None
    return Decimal(amounts[0].value), amounts[0].measures


def has_value(record: Evidence, entity: str, value: str) -> bool:
    """Return whether a quote of a record has a short value, and names its entity.

    The entity may also be named by the claim, which was checked against the quote, or by the page.
    """
    quoted = " ".join(source.quote for source in record.sources)
    named = term_set(" ".join((quoted, record.claim, *(s.title for s in record.sources))))
    is_short = 0 < len(value.split()) <= LONGEST_VALUE
    return is_short and gives_value(quoted, value) and bool(term_set(entity) & named)


def have_value_together(
    records: Iterable[Evidence], entity: str, value: str, names: Iterable[str]
) -> bool:
    """Return whether the quotes of records together have the numbers and some words of a short
    value, one of them names its entity, and the other words are those of their claims or of the
    `names` of what is compared, or count ("certain"). One without such words ("several seconds")
    stands in a quote as it is.
    """
    told = [*records]
    quoted = " ".join(source.quote for record in told for source in record.sources)
    claims = " ".join(record.claim for record in told)
    titles = " ".join(source.title for record in told for source in record.sources)
    numbers, terms = set(entities.find_numbers(value)), term_set(value)
    words = {term for term in terms if not any(c.isdecimal() for c in term)} - _COUNTING
    return (
        0 < len(value.split()) <= LONGEST_VALUE
        and numbers <= set(entities.find_numbers(quoted))
        and words <= term_set(" ".join((quoted, claims, *names)))
        and (bool(terms & term_set(quoted)) or has_words(quoted, value))
        and bool(term_set(entity) & term_set(" ".join((quoted, claims, titles))))
    )


def has_words(quoted: str, value: str) -> bool:
    """Return whether a quote has all words of a value one behind the other."""
    told, wanted = (
        " ".join(word.strip(string.punctuation) for word in text.casefold().split())
        for text in (quoted, value)
    )
    return bool(wanted) and f" {wanted} " in f" {told} "


def gives_value(quoted: str, value: str) -> bool:
    """Return whether a quote has the words and, in any form, the numbers of a value."""
    numbers = set(entities.find_numbers(value))
    words = {term for term in term_set(value) if not any(c.isdecimal() for c in term)}
    return (
        numbers <= set(entities.find_numbers(quoted))
        and words <= term_set(quoted) | numbers
        and bool(numbers or words)
    )
