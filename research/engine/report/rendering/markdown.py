"""The report as Markdown: short answer, facts, sections, disputes, not found, sources."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from research.engine.assessment.answer_status import is_close
from research.engine.evidence.ledger import Ledger
from research.engine.evidence.relations import LEAST_CHANGES, ToldChange
from research.engine.journal.forms import Form
from research.engine.records import AspectState, Citation, OpenPoint
from research.engine.report.disputes import weighed_by
from research.engine.report.draft import Draft, Statement
from research.engine.report.parts.comparison import render_comparison, render_figures
from research.engine.report.parts.dating import YEAR, figure_date
from research.engine.report.parts.disagreement import untold_rivals
from research.engine.report.parts.inline_quotes import quote_inline
from research.engine.report.parts.method_note import method_note
from research.engine.report.parts.repetitions import refer_back
from research.engine.report.parts.sources import weak_kind
from research.engine.report.parts.subjects import with_subjects
from research.engine.report.parts.timeline import course_part, render_timeline, without_events
from research.engine.report.rendering.calculations import calculations_of, calculations_section
from research.engine.report.rendering.closing import (
    open_points,
    render_disagreements,
    render_dropped,
    render_facts,
    render_not_found,
    render_not_searched,
    render_open_here,
    render_sources,
    render_still_open,
)
from research.engine.report.rendering.markdown_escape import code_words, escape_markdown
from research.engine.report.rendering.markers import USUAL, Markers, without_places
from research.engine.report.rendering.sections import (
    render_as_table,
    render_next_steps,
    render_section,
    render_steps,
    render_steps_left_out,
)
from research.engine.report.rendering.short_answer import (
    flagged_parts,
    is_answered,
    items_of,
    render_left_open,
    render_left_out,
    render_short,
    render_trust,
    status_line,
)
from research.engine.report.rendering.statements import BOX, inline_texts
from research.engine.report.rendering.tables import render_table
from research.engine.report.report_format import Layout
from research.engine.text.tokens import capitalize_heading, is_unspaced, term_set, words_in

_MARKER = re.compile(r"\[\d+\]")


_LETTER = re.compile(r"[^\W_]")


LEAST_PASSAGES = 3


@dataclass(frozen=True)
class Rendered:
    markdown: str
    citations: tuple[Citation, ...]
    short_answer: str
    open_points: tuple[OpenPoint, ...] | None = None
    """What the report lists as open; None of one that has no such list."""
    disputes: int = 0
    """Points on which it says that sources disagree."""


def render_report(
    ledger: Ledger, draft: Draft, ended: str, cut: int, by_code: int, layout: Layout = USUAL
) -> Rendered:
    """Return the whole report; markers are `[n]`. `by_code` counts model tasks that code did. Why
    it `ended` stands at the end of a dense report.
    """
    code, headings = _code_of(draft, ledger), draft.headings
    marks = Markers(ledger, calculations_of(draft, ledger), layout, code=code, given=headings)
    if draft.by_code:
        draft = refer_back(draft, marks.words, layout.is_direct)
    else:
        draft = quote_inline(draft, ledger)
    passages = {i for s in draft.statements if s.quoted for i in s.evidence}
    is_thin = len(passages) < LEAST_PASSAGES and all(s.quoted for s in draft.short_answer)
    is_known = bool(draft.quoted_instead) or is_answered(next(iter(ledger.aspects.values())))
    closest = is_thin and not is_known
    head = "closest" if closest else "best_passage" if draft.by_code else "short_answer"
    if not draft.found:
        head = "not_found"
    items = items_of(draft, marks)
    if not ((items or draft.is_authored) and layout.is_led):
        draft = replace(draft, short_answer=with_subjects(draft.short_answer, ledger))
    shown = without_events(draft, ledger) if layout.is_dense else draft
    course = course_part(draft, ledger) if not layout.as_table else None
    if course and not layout.is_dense:
        shown = without_events(draft, ledger, only=course)
    marks.is_whole = draft.is_whole
    marks.weighed = weighed_by(draft, ledger)
    marks.untold = {} if draft.by_code else untold_rivals(shown, ledger)
    points = open_points(draft, marks)
    listed = tuple(points) if layout.is_led else None
    marks.left_open = Counter(each.aspect_id for each in listed or ())
    named = {each.text for each in draft.open_first}
    marks.open_first = [each for each in points if each.text in named]
    is_told_whole = bool(items) or (draft.is_authored and len(ledger.aspects) > 1)
    status = status_line(draft, marks) if is_told_whole and layout.is_led else ""
    marks.flagged = flagged_parts(draft, marks) if status else frozenset()
    leads = ledger.began >= Form.COMPUTED
    steps = render_steps(draft, marks) if leads else ""
    short = render_short(ledger, draft, marks, layout, status, steps)
    opening = f"{draft.opening} " if draft.opening else ""
    has_extremes = layout.has_extremes and not any(said.is_verdict for said in draft.short_answer)
    language = ledger.plan.language if has_extremes else ""
    plain_short = " ".join(inline_texts(draft.short_answer, marks))
    left = "" if status else render_left_open(draft, marks)
    is_told = layout.is_terse and bool(left or status)
    cut_off = render_left_out(draft, marks) if layout.is_direct else ""
    told = without_places(plain_short) if draft.found else ""
    is_block = short.startswith("- ") or (steps and short.startswith(steps))
    start = "\n\n" if is_block else " "
    top = f"**{marks.words[head]}.** {opening}".rstrip() + f"{start}{short}"
    if draft.by_code and not short:
        top = f"**{draft.opening}**"

    acts = draft.is_authored and bool(draft.next_steps)

    def comparison() -> str:
        """Return the comparison table; it follows the sections if there are next steps."""
        relations, words = ledger.relations, marks.words
        return render_comparison(relations, words, marks.of, language, marks.year_of, marks.cell)

    def calculations() -> str:
        return calculations_section(marks.calculations, marks.words, marks.of)

    parts = [
        f"# {escape_markdown(ledger.question)}",
        top,
        "" if leads else render_next_steps(draft, marks),
        _render_figures(ledger, draft, marks) if layout.has_figures else "",
        "" if acts else comparison(),
        render_changes(draft, marks) if layout.lists_changes else "",
        *_render_sections(ledger, draft, shown, marks, course, points),
        comparison() if acts else "",
        "" if course else _render_timeline(draft, shown, marks),
        "" if draft.is_whole else calculations(),
        render_disagreements(ledger, draft, marks, layout.is_brief, layout.is_terse),
        render_still_open(_without_section(points, shown, marks), marks),
        "" if is_told else render_not_found(draft, marks, layout.is_brief),
        render_not_searched(draft, marks),
        render_dropped(ledger, marks.words),
    ]
    is_late = layout.is_dense or (is_told_whole and layout.is_led)
    early, late = ("", ended) if is_late else (ended, "")
    is_uncounted = bool(status) or _has_no_answer(ledger, draft)
    facts = render_facts(marks, early, cut, by_code, is_uncounted)
    concluded = sum(said.concludes for said in dict.fromkeys(draft.statements))
    parts.insert(2, f"*{facts}*" if facts else "")
    parts[3:3] = [render_trust(marks, concluded), left, cut_off, render_steps_left_out(marks)]
    note = method_note(ledger, marks.words, marks.urls, late, layout.today, layout.checks)
    computed = calculations() if draft.is_whole else ""
    parts += [render_sources(ledger, marks), note, computed]
    markdown = marks.place("\n\n".join(filter(None, parts)) + "\n")
    disputes = markdown.count(BOX) + len(marks.told_in_one)
    return Rendered(markdown, marks.citations(), told, listed, disputes)


def _code_of(draft: Draft, ledger: Ledger) -> frozenset[str]:
    """Return the words that statements and steps set as code."""
    if ledger.began < Form.EDITED:
        return frozenset()
    asked = (ledger.question, *(each.text for each in ledger.aspects.values()))
    quotes = (source.quote for record in ledger.evidence for source in record.sources)
    texts = (said.text for said in (*draft.statements, *draft.next_steps) if not said.quoted)
    return code_words(texts, " ".join((*asked, *quotes)))


def _render_sections(
    ledger: Ledger,
    draft: Draft,
    shown: Draft,
    marks: Markers,
    course: str | None,
    points: Sequence[OpenPoint],
) -> Iterator[str]:
    """Yield the sections that are `shown`, each with the open `points` on it, or the draft's as a
    table; the timeline opens that on the `course` of events.
    """
    layout = marks.layout
    if layout.as_table:
        yield render_as_table(ledger, draft.sections, marks, layout)
        return
    for each in shown.sections:
        opening = ""
        if each.aspect_id == course:
            opening = _render_timeline(draft, shown, marks, has_heading=False)
        told = render_section(ledger, each, marks, draft, layout.names_sources, layout, opening)
        left = [
            point.text
            for point in points
            if point.aspect_id in each.parts and point not in marks.open_first
        ]
        is_here = ledger.began >= Form.EDITED
        open_here = render_open_here(left, marks) if is_here else ""
        yield "\n\n".join(filter(None, (told, open_here)))


def _without_section(points: Sequence[OpenPoint], shown: Draft, marks: Markers) -> list[str]:
    """Return the open points that stand in no section."""
    is_listed = marks.layout.as_table or marks.ledger.began < Form.EDITED
    parts = () if is_listed else shown.covered
    left = (each for each in points if each.aspect_id not in parts)
    return [each.text for each in left if each not in marks.open_first]


def _render_timeline(draft: Draft, shown: Draft, marks: Markers, has_heading: bool = True) -> str:
    """Return the timeline of a draft beside the sections that are `shown`."""
    told = {said for section in shown.sections for said in section.statements}
    is_dense = marks.layout.is_dense
    return render_timeline(
        draft, marks.ledger, marks.words, marks.of, has_heading, is_dense, told=told
    )


def _render_figures(ledger: Ledger, draft: Draft, marks: Markers) -> str:
    """Return the key figures; in a brief report a list of those that its short answer doesn't
    give; none in a dense one whose sections have them all.
    """
    relations, is_brief = ledger.relations, marks.layout.is_brief
    layout = marks.layout
    if layout.is_led and layout.is_dense and not layout.keeps_figures:
        return ""
    # what only a forum says is no key figure
    sound = (f for f in relations.figures if not weak_kind(Statement("", f.evidence), ledger))
    relations = replace(relations, figures=tuple(sound))
    if is_brief:
        told = {i for said in draft.short_answer for i in said.evidence}
        left = tuple(each for each in relations.figures if told.isdisjoint(each.evidence))
        relations = replace(relations, figures=left)
    return render_figures(relations, marks.words, marks.of, is_brief, marks.escaped)


def count_words(markdown: str) -> int:
    """Return the number of words before the sources, headings and citation markers excluded; two
    characters of an unspaced script count as one word. Tokens without a letter or digit, such as
    the bars of a table, don't count.
    """
    blocks = re.split(r"\n{2,}", markdown)
    ends = (n for n, block in enumerate(blocks) if block.startswith("### "))
    body = blocks[: next(ends, len(blocks))]
    told = (_MARKER.sub("", block) for block in body if not block.startswith("#"))
    return sum(
        words_in(b) if is_unspaced(b) else sum(bool(_LETTER.search(word)) for word in b.split())
        for b in told
    )


def _has_no_answer(ledger: Ledger, draft: Draft) -> bool:
    """Return whether passages only come close to the one question, or disagree on it."""
    first, *others = ledger.aspects.values()
    disputed = first.state is AspectState.DISPUTED
    return not others and (bool(draft.opening) or is_close(first) or disputed)


# --- the table of changes ----------------------------------------------------------------

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
