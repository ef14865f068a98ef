"""Table of changes, for questions that ask for them: values before and now."""

from __future__ import annotations

import re
from collections.abc import Iterable

from research.engine.evidence.ledger import Ledger
from research.engine.evidence.relations import LEAST_CHANGES, ToldChange
from research.engine.report.draft import Draft
from research.engine.report.parts.dating import YEAR, figure_date
from research.engine.report.rendering.markers import Markers
from research.engine.report.rendering.tables import render_table
from research.engine.text.tokens import capitalize_heading, term_set

_YEAR = re.compile(r"(?<!\d)(?:1\d|20)\d\d(?!\d)")


def render_changes(draft: Draft, marks: Markers) -> str:
    """Return the changes that the comparison found as a section with a table, and under which
    headings those are that the table has no room for; "" for few. A figure has its year beside it,
    and a change the date that findings give it, in a column of its own if most have one.
    """
    ledger, words = marks.ledger, marks.words
    told = ledger.relations.changes
    if len(told) < LEAST_CHANGES:
        return ""
    has_dates = 2 * sum(bool(each.since) for each in told) >= len(told)
    rows = [["", *(words[name] for name in ("before", "now", *["since"] * has_dates))]]
    for each in told:
        was, now = (
            "" if each.since else _date_of(value, ids, ledger)
            for value, ids in ((each.before, each.old), (each.now, each.new))
        )
        now = now if len(now) == YEAR else ""  # a month is that of a page
        was = "" if was[:YEAR] == marks.layout.today[:YEAR] else was  # who repeats it says so now
        texts = (each.what, _with_year(each.before, was[:YEAR]), _with_year(each.now, now))
        named, before, after = (marks.sentence(marks.wall.masked(text)) for text in texts)
        since = marks.sentence(marks.wall.masked(words.date(each.since)))
        after = f"{after} ({since})" if since and not has_dates else after
        cells = (f"{before} {marks.of(each.old)}", f"{after} {marks.of(each.new)}")
        rows.append([capitalize_heading(named), *cells, *[since] * has_dates])
    more = _told_elsewhere(draft, marks)
    table = render_table(rows)
    return "\n\n".join(filter(None, (f"## {words['changes']}", table, more)))


def _date_of(value: str, evidence: Iterable[str], ledger: Ledger) -> str:
    """Return the date that findings give for a figure; "" for none, and where no digit is in it."""
    if not any(map(str.isdigit, value)):
        return ""
    claims = (ledger.book.records[i].claim for i in evidence)
    return max((figure_date(claim, value) for claim in claims), default="")


def _with_year(value: str, year: str) -> str:
    return value if not year or _YEAR.search(value) else f"{value} ({year})"


def _told_elsewhere(draft: Draft, marks: Markers) -> str:
    """Return a sentence that counts the changes beyond the table's limit and names the sections
    that report them; "" if there are none.
    """
    found = [
        section
        for change in marks.ledger.relations.more_changes
        if (section := _section_with(change, draft))
    ]
    names = ", ".join(f"“{marks.headings[part]}”" for part in dict.fromkeys(found))
    return marks.words.count("more_changes", len(found), names=names) if found else ""


def _section_with(change: ToldChange, draft: Draft) -> str:
    """Return the section with a statement that rests on a change and has its newer value."""
    wanted, value = {*change.new}, term_set(change.now)
    return next(
        (
            section.aspect_id
            for section in draft.sections
            for said in section.statements
            if not wanted.isdisjoint(said.evidence) and value <= term_set(said.body)
        ),
        "",
    )
