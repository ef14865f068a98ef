"""A timeline: the dated statements of a report in the order of their dates."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace

from research.engine.evidence.ledger import Ledger
from research.engine.journal.forms import Form
from research.engine.offline.questions.question import asks_for_course
from research.engine.records import Evidence
from research.engine.report.draft import Draft, Section, Statement
from research.engine.report.events import (
    Event,
    agree,
    events_of,
    is_exact,
    shorten,
    without_opening_date,
)
from research.engine.report.parts.paragraphs import without_told
from research.engine.report.parts.subjects import leans_back
from research.engine.report.rendering.markdown_escape import escape_sentence, escape_with_code
from research.engine.report.rendering.tables import render_cell
from research.engine.report.report_i18n import Labels
from research.engine.text.dates import Date, find_dates, without_dates
from research.engine.text.tokens import term_set, unique_texts

LEAST_EVENTS, LEAST_BEFORE, LEAST_UNASKED = 3, 5, 8
"""Fewest events of a timeline that the question asks for, also in runs before `Form.COMPUTED`, and
of any other.
"""
LEAST_SECTIONS = 3
_LABEL = re.compile(r"^[^:：]{4,40}[:：]\s+")
"""What may be the date before an event: "28 January 1887: The city had work begun"."""
SAME_WORDS = 0.5
"""Share of the words of the shorter of two statements whose dates agree by which they tell one
event.
"""
MOST_QUOTED = 40
"""Most words of a quotation that is a row."""
MOST_ADDED = 12
"""Dated findings that a draft left out and that come in for a question on the course of events."""


def course_part(draft: Draft, ledger: Ledger) -> str | None:
    """Return the sub-question with a section that asks for the course of events, None if the
    timeline is for no sub-question, or its author told it there.
    """
    if draft.by_code or draft.is_whole:
        return None
    parts = (section.aspect_id for section in draft.sections)
    texts = {part: ledger.aspects[part].text for part in parts}
    return next((part for part in texts if asks_for_course(texts[part], ledger.began)), None)


def with_course_of_events(draft: Draft, ledger: Ledger) -> Draft:
    """Return the draft whose section on the course of events has dated findings, one for each
    month that it doesn't tell, at most `MOST_ADDED` of those with most sites.

    What other sections tell is among them: their sentences say more, and may be refused.
    """
    part = course_part(draft, ledger)
    if part is None:
        return draft
    own = replace(draft, sections=tuple(s for s in draft.sections if s.aspect_id == part))
    told = [date for date, _ in dated_events(own, ledger)]
    aside = ledger.relations.replaced.keys() | ledger.relations.doubted.keys()
    found: dict[tuple[int | None, int | None], tuple[int, Date, Statement]] = {}
    for record in ledger.statable:
        said = Statement(record.claim, (record.id,))
        date = _date_of(said, ledger)
        if date is None or record.id in aside or record.contradicts or record.is_dictated:
            continue
        if any(date[:2] == each[:2] for each in told) or not _is_event(date, said, ledger):
            continue
        known, sites = found.get(date[:2]), len(record.keys)
        if known is None or sites > known[0]:
            found[date[:2]] = sites, date, said
    best = sorted(found.values(), key=lambda each: -each[0])[:MOST_ADDED]
    added = [said for _, _, said in sorted(best, key=lambda each: _in_order(each[1]))]
    sections = (
        replace(each, statements=(*each.statements, *added)) if each.aspect_id == part else each
        for each in draft.sections
    )
    return replace(draft, sections=tuple(sections))


def without_told_events(draft: Draft, ledger: Ledger) -> Draft:
    """Return a draft that was checked, whose section on the course of events leaves out findings
    of a month that another section tells.
    """
    part = course_part(draft, ledger)
    others = replace(draft, sections=tuple(s for s in draft.sections if s.aspect_id != part))
    told = {date[:2] for date, _ in _authored_rows(draft, ledger)}
    told |= {
        date[:2] for date, said in dated_events(others, ledger) if _is_event(date, said, ledger)
    }

    def is_told(said: Statement) -> bool:
        claims = [ledger.book.records[i].claim for i in said.evidence]
        date = _date_of(said, ledger)
        return claims == [said.text] and date is not None and date[:2] in told

    sections = (
        replace(each, statements=tuple(s for s in each.statements if not is_told(s)))
        if each.aspect_id == part
        else each
        for each in draft.sections
    )
    return replace(draft, sections=tuple(sections))


def render_timeline(
    draft: Draft,
    ledger: Ledger,
    words: Labels,
    marks: Callable[[Iterable[str]], str],
    has_heading: bool = True,
    is_dense: bool = False,
    told: Collection[Statement] = (),
) -> str:
    """Return the section with a row for each dated event, in a dense report an item; "" where
    there are too few for one. Of a statement that is `told` in a section as well a row has only
    the event itself.

    `marks` gives the citations of evidence ids.
    """
    events = timeline_of(draft, ledger)
    if not events:
        return ""
    rows = [] if is_dense else [f"| {words['date']} | {words['event']} |", "| --- | --- |"]
    for event, statement in merged_events(events, ledger):
        if statement in draft.course:  # the first column has the date
            event = replace(event, text=_without_date_label(event.text))
        text = _text_of(event, statement, ledger, is_dense, statement in told)
        said = f"{text} {marks(event.evidence)}"
        days = (words.date(_as_iso(day)) for day in (event.date, event.until) if day)
        row = f"| {' – '.join(days)} | {render_cell(said)} |"
        rows.append(f"- {said}" if is_dense else row)
    heading = f"## {words['timeline']}\n\n" if has_heading else ""
    return heading + "\n".join(rows)


def _without_date_label(text: str) -> str:
    label = _LABEL.match(text)
    return text[label.end() :] if label and find_dates(label[0]) else text


def _text_of(
    event: Event, said: Statement, ledger: Ledger, is_dense: bool, is_repeated: bool
) -> str:
    """Return an event as Markdown; without its date at the beginning where the first column or the
    rest gives it.
    """
    if ledger.began < Form.COMPUTED:
        return escape_sentence(event.text)
    if said.quoted:
        return escape_with_code(event.text)
    text = shorten(event.text) if is_repeated else event.text
    brief = without_opening_date(replace(event, text=text), ledger.plan.language)
    is_dated = not is_dense or any(each.date == event.date for each in find_dates(brief))
    return escape_sentence(brief if is_dated else text, has_options=True)


def timeline_of(draft: Draft, ledger: Ledger) -> list[tuple[Date, Statement]]:
    """Return the dated statements, one with several events once for each, or none if they are too
    few for a timeline. Where the author told the course of events, it has those alone.
    """
    if draft.is_whole:
        return []
    if rows := _authored_rows(draft, ledger):
        return rows
    dated = dated_events(draft, ledger)
    events = [(date, said) for date, said in dated if _is_event(date, said, ledger)]
    if not _is_asked_for(ledger):
        least, sections = LEAST_UNASKED, LEAST_SECTIONS
    elif ledger.began < Form.COMPUTED:
        least, sections = LEAST_BEFORE, LEAST_SECTIONS
    else:
        least, sections = LEAST_EVENTS, 1
    return events if len(events) >= least and len(draft.sections) >= sections else []


def _authored_rows(draft: Draft, ledger: Ledger) -> list[tuple[Date, Statement]]:
    """Return the events that the author told as a course with their dates, or none if they are too
    few for a timeline.
    """
    rows = [(event.date, said) for said in draft.course for event in _events_of(said, ledger)[:1]]
    return rows if len(rows) >= LEAST_EVENTS else []


def _is_asked_for(ledger: Ledger) -> bool:
    """Return whether the question, a sub-question or the planned form asks for the course of
    events: without that, a timeline mostly says again what the sections say.
    """
    parts = (aspect.text for aspect in ledger.aspects.values())
    asked = (ledger.question, ledger.plan.output_format, *parts)
    return any(asks_for_course(text, ledger.began) for text in asked)


def merged_events(
    events: Sequence[tuple[Date, Statement]], ledger: Ledger
) -> list[tuple[Event, Statement]]:
    """Return the events in order, each once: of those whose dates agree, in mostly the same words,
    the one with the most exact date, then with most sites, on the evidence of all.
    """
    told: list[tuple[Event, Statement]] = []
    for date, said in events:
        new = _event_on(date, said, ledger), said
        at = next((n for n, (known, _) in enumerate(told) if _is_same(new[0], known, ledger)), None)
        if at is None:
            told.append(new)
            continue
        event, best = max((told[at], new), key=lambda each: _weight_of(each[0], each[1], ledger))
        ids = (*event.evidence, *told[at][0].evidence, *new[0].evidence)
        evidence = tuple(unique_texts(ids))
        if ledger.began < Form.COMPUTED:
            best = replace(best, evidence=evidence)
        told[at] = replace(event, evidence=evidence), best
    return sorted(told, key=lambda each: _in_order(each[0].date))


def _is_same(one: Event, other: Event, ledger: Ledger) -> bool:
    is_rough = ledger.began >= Form.COMPUTED
    if not (agree(one.date, other.date) if is_rough else one.date == other.date):
        return False
    words, others = (term_set(without_dates(each.text)) for each in (one, other))
    return len(words & others) >= SAME_WORDS * min(len(words), len(others))


def _weight_of(event: Event, said: Statement, ledger: Ledger) -> tuple[int, bool, int]:
    sites = {key for i in event.evidence for key in ledger.book.records[i].keys}
    return sum(map(bool, event.date)), not said.quoted, len(sites)


def course_events(draft: Draft, ledger: Ledger) -> list[tuple[Event, Statement]]:
    """Return what the table in the section on the course of events has; none without one."""
    if course_part(draft, ledger) is None:
        return []
    return merged_events(timeline_of(draft, ledger), ledger)


def tell_span(draft: Draft, ledger: Ledger, words: Labels) -> str:
    """Return how many events that table has, and of what time; "" without one."""
    dates = [words.date(_as_iso(event.date)) for event, _ in course_events(draft, ledger)]
    span = {"n": len(dates), "first": dates[0], "last": dates[-1]} if dates else {}
    return words["course"].format(**span) if dates else ""


def with_one_landmark(short: Sequence[Statement]) -> tuple[Statement, ...]:
    """Return a short answer with the weightiest of its landmarks alone."""
    marks = [said for said in short if said.part]
    best = marks[len(marks) // 2 :][:1]
    return tuple(said for said in short if not said.part or said in best)


def without_events(draft: Draft, ledger: Ledger, only: str | None = None) -> Draft:
    """Return the draft whose sections, or the `only` one, leave out what the timeline says, where
    something is left of them. Where the timeline stands in a section, that may be left empty, and
    another one of which the timeline says everything goes.
    """
    if authored := _authored_rows(draft, ledger):
        return _without_rows(draft, authored, ledger)
    rows = Counter(statement for _, statement in timeline_of(draft, ledger))
    told = {said for said, number in rows.items() if number == len(_events_of(said, ledger))}
    own = course_part(draft, ledger) if told else None

    def rest(section: Section) -> Section:
        if only not in (None, section.aspect_id):
            return section
        kept = without_told(section.statements, told, ledger.began < Form.COMPUTED)
        return replace(section, statements=kept if own else kept or section.statements[:1])

    sections = map(rest, draft.sections)
    return replace(
        draft,
        sections=tuple(
            each for each in sections if each.statements or own in (None, each.aspect_id)
        ),
    )


def _without_rows(draft: Draft, rows: Sequence[tuple[Date, Statement]], ledger: Ledger) -> Draft:
    """Return the draft whose section on the course of events leaves out what rows say that its
    author told: a dated statement on nothing but their evidence.
    """
    part = course_part(draft, ledger)

    def is_told(said: Statement) -> bool:
        dates = {event.date for event in _events_of(said, ledger)}
        known = [row for date, row in rows if any(agree(date, own) for own in dates)]
        return bool(known) and {i for row in known for i in row.evidence}.issuperset(said.evidence)

    sections = (
        replace(each, statements=tuple(s for s in each.statements if not is_told(s)))
        if each.aspect_id == part
        else each
        for each in draft.sections
    )
    return replace(draft, sections=tuple(sections))


def dated_events(draft: Draft, ledger: Ledger) -> list[tuple[Date, Statement]]:
    """Return the statements of the sections with the month or day of each of their events, the
    earliest first; in the section on the course of events a year is enough, and a quotation may
    tell one.
    """
    course, found = course_part(draft, ledger), []
    for section in sorted(draft.sections, key=lambda each: each.aspect_id != course):
        for said in section.statements:
            is_course = section.aspect_id == course
            events = _events_of(said, ledger) if said.evidence else ()
            if said.quoted and not (is_course and _is_quotable(said, events, ledger)):
                continue
            found += [(event.date, said) for event in events if is_exact(event.date) or is_course]
    return sorted(dict.fromkeys(found), key=lambda event: _in_order(event[0]))


def _is_quotable(said: Statement, events: Sequence[Event], ledger: Ledger) -> bool:
    """Return whether a quotation is brief and tells one event of a month or day."""
    is_one = len(events) == 1 and is_exact(events[0].date)
    return is_one and said.words <= MOST_QUOTED and ledger.began >= Form.COMPUTED


def _date_of(statement: Statement, ledger: Ledger) -> Date | None:
    """Return the month or day of the first event of a statement."""
    dates = (event.date for event in _events_of(statement, ledger))
    return next(filter(is_exact, dates), None)


def _events_of(statement: Statement, ledger: Ledger) -> tuple[Event, ...]:
    """Return the events of a statement; before `Form.COMPUTED` the whole of one with exactly one
    month or day.
    """
    if ledger.began >= Form.COMPUTED:
        events = events_of(statement, ledger.plan.language)
        return events if len(events) < 2 else tuple(_narrowed(each, ledger) for each in events)
    dates = {each.date for each in find_dates(statement.body) if is_exact(each.date)}
    if len(dates) != 1:
        return ()
    return (Event(dates.pop(), statement.body, statement.evidence),)


def _narrowed(event: Event, ledger: Ledger) -> Event:
    """Return an event of several that a statement tells, on the evidence that gives its month."""
    records = ledger.book.records
    own = tuple(i for i in event.evidence if i in records and _gives_month(event.date, records[i]))
    return replace(event, evidence=own or event.evidence)


def _event_on(date: Date, statement: Statement, ledger: Ledger) -> Event:
    return next(each for each in _events_of(statement, ledger) if each.date == date)


def _in_order(date: Date) -> list[int]:
    return [part or 0 for part in date]


def _is_event(date: Date, said: Statement, ledger: Ledger) -> bool:
    """Return whether a dated statement can be read alone, and its date isn't that of a page that it
    cites, as in "an article of March 2026 still says".
    """
    month = _as_iso(date)[: len("2026-03")]
    cited = [ledger.book.records[i] for i in said.evidence if i in ledger.book.records]
    pages = {source.day[: len(month)] for each in cited for source in each.sources}
    if month in pages and not any(_gives_month(date, each) for each in cited):
        return False
    if said.body in {each.claim for each in cited}:
        return True  # a claim was written to be understood alone
    # "The ban on old headlamps started" is clear next to its date.
    named = term_set(ledger.question) | term_set(said.body)
    return not leans_back(said.body, ledger.plan.language, named)


def _gives_month(date: Date, record: Evidence) -> bool:
    """Return whether a quote of the record contains the year and month."""
    found = (each.date for source in record.sources for each in find_dates(source.quote))
    return any(each[:2] == date[:2] for each in found)


def _as_iso(date: Date) -> str:
    year, month, day = date
    return f"{year:04}" + (f"-{month:02}" if month else "") + (f"-{day:02}" if day else "")
