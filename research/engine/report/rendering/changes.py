"""Table of changes, for questions that ask for them: values before and now."""

from __future__ import annotations

from research.engine.evidence.ledger import Ledger
from research.engine.evidence.relations import ToldChange
from research.engine.report.parts.comparison import render_table
from research.engine.report.parts.dating import MONTH, stated_date
from research.engine.report.rendering.markdown_escape import escape_sentence
from research.engine.report.rendering.markers import Markers
from research.engine.report.report_i18n import Labels
from research.engine.text.tokens import capitalize_heading

LEAST_CHANGES = 2


def render_changes(marks: Markers) -> str:
    """Return the changes that the comparison found as a section with a table; "" for few. Where no
    finding dates a change, the table has the date of the oldest source of what applies now.
    """
    ledger, words = marks.ledger, marks.words
    told = ledger.relations.changes
    if len(told) < LEAST_CHANGES:
        return ""
    rows = [["", words["before"], words["now"], words["as_of"]]]
    for each in told:
        texts = (each.what, each.before, each.now)
        named, was, now = (escape_sentence(marks.wall.masked(text)) for text in texts)
        cells = (f"{was} {marks.of(each.old)}", f"{now} {marks.of(each.new)}")
        rows.append([capitalize_heading(named), *cells, _since(each, ledger, words)])
    return f"## {words['changes']}\n\n{render_table(rows)}"


def _since(change: ToldChange, ledger: Ledger, words: Labels) -> str:
    """Return when something changed, otherwise of when its newer value is, by the finding or by the
    source that gives it.
    """
    records = [ledger.book.records[i] for i in change.new]
    told = change.since or max(map(stated_date, records))
    if told:
        return words.date(told)
    days = [source.day for record in records for source in record.sources if source.day]
    oldest = min(days, default="")[:MONTH]
    return words["dated_by_source"].format(date=words.date(oldest)) if oldest else ""
