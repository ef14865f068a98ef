"""Table of changes, for questions that ask for them: values before and now."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import compress

from research.engine.evidence.ledger import Ledger
from research.engine.evidence.relations import ToldChange
from research.engine.journal.forms import Form
from research.engine.report.draft import Draft
from research.engine.report.parts.comparison import render_table
from research.engine.report.parts.dating import MONTH, YEAR, stated_date
from research.engine.report.rendering.markers import Markers
from research.engine.text.tokens import capitalize_heading

LEAST_CHANGES = 2


def render_changes(draft: Draft, marks: Markers) -> str:
    """Return the changes that the comparison found as a section with a table, and under which
    headings those are that the table has no room for; "" for few. Where no finding dates a change,
    the table has the date of the oldest source of what applies now, in a column of its own.
    """
    ledger, words = marks.ledger, marks.words
    told = ledger.relations.changes
    if len(told) < LEAST_CHANGES:
        return ""
    rows = [["", *(words[name] for name in ("before", "now", "as_of", "first_reported"))]]
    for each in told:
        texts = (each.what, each.before, each.now)
        named, was, now = (marks.sentence(marks.wall.masked(text)) for text in texts)
        year = _year_before(each, ledger)
        was = f"{was} ({year})" if year and year not in was else was
        cells = (f"{was} {marks.of(each.old)}", f"{now} {marks.of(each.new)}")
        since, reported = _stated(each, ledger), _reported(each, ledger)
        dates = (words.date(since), "" if since else words.date(reported))
        rows.append([capitalize_heading(named), *cells, *dates])
    table, more = render_table(_without_empty_columns(rows)), _told_elsewhere(draft, marks)
    return "\n\n".join(filter(None, (f"## {words['changes']}", table, more)))


def _without_empty_columns(rows: list[list[str]]) -> list[list[str]]:
    """Return a table without the columns that have nothing below their names."""
    kept = [any(column[1:]) for column in zip(*rows, strict=True)]
    return [[*compress(row, kept)] for row in rows]


def _stated(change: ToldChange, ledger: Ledger) -> str:
    """Return when something changed, otherwise of when its newer value is, by the findings."""
    return change.since or max(stated_date(ledger.book.records[i]) for i in change.new)


def _year_before(change: ToldChange, ledger: Ledger) -> str:
    """Return the year of an earlier figure, by the finding that states it; "" if none does, and
    where something held until it was changed.
    """
    if ledger.began < Form.COMPUTED or not any(map(str.isdigit, change.before)):
        return ""
    stated = (stated_date(ledger.book.records[i]) for i in change.old)
    return max(stated, default="")[:YEAR]


def _reported(change: ToldChange, ledger: Ledger) -> str:
    """Return the month of the oldest source that gives the newer value."""
    sources = (source for i in change.new for source in ledger.book.records[i].sources)
    return min(filter(None, (source.day for source in sources)), default="")[:MONTH]


def _told_elsewhere(draft: Draft, marks: Markers) -> str:
    """Return a sentence that counts the changes beyond the table's limit and names the sections
    that report them; "" if there are none.
    """
    found = [
        section
        for change in marks.ledger.relations.more_changes
        if (section := _section_with(change.new, draft))
    ]
    names = ", ".join(f"“{marks.headings[part]}”" for part in dict.fromkeys(found))
    return marks.words.count("more_changes", len(found), names=names) if found else ""


def _section_with(evidence: Iterable[str], draft: Draft) -> str:
    wanted = {*evidence}
    return next(
        (
            section.aspect_id
            for section in draft.sections
            if any(not wanted.isdisjoint(said.evidence) for said in section.statements)
        ),
        "",
    )
