"""A timeline: the dated statements of a report in the order of their dates."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Set
from dataclasses import replace

from research.engine.evidence.ledger import Ledger
from research.engine.journal.forms import Form
from research.engine.records import Evidence
from research.engine.report.draft import Draft, Section, Statement
from research.engine.report.parts.subjects import leans_back
from research.engine.report.rendering.markdown_escape import escape_sentence
from research.engine.report.report_i18n import Labels
from research.engine.text.dates import Date, find_dates
from research.engine.text.tokens import term_set

LEAST_EVENTS = 5
LEAST_SECTIONS = 3


def render_timeline(
    draft: Draft, ledger: Ledger, words: Labels, marks: Callable[[Iterable[str]], str]
) -> str:
    """Return the section with a row for each dated statement; "" where there are too few for one.

    `marks` gives the citations of evidence ids.
    """
    events = timeline_of(draft, ledger)
    if not events:
        return ""
    rows = [f"| {words['date']} | {words['event']} |", "| --- | --- |"]
    for date, statement in events:
        said = f"{escape_sentence(statement.body)} {marks(statement.evidence)}"
        rows.append(f"| {words.date(_as_iso(date))} | {render_cell(said)} |")
    return f"## {words['timeline']}\n\n" + "\n".join(rows)


def timeline_of(draft: Draft, ledger: Ledger) -> list[tuple[Date, Statement]]:
    """Return the dated statements, none where they are too few for a timeline."""
    events = dated_events(draft)
    if ledger.began >= Form.CARRIED:
        events = [(date, said) for date, said in events if _is_event(date, said, ledger)]
    is_one = len(events) >= LEAST_EVENTS and len(draft.sections) >= LEAST_SECTIONS
    return events if is_one else []


def without_events(draft: Draft, ledger: Ledger, tabled: Set[Statement] = frozenset()) -> Draft:
    """Return the draft whose sections leave out what the timeline, or another table, says, where
    something is left of them.
    """
    told = {statement for _, statement in timeline_of(draft, ledger)} | tabled

    def rest(section: Section) -> Section:
        kept = tuple(each for each in section.statements if each not in told)
        return replace(section, statements=kept or section.statements[:1])

    return replace(draft, sections=tuple(map(rest, draft.sections)))


def dated_events(draft: Draft) -> list[tuple[Date, Statement]]:
    """Return the statements of the sections that give one month or day, the earliest first."""
    found = []
    for statement in dict.fromkeys(s for section in draft.sections for s in section.statements):
        dates = {each.date for each in find_dates(statement.body) if _is_exact(each.date)}
        if len(dates) == 1 and statement.evidence and not statement.quoted:
            found.append((dates.pop(), statement))
    return sorted(found, key=lambda event: [part or 0 for part in event[0]])


def _is_event(date: Date, said: Statement, ledger: Ledger) -> bool:
    """Return whether a dated statement can be read alone, and its date isn't that of a page that it
    cites, as in "an article of March 2026 still says".
    """
    month = _as_iso(date)[: len("2026-03")]
    cited = [ledger.book.records[i] for i in said.evidence if i in ledger.book.records]
    pages = {source.day[: len(month)] for each in cited for source in each.sources}
    if month in pages and not any(_gives_month(date, each) for each in cited):
        return False
    return not leans_back(said.body, ledger.plan.language, term_set(ledger.question))


def _gives_month(date: Date, record: Evidence) -> bool:
    """Return whether a quote of the record gives the year and month itself."""
    found = (each.date for source in record.sources for each in find_dates(source.quote))
    return any(each[:2] == date[:2] for each in found)


def render_cell(text: str) -> str:
    """Return a text as a cell of a Markdown table."""
    return " ".join(text.replace("|", "\\|").split())


def _is_exact(date: Date) -> bool:
    year, month, _ = date
    return year is not None and month is not None


def _as_iso(date: Date) -> str:
    year, month, day = date
    return f"{year:04}-{month:02}" + (f"-{day:02}" if day else "")
