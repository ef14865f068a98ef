"""The report as Markdown: short answer, facts, sections, disputes, not found, sources."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import groupby, takewhile

from research.engine.assessment.answer_status import (
    count_answered,
    is_close,
    is_judged_by_code,
    supporting,
    voice_noun,
)
from research.engine.evidence.ledger import ANSWERING, Ledger
from research.engine.evidence.quotes import plain_quote
from research.engine.evidence.relations import Cell
from research.engine.journal.forms import Form
from research.engine.offline.answering import split_at_answer
from research.engine.offline.drafting import unjudged_words
from research.engine.records import (
    AnswerSupport,
    Aspect,
    AspectState,
    Citation,
    Evidence,
    Source,
)
from research.engine.report.calculations import (
    Calculated,
    calculations_of,
    calculations_section,
    lines_with,
)
from research.engine.report.changes import changes_of, render_changes
from research.engine.report.draft import Draft, Section, Statement
from research.engine.report.markdown_escape import (
    PLACE_END,
    PLACE_START,
    escape_markdown,
    escape_sentence,
    marked_words,
)
from research.engine.report.parts.comparison import render_comparison, render_figures
from research.engine.report.parts.dating import (
    DAY,
    MONTH,
    age_mark,
    earlier_amounts,
    year_of_cell,
)
from research.engine.report.parts.disagreement import holders_of, rival_groups, untold_rivals
from research.engine.report.parts.earlier_values import (
    tell_earlier,
    tells_earlier_itself,
    with_unit,
)
from research.engine.report.parts.headings import briefly, headings_of, label
from research.engine.report.parts.inline_quotes import quote_inline
from research.engine.report.parts.main_findings import MainFindings
from research.engine.report.parts.method_note import method_note
from research.engine.report.parts.paragraphs import MOST_SENTENCES, render_paragraphs
from research.engine.report.parts.repetitions import refer_back
from research.engine.report.parts.sources import (
    doubt_mark,
    kind_mark,
    publisher_of,
    render_source,
    told_by,
)
from research.engine.report.parts.subjects import leans_back, with_subjects
from research.engine.report.parts.timeline import (
    render_cell,
    render_timeline,
    without_events,
)
from research.engine.report.parts.verdict import status_of
from research.engine.report.quote_groups import Group, group_quotes
from research.engine.report.report_format import Layout
from research.engine.report.report_i18n import Labels, labels_for
from research.engine.text.tokens import (
    capitalize_heading,
    is_unspaced,
    term_set,
    unique_texts,
    words_in,
)
from research.engine.untrusted.address_wall import AddressWall

_PLACE = re.compile(rf"{PLACE_START}(\d{{1,4}}):([E\d,]+){PLACE_END}")
_MARKER = re.compile(r"\[\d+\]")
_LETTER = re.compile(r"[^\W_]")
_END = re.compile(r"(?=[.!?…。！？][”\"’)」』）]*\Z)|\Z")
"""Position of a note in a sentence: before the final punctuation, or at the end without any."""
USUAL = Layout()
LEAST_PASSAGES = 3
LEAST_PARTS, LEAST_LISTED = 2, 3
"""Sub-questions from which the summary names those without an answer, and lists the others."""


@dataclass(frozen=True)
class Rendered:
    markdown: str
    citations: tuple[Citation, ...]
    short_answer: str


@dataclass
class _Markers:
    """Number the cited pages in the order in which the report cites them.

    Until `place` replaces them, markers carry the ids of their records, since the order of
    rendering is not the order of reading.
    """

    ledger: Ledger
    calculations: Sequence[Calculated] = ()
    layout: Layout = USUAL
    numbers: dict[str, int] = field(default_factory=dict)
    quoted: dict[tuple[str, str], None] = field(default_factory=dict)
    """Pairs of a cited record and the page that it is cited from."""
    places: dict[int, list[tuple[str, ...]]] = field(default_factory=dict)
    untold: Mapping[Statement, Sequence[str]] = field(default_factory=dict)
    """Records that contradict a statement and are told beside it alone."""
    holders: Mapping[Statement, str] = field(default_factory=dict)
    """Who holds the views that stand in a box, by their statements."""

    @cached_property
    def words(self) -> Labels:
        return labels_for(self.ledger.plan.language, not self.layout.is_led)

    @cached_property
    def headings(self) -> Mapping[str, str]:
        """Return the escaped headings of the sub-questions, and of those that were dropped."""
        if not self.layout.is_led:
            parts = (*self.ledger.aspects.values(), *self.ledger.dropped.values())
            return {each.id: escape_markdown(capitalize_heading(each.text)) for each in parts}
        known = headings_of(self.ledger)
        return {aspect_id: escape_markdown(text) for aspect_id, text in known.items()}

    @cached_property
    def names(self) -> Mapping[str, str]:
        """Return the headings as a text names the sub-questions."""
        if self.ledger.began >= Form.UNCUT:
            return self.headings
        return {aspect_id: briefly(text) for aspect_id, text in self.headings.items()}

    @cached_property
    def wall(self) -> AddressWall:
        pages = tuple(self.ledger.pages.values())
        return AddressWall(self.ledger.question, pages, self.layout.form)

    @property
    def urls(self) -> set[str]:
        """Return the addresses of the pages that are cited so far."""
        return set(self.numbers)

    def heading_of(self, said: Statement) -> str:
        """Return the heading of the sub-question that a statement answers."""
        part = MainFindings(self.ledger).part_of(said)
        return self.names[part] if part else ""

    def quote_of(self, record: Evidence) -> str:
        """Return a record's first quote, without addresses that may not be given."""
        return escape_markdown(self.wall.masked(plain_quote(record.sources[0].quote)))

    def of(self, evidence_ids: Iterable[str]) -> str:
        """Return a marker for each page behind these records, still with the ids of its records."""
        by_page: dict[str, list[str]] = {}
        for record_id in evidence_ids:
            for url in unique_texts(s.url for s in self.ledger.book.records[record_id].sources):
                by_page.setdefault(url, []).append(record_id)
        marks = []
        for url, ids in by_page.items():
            number = self.numbers.setdefault(url, len(self.numbers) + 1)
            self.quoted |= dict.fromkeys((record_id, url) for record_id in ids)
            marks.append(f"{PLACE_START}{number}:{','.join(dict.fromkeys(ids))}{PLACE_END}")
        return "".join(marks)

    def numbers_of(self, evidence_ids: Iterable[str]) -> str:
        """Return the plain markers of the cited pages behind these records."""
        wanted = {*evidence_ids}
        known = {url for record_id, url in self.quoted if record_id in wanted}
        return "".join(f"[{number}]" for url, number in self.numbers.items() if url in known)

    def year_of(self, cell: Cell) -> str:
        """Return the year of a compared value that may have been overtaken."""
        stale = self.layout.stale
        return year_of_cell(cell, self.ledger, stale) if stale and stale.by_first else ""

    def place(self, markdown: str) -> str:
        """Return the report with plain markers such as `[3]`, and note the records of each."""
        for marker in _PLACE.finditer(markdown):
            self.places.setdefault(int(marker[1]), []).append(tuple(marker[2].split(",")))
        return without_places(markdown)

    def citations(self) -> tuple[Citation, ...]:
        found = []
        for url, number in self.numbers.items():
            ids = tuple(record_id for record_id, page in self.quoted if page == url)
            cite = self.numbers_of if self.ledger.began >= Form.CARRIED else None
            lines = unique_texts(
                line for i in ids for line in lines_with(i, self.calculations, cite)
            )
            places = tuple(self.places.get(number, ()))
            found.append(Citation(number, ids, url, tuple(lines), places))
        return tuple(found)


def without_places(markdown: str) -> str:
    """Return a text with plain markers in place of those that carry the ids of their records."""
    return _PLACE.sub(r"[\1]", markdown)


def render_report(
    ledger: Ledger, draft: Draft, ended: str, cut: int, by_code: int, layout: Layout = USUAL
) -> Rendered:
    """Return the whole report; markers are `[n]`. `by_code` counts model tasks that code did. Why
    it `ended` stands at the end of a dense report.
    """
    marks = _Markers(ledger, calculations_of(draft, ledger), layout)
    is_led = layout.is_led and not draft.by_code
    if draft.by_code:
        draft = refer_back(draft, marks.words, layout.is_direct)
    elif layout.is_inline:
        draft = quote_inline(draft, ledger)
    passages = {i for s in draft.statements if s.quoted for i in s.evidence}
    is_thin = len(passages) < LEAST_PASSAGES and all(s.quoted for s in draft.short_answer)
    is_known = bool(draft.quoted_instead) or _is_answered(next(iter(ledger.aspects.values())))
    closest = is_thin and not is_known
    head = "closest" if closest else "best_passage" if draft.by_code else "short_answer"
    if not draft.found:
        head = "not_found"
    asked = term_set(ledger.question) if draft.by_code else frozenset[str]()
    items = _items_of(draft, marks)
    if layout.names_subjects and not (items and layout.labels_items):
        draft = replace(draft, short_answer=with_subjects(draft.short_answer, ledger))
    changes = changes_of(draft, ledger) if layout.lists_changes and not draft.by_code else []
    shown = draft
    if layout.is_dense:
        changes = [each for each in changes if each.what and not _is_rival(each.said, ledger)]
        shown = without_events(draft, ledger, {each.said for each in changes})
    marks.untold = untold_rivals(shown, ledger) if is_led else {}
    status = _status(draft, marks) if items and layout.labels_items else ""
    short = _render_short(ledger, draft, marks, asked, layout, status)
    opening = f"{draft.opening} " if draft.opening else ""
    named = layout.names_sources
    has_extremes = layout.has_extremes and not any(said.is_verdict for said in draft.short_answer)
    language = ledger.plan.language if has_extremes else ""
    sections = (
        _render_section(ledger, each, marks, draft, named, layout) for each in shown.sections
    )
    plain_short = " ".join(_inline(draft.short_answer, marks))
    most = MOST_SENTENCES if layout.is_direct else len(ledger.aspects)
    left = "" if status else _left_open(draft, marks, most)
    cut_off = _left_out(draft, marks) if layout.is_direct else ""
    told = without_places(plain_short) if draft.found else ""
    start = "\n\n" if short.startswith("- ") else " "
    top = f"**{marks.words[head]}.** {opening}".rstrip() + f"{start}{short}"
    if draft.by_code and not short:
        top = f"**{draft.opening}**"
    parts = [
        f"# {escape_markdown(ledger.question)}",
        top,
        _render_figures(ledger, draft, marks) if layout.has_figures else "",
        render_comparison(
            ledger.relations, marks.words, marks.of, language, layout.is_dense, marks.year_of
        ),
        render_changes(changes, marks.words, marks.of, marks.heading_of),
        *([_render_table(ledger, draft.sections, marks, layout)] if layout.as_table else sections),
        render_timeline(draft, ledger, marks.words, marks.of),
        calculations_section(
            marks.calculations, marks.words, marks.of, ledger.began >= Form.CARRIED
        ),
        _render_disagreements(ledger, draft, marks, layout.is_brief, layout.is_terse),
        "" if layout.is_terse and (left or status) else _not_found(draft, marks, layout.is_brief),
        _not_searched(draft, marks),
        _render_dropped(ledger, marks.words),
    ]
    is_late = layout.is_dense or (bool(items) and layout.labels_items)
    early, late = ("", ended) if is_late else (ended, "")
    is_uncounted = bool(status) or _has_no_answer(ledger, draft)
    parts.insert(2, f"*{_render_facts(marks, early, cut, by_code, is_uncounted)}*")
    parts[3:3] = [left, cut_off]
    note = method_note(ledger, marks.words, marks.urls, late, layout.counts_queries)
    parts += [_render_sources(ledger, marks), note]
    markdown = marks.place("\n\n".join(filter(None, parts)) + "\n")
    return Rendered(markdown, marks.citations(), told)


def _render_figures(ledger: Ledger, draft: Draft, marks: _Markers) -> str:
    """Return the key figures; in a brief report a list of those that its short answer doesn't
    give.
    """
    relations, is_brief = ledger.relations, marks.layout.is_brief
    if is_brief:
        told = {i for said in draft.short_answer for i in said.evidence}
        left = tuple(each for each in relations.figures if told.isdisjoint(each.evidence))
        relations = replace(relations, figures=left)
    return render_figures(relations, marks.words, marks.of, is_listed=is_brief)


def _render_short(
    ledger: Ledger, draft: Draft, marks: _Markers, asked: Set[str], layout: Layout, status: str
) -> str:
    """Return the short answer, a list with its `status` behind it or prose. A labelled statement is
    a separate paragraph, and the best passage begins with the sentence that answers.
    """
    if not layout.names_subjects:
        groups = _group_statements(draft.short_answer, marks, asked)
        return render_paragraphs([], [each.inline() for each in groups], layout.summary_sentences)
    if draft.by_code and draft.found and len(draft.short_answer) == 1:
        return _render_best(ledger, draft.short_answer[0], marks, asked)
    if items := _items_of(draft, marks):
        whole = draft.short_answer[: -sum(map(len, items))]
        return _render_items(whole, items, marks, status)
    if layout.is_led and not draft.by_code:
        return _render_unlisted(draft.short_answer, marks, asked)
    blocks: list[str] = []
    groups = _group_statements(draft.short_answer, marks, asked)
    for is_labelled, part in groupby(groups, key=lambda each: bool(each.lead_in)):
        texts = [each.inline() for each in part]
        plain = render_paragraphs([], texts, layout.summary_sentences)
        blocks += texts if is_labelled else [plain]
    return "\n\n".join(filter(None, blocks))


def _side_by_side(group: Sequence[Statement], marks: _Markers, named: bool) -> str:
    """Return statements that contradict each other, and the quotes that contradict them."""
    if marks.ledger.began >= Form.CARRIED:
        marks.holders = {**marks.holders, **holders_of(group, marks.ledger)}
    told = _group_statements(group, marks, named=named, boxed=True)
    rivals = (marks.untold.get(said, ()) for said in group)
    records = [marks.ledger.book.records[i] for each in rivals for i in each]
    return " ".join((*(each.inline() for each in told), *_quoted_lines(records, marks)))


def _inline(
    statements: Iterable[Statement], marks: _Markers, asked: Set[str] = frozenset()
) -> list[str]:
    """Return the statements of a short answer, those that contradict each other as one text."""
    if not marks.layout.is_led:
        return [group.inline() for group in _group_statements(statements, marks, asked)]
    texts: list[str] = []
    groups = rival_groups(statements, marks.ledger)
    for is_disputed, part in groupby(groups, key=lambda each: _is_disputed(each, marks)):
        if not is_disputed:
            said = [each for group in part for each in group]
            texts += (group.inline() for group in _group_statements(said, marks, asked))
            continue
        for first, *others in part:
            (own,) = _group_statements([first], marks, asked, boxed=True)
            more = marks.untold.get(first, ())
            told = [each.inline() for each in _group_statements(others, marks, boxed=True)]
            told += _quoted_lines((marks.ledger.book.records[i] for i in more), marks)
            texts.append(f"{own.inline()} ⚠ {marks.words['disagree']}: {' '.join(told)}")
    return texts


def _is_rival(said: Statement, ledger: Ledger) -> bool:
    return any(ledger.book.records[i].contradicts for i in said.evidence)


def _is_disputed(group: Sequence[Statement], marks: _Markers) -> bool:
    return len(group) > 1 or group[0] in marks.untold


def _render_disputed(
    statements: Sequence[Statement], marks: _Markers, asked: Set[str], most: int, named: bool
) -> str:
    """Return statements in paragraphs and lists, quotations each apart, and in a box those that
    contradict each other.
    """
    is_terse, words = marks.layout.is_terse, marks.words
    blocks: list[str] = []

    def kind(group: Sequence[Statement]) -> str:
        return "box" if _is_disputed(group, marks) else "quote" if group[0].lead_in else ""

    groups = rival_groups(statements, marks.ledger)
    for name, part in groupby(groups, key=kind):
        if name == "box":
            for group in part:
                sides = _side_by_side(group, marks, not is_terse)
                blocks.append(f"> **⚠ {words['disagree']}:** {sides}")
            continue
        said = [each for group in part for each in group]
        told = _group_statements(said, marks, asked, named)
        if name == "quote":
            blocks += [group.paragraph() for group in told]
        else:
            blocks.append(render_paragraphs(said, [group.inline() for group in told], most))
    return "\n\n".join(blocks)


def _render_unlisted(short: Sequence[Statement], marks: _Markers, asked: Set[str]) -> str:
    """Return a short answer that is no list: a labelled statement is a separate paragraph."""
    blocks: list[str] = []
    for is_labelled, part in groupby(short, key=lambda each: bool(each.lead_in)):
        texts = _inline(part, marks, asked)
        plain = render_paragraphs([], texts, marks.layout.summary_sentences)
        blocks += texts if is_labelled else [plain]
    return "\n\n".join(filter(None, blocks))


def _items_of(draft: Draft, marks: _Markers) -> list[list[Statement]]:
    """Return the items of a short answer that is a list, behind what it says of the question as a
    whole; none where it is prose.
    """
    if draft.by_code or not marks.layout.is_direct:
        return []
    main, told = MainFindings(marks.ledger), draft.short_answer
    whole = [*takewhile(main.is_overall, told)]
    items = [list(said) for _, said in groupby(told[len(whole) :], key=main.item_of)]
    return items if len(items) >= LEAST_LISTED else []


def _status(draft: Draft, marks: _Markers) -> str:
    """Return how far the parts of the question are answered, in a sentence; a dense report only
    shows where sources disagree.
    """
    ledger = marks.ledger
    disputed = [
        marks.names[section.aspect_id]
        for section in draft.sections
        if any(len(group) > 1 for group in rival_groups(section.statements, ledger))
        and not marks.layout.is_dense
    ]
    missing = [marks.names[each.id] for each in ledger.open_aspects()]
    total = len(ledger.aspects)
    answered = count_answered(ledger)
    return status_of(marks.words, answered, total, disputed, missing, marks.layout.has_room)


def _item_label(said: Statement, marks: _Markers) -> str:
    """Return the sub-question that an item answers; a column of the table has its name already."""
    part = None if said.lead_in else MainFindings(marks.ledger).part_of(said)
    return f"**{label(marks.names[part])}** " if part and marks.layout.labels_items else ""


def _render_items(
    whole: Sequence[Statement],
    items: Iterable[Sequence[Statement]],
    marks: _Markers,
    status: str,
) -> str:
    """Return what the short answer says of the question as a whole, a list of the rest, and how far
    the question is answered; that opens it where nothing is said of the whole.
    """
    first = " ".join(_inline(whole, marks))
    texts = ((_item_label(said[0], marks), " ".join(_inline(said, marks))) for said in items)
    listed = "\n".join(f"- {name}{text}" for name, text in texts)
    if not first and marks.layout.is_inline:
        return "\n\n".join(filter(None, (status, listed)))
    return "\n\n".join(filter(None, (first, listed, status)))


def _render_best(ledger: Ledger, best: Statement, marks: _Markers, asked: Set[str]) -> str:
    """Return the sentence that answers as a quotation, followed by its context."""
    main = next(iter(ledger.aspects.values())).text
    passage = best.body.removeprefix("“").removesuffix("”")
    before, answer, after = split_at_answer(passage, main, ledger.began >= Form.ENTRIES)
    if before and leans_back(answer, ledger.plan.language, frozenset()):
        before, answer = "", passage.removesuffix(after).strip(" …")
    opening = replace(best, text=f"{best.lead_in}“{answer}”")
    (group,) = _group_statements([opening], marks, asked)
    marker = marks.of(best.evidence)
    around = [f"“{escape_markdown(before)} …” {marker}"] if before else []
    around += [f"“… {escape_markdown(after)}” {marker}"] if after else []
    return "\n\n".join([group.inline(), *(["> " + "\n>\n> ".join(around)] if around else [])])


def count_words(markdown: str, signs: bool = False) -> int:
    """Return the words of a report before its sources, without headings and markers; two characters
    of an unspaced script count as one. With `signs`, what has no letter or digit, such as the bars
    of a table, counts as well.
    """
    blocks = re.split(r"\n{2,}", markdown)
    ends = (n for n, block in enumerate(blocks) if block.startswith("### "))
    body = blocks[: next(ends, len(blocks))]
    told = (_MARKER.sub("", block) for block in body if not block.startswith("#"))
    return sum(
        words_in(b)
        if is_unspaced(b)
        else sum(signs or bool(_LETTER.search(word)) for word in b.split())
        for b in told
    )


def _left_open(draft: Draft, marks: _Markers, most: int) -> str:
    """Return the lines of the summary that name the sub-questions without an answer, each at most
    so many.
    """
    if draft.by_code or not draft.found or len(marks.ledger.aspects) < LEAST_PARTS:
        return ""
    return _name_parts("no_answer_on", marks.ledger.open_aspects(), marks, most)


def _left_out(draft: Draft, marks: _Markers) -> str:
    """Return the answered sub-questions on which a shortened report says nothing."""
    ledger = marks.ledger
    if draft.by_code or not draft.found or len(ledger.aspects) < LEAST_PARTS:
        return ""
    said = {i for statement in draft.statements for i in statement.evidence}
    said |= {i for cell in ledger.relations.cells.values() for i in cell.evidence}
    told = {part for i in said for part in ledger.book.records[i].answers}
    told |= {section.aspect_id for section in draft.sections}
    answered = (a for a in ledger.aspects.values() if a.state in ANSWERING)
    return _name_parts("left_out", [a for a in answered if a.id not in told], marks)


def _name_parts(
    opening: str, parts: Iterable[Aspect], marks: _Markers, most: int = MOST_SENTENCES
) -> str:
    """Return lines with these sub-questions, each with at most so many."""
    if marks.layout.is_led:
        names = [marks.headings[each.id] for each in parts]
        return f"*{marks.words[opening]} {'; '.join(names)}*" if names else ""
    texts = [escape_markdown(each.text) for each in parts]
    if not texts:
        return ""
    texts[0] = f"{marks.words[opening]} {texts[0]}"
    lines = (texts[n : n + most] for n in range(0, len(texts), most))
    return "\n\n".join(f"*{' '.join(line)}*" for line in lines)


def _is_answered(aspect: Aspect) -> bool:
    """Return whether code itself says that sources answer it."""
    told = aspect.standing is not None and bool(aspect.standing.sources)
    return told and aspect.state is not AspectState.DISPUTED


def _has_no_answer(ledger: Ledger, draft: Draft) -> bool:
    """Return whether passages only come close to the one question, or disagree on it."""
    first, *others = ledger.aspects.values()
    disputed = first.state is AspectState.DISPUTED
    return not others and (bool(draft.opening) or is_close(first) or disputed)


def _group_statements(
    statements: Iterable[Statement],
    marks: _Markers,
    asked: Set[str] = frozenset(),
    named: bool = False,
    boxed: bool = False,
) -> list[Group]:
    """Statements with their markers, quotes behind their lead-ins and with words in bold that are
    asked for. With `named`, each that is no quote says who says it and when; `boxed` ones stand
    beside what contradicts them, so that no mark has to say it.
    """
    ledger, words = marks.ledger, marks.words
    told = ((each, _told_beside(each, marks, named)) for each in statements)

    def holder(said: Statement) -> str:
        return marks.holders.get(said, "") if boxed else ""

    def doubt(said: Statement) -> str:
        return "" if boxed else doubt_mark(said, ledger, words, not marks.layout.is_dense)

    return group_quotes(
        (
            _lead_in(each),
            f"{_render_cited(each, marks, asked, by, holder(each))}{doubt(each)}".strip(),
        )
        for each, by in told
    )


def _with_site(ledger: Ledger, said: Statement) -> Statement:
    """Return a quotation behind its site instead of its page's title and section."""
    if not said.quoted or not said.lead_in or not said.evidence:
        return said
    lead_in = f"**{ledger.book.records[said.evidence[0]].sources[0].domain}:** "
    return replace(said, text=lead_in + said.body, lead_in=lead_in)


def _told_beside(said: Statement, marks: _Markers, named: bool) -> str:
    """Return the parenthesis at the end of a statement: which of its figures is an earlier one,
    whether it may have been overtaken, whether it rests on forums alone and, with `named`, who says
    it.
    """
    stale = marks.layout.stale
    is_inline = said.quoted and not said.lead_in and marks.layout.is_inline
    if (said.quoted and stale is None and not is_inline) or said.is_column:
        return ""
    is_led = marks.layout.is_led
    earlier = earlier_amounts(said.body, said.evidence, marks.ledger)
    earlier = earlier if marks.layout.marks_earlier else []
    is_plain = marks.layout.is_inline and tells_earlier_itself(said.body)
    values = [with_unit(value, said.body) for value in earlier] if is_led else earlier
    values = [] if is_plain else values
    name = "earlier" if is_led else "earlier_figure"
    holder = marks.holders.get(said, "")
    told = (
        "" if earlier else tell_earlier(said, marks.ledger, marks.words),
        marks.words[name].format(values=", ".join(values)) if values else "",
        age_mark(said, marks.ledger, stale, marks.words, named and not said.quoted)
        if stale and not earlier
        else "",
        told_by(said, marks.ledger, marks.words, MONTH if stale else DAY, holder) if named else "",
        _name_of(said, marks) if is_inline else "",
    )
    shown = "; ".join(filter(None, told))
    names_kind = marks.layout.names_kinds and not said.lead_in
    kind = kind_mark(said, marks.ledger, marks.words) if names_kind else ""
    is_known = kind.casefold() in f"{shown} {said.body}".casefold()
    return shown if is_known else "; ".join(filter(None, (shown, kind)))


def _name_of(quotation: Statement, marks: _Markers) -> str:
    """Return the site that a quotation is taken from, in a dense report by its host."""
    source = marks.ledger.book.records[quotation.evidence[0]].sources[0]
    return source.domain if marks.layout.is_dense else publisher_of(source, marks.ledger)


_OPEN_END = re.compile(r"[.。]”$")
"""The end of a quotation whose sentence goes on with its source."""


def _lead_in(statement: Statement) -> str:
    named = statement.lead_in.removeprefix("**").removesuffix("** ")
    return f"**{escape_markdown(named)}** " if named else ""


def _render_cited(
    statement: Statement, marks: _Markers, asked: Set[str], told_by: str, holder: str
) -> str:
    """Return a statement with its citations, those of a clause behind it, and what is told beside
    it. The `holder` of its view is in bold.
    """
    *clauses, (rest, last) = statement.parts
    if statement.quoted:
        said = _render_quotation(statement, asked, told_by)
    else:
        said = "".join(f"{escape_sentence(each)} {marks.of(ids)}" for each, ids in clauses)
        said += escape_sentence(rest)
        said = said.replace(holder, f"**{holder}**", 1) if holder else said
        said = _END.sub(lambda _: f" ({told_by})", said, count=1) if told_by else said
    return f"{said} {marks.of((*last, *statement.earlier))}"


def _render_quotation(quotation: Statement, asked: Set[str], told_by: str) -> str:
    quoted = marked_words(escape_markdown(quotation.body), asked)
    if not told_by:
        return quoted
    if quotation.lead_in:
        return f"({told_by}) {quoted}"
    return f"{_OPEN_END.sub('”', quoted)} ({told_by})."


def _render_section(
    ledger: Ledger, section: Section, marks: _Markers, draft: Draft, named: bool, layout: Layout
) -> str:
    """Return a section; a terse one has a line on its support only where it calls for doubt, a
    dense one names only the site before a quotation.
    """
    aspect = ledger.aspects[section.aspect_id]
    quoted = any(statement.quoted for statement in section.statements)
    asked = term_set(f"{ledger.question} {aspect.text}") if draft.by_code else frozenset[str]()
    is_nothing = draft.by_code and aspect.standing is not None and aspect.standing.is_off_topic
    folds = ledger.began >= Form.PARTED
    is_shown = folds or not (is_nothing and ledger.began >= Form.ENTRIES)
    most = 0 if not is_shown else 1 if is_nothing and not folds else None
    statements = section.statements[:most]
    if layout.is_dense:
        statements = tuple(_with_site(ledger, each) for each in statements)
    if layout.is_led and not draft.by_code:
        body = _render_disputed(statements, marks, asked, MOST_SENTENCES, named)
    else:
        groups = _group_statements(statements, marks, asked, named)
        body = (
            "\n\n".join(group.paragraph() for group in groups)
            if quoted
            else render_paragraphs(statements, [group.inline() for group in groups])
        )
    records = [ledger.book.records[i] for s in section.statements for i in s.evidence]
    is_settled = layout.stale is not None and not any(record.contradicts for record in records)
    if aspect.state is AspectState.DISPUTED and is_settled:
        aspect = replace(aspect, state=AspectState.ANSWERED)
    standing = _support_line(ledger, aspect, section, marks.words, layout)
    if draft.by_code and aspect.standing is not None:
        standing = marks.words[unjudged_words(aspect.standing)]
    elif layout.is_terse and aspect.state in ANSWERING and aspect.state is not AspectState.DISPUTED:
        standing = "" if not is_close(aspect) else standing
    if is_nothing and is_shown:
        title = marks.words["closest_passages" if folds else "closest_passage"]
        body = "\n>\n> ".join([f"> *{title}*", *body.split("\n\n")])
    if layout.is_led and "> **⚠" in body and standing == f"⚠ {marks.words['disagree']}":
        standing = ""
    elif not draft.by_code and _tells_no_dispute(body, aspect, layout):
        settled = replace(aspect, state=AspectState.ANSWERED)
        standing = _support_line(ledger, settled, section, marks.words, layout)
    is_said = standing == draft.opening and len(draft.sections) == 1
    if is_said and not is_shown:
        return ""
    shown = "" if is_said or not standing else f"*{standing}*\n\n"
    told = f"## {marks.headings[aspect.id]}\n\n{shown}{body}"
    return told.rstrip()


def _render_table(
    ledger: Ledger, sections: Iterable[Section], marks: _Markers, layout: Layout
) -> str:
    """Return a row for each sub-question: what was found, and how many sources say it."""
    last = "support" if layout.names_subjects else "sources"
    head = " | ".join(marks.words[key] for key in ("sub_question", "answer", last))
    rows = [f"| {head} |", "| --- | --- | --- |"]
    for section in sections:
        records = [ledger.book.records[i] for s in section.statements for i in s.evidence]
        quoted = [source for record in records for source in record.sources]
        sites = unique_texts(source.domain for source in quoted)
        support = marks.words.count("sources_told", len({source.url for source in quoted}))
        said = " ".join(group.inline() for group in _group_statements(section.statements, marks))
        cells = (
            marks.headings[section.aspect_id],
            said,
            support if layout.names_subjects else ", ".join(sites),
        )
        rows.append(f"| {' | '.join(map(render_cell, cells))} |")
    return "\n".join(rows) if len(rows) > 2 else ""


def _tells_no_dispute(body: str, aspect: Aspect, layout: Layout) -> bool:
    """Return whether a section that has room for both sides of a dispute tells none: newer values
    have replaced one of them.
    """
    is_whole = layout.is_inline and not layout.is_terse
    return is_whole and aspect.state is AspectState.DISPUTED and "(⚠" not in body


def _support_line(
    ledger: Ledger, aspect: Aspect, section: Section, words: Labels, layout: Layout
) -> str:
    """Well established, or preliminary, in words and by a mark, by what the section cites. If the
    report is direct, a section with both sides of a dispute is not called well established; since
    `Form.MERGED` the line counts the statements that several sites confirm.
    """
    names_rivals = layout.is_direct
    if aspect.state is AspectState.DISPUTED:
        return f"⚠ {words['disagree']}"
    if aspect.state not in ANSWERING or is_close(aspect):
        return f"○ {words['not_settled']}"
    cited = [ledger.book.records[i] for s in section.statements for i in s.evidence]
    cited = [record for record in cited if not record.is_dictated] or cited[:1]
    keys = {key for record in cited for key in record.keys}
    noun = voice_noun(ledger)
    if aspect.standing is not None:
        return _support_words(aspect.standing, keys, words, noun)
    if layout.is_inline and (share := _share_confirmed(ledger, section)):
        return _share_line(share, names_rivals and _has_rivals(cited), noun, words)
    confirmed = max((len(record.keys) for record in cited), default=0)
    if confirmed > 1:
        has_rivals = names_rivals and _has_rivals(cited)
        mark, key = ("◐", "disputed_in_part") if has_rivals else ("●", "established")
        return f"{mark} {words[key].format(where=words.count(noun, confirmed))}"
    if len(keys) > 1:
        return f"◐ {words['each_alone'].format(where=words.count(noun, len(keys)))}"
    known = len(ledger.keys_of(aspect.id) | keys)
    form = words["one_of"] if known > 1 else words["preliminary"]
    return f"○ {form.format(where=words.count(noun, max(known, 1)))}"


def _has_rivals(cited: Sequence[Evidence]) -> bool:
    """Return whether both sides of a dispute are cited."""
    shown = {record.id for record in cited}
    return any(shown.intersection(each.contradicts) for each in cited)


def _share_confirmed(ledger: Ledger, section: Section) -> tuple[int, int] | None:
    """Return how many of the statements several sites confirm, and how many there are; None where
    all are, or none is, and for a lone statement.
    """
    records = ledger.book.records
    told = [
        {key for i in said.evidence for key in records[i].keys}
        for said in section.statements
        if said.evidence and not any(records[i].is_dictated for i in said.evidence)
    ]
    confirmed = sum(len(keys) > 1 for keys in told)
    return (confirmed, len(told)) if 0 < confirmed < len(told) else None


def _share_line(share: tuple[int, int], has_rivals: bool, noun: str, words: Labels) -> str:
    confirmed, every = share
    mark = "●" if 2 * confirmed >= every and not has_rivals else "◐"
    where = words.count(noun, 2)
    told = words["confirmed_share"].format(n=confirmed, all=every, where=where)
    return f"{mark} {told} · {words['disagree']}" if has_rivals else f"{mark} {told}"


def _support_words(standing: AnswerSupport, cited: set[str], words: Labels, noun: str) -> str:
    """Return how many sites or documents answer, as the mark has it, where code alone read them."""
    giving = len(standing.sources)
    if giving == 1:
        form = f"○ {words['preliminary']}"
    elif len(cited.intersection(standing.sources)) < 2:
        form = f"○ {words['one_of']}"
    else:
        form = f"● {words['established']}" if standing.agree else f"◐ {words['each_alone']}"
    return form.format(where=words.count(noun, giving))


def _render_facts(marks: _Markers, ended: str, cut: int, by_code: int, no_answer: bool) -> str:
    """One line; of a question that has no answer, or two, it does not count answers."""
    ledger, quotes = marks.ledger, len(marks.quoted)
    records = ledger.book.records
    sites = {
        source.independence_key
        for record_id, url in marks.quoted
        for source in records[record_id].sources
        if source.url == url
    }
    pages = marks.urls
    local = all(url.startswith("file:") for url in pages)
    words = marks.words
    where = words.count("document", len(pages)) if local else words.count("site", len(sites))
    newest = max((s.published for u in pages if (s := ledger.sources[u]).published), default="")
    told = words["answered"].format(n=count_answered(ledger), all=len(ledger.aspects))
    if is_judged_by_code(ledger) and not supporting(ledger):
        where = newest = ""
    facts = [
        "" if no_answer or told in ended else told,
        words["from"].format(quotes=words.count("quote", quotes), where=where) if where else "",
        words["newest"].format(date=words.date(newest[:DAY])) if newest else "",
        words["one_page"] if _is_from_one(marks, pages) else "",
        words.count("cut", cut) if cut else "",
        words.count("by_code", by_code) if by_code else "",
        ended.rstrip("."),
    ]
    return " · ".join(filter(None, facts))


def _is_from_one(marks: _Markers, pages: set[str]) -> bool:
    """Return whether more than half of the quotes stand in one page."""
    most = max((sum(url == page for _, url in marks.quoted) for page in pages), default=0)
    return len(pages) > 1 and most * 2 > len(marks.quoted)


def _render_disagreements(
    ledger: Ledger, draft: Draft, marks: _Markers, is_brief: bool, is_terse: bool = False
) -> str:
    """Return pairs of quotes that contradict each other; in a brief report those of which it tells
    one side, in a terse one only the side that it doesn't tell.

    Where the findings were compared, both sides already follow each other in the text.
    """
    records, lines = ledger.book.records, []
    is_led = marks.layout.is_led and not draft.by_code
    boxed = {i for rivals in marks.untold.values() for i in rivals}
    cited = {i for said in draft.statements for i in said.evidence}
    for record in records.values():
        for other_id in record.contradicts:
            told = {record.id, other_id} & cited
            is_told = (ledger.relations.is_known or is_led) and len(told) == 2
            is_told = is_told or not boxed.isdisjoint({record.id, other_id})
            if is_brief and not told:
                continue
            if int(other_id[1:]) > int(record.id[1:]) and not is_told:
                both = (record, records[other_id])
                untold = [each for each in both if each.id not in told]
                lines.append(_render_quotes(untold if is_terse and untold else both, marks))
    return f"## {marks.words['disagree']}\n\n" + "\n\n".join(lines) if lines else ""


def _render_quotes(records: Iterable[Evidence], marks: _Markers) -> str:
    return "\n".join(f"- {line}" for line in _quoted_lines(records, marks))


def _quoted_lines(records: Iterable[Evidence], marks: _Markers) -> Iterator[str]:
    """Yield the first quote of each record behind its site and date."""
    return (
        f"{r.sources[0].domain}, "
        f"{marks.words.date((r.sources[0].published or '')[:DAY]) or marks.words['undated']}: "
        f"“{marks.quote_of(r)}” {marks.of([r.id])}"
        for r in records
    )


def _not_found(draft: Draft, marks: _Markers, is_brief: bool) -> str:
    """Return what nothing was found on and, unless `is_brief`, the searches that were tried."""
    ledger, words = marks.ledger, marks.words
    lines = [
        line for state, line in _open_aspects(draft, marks) if state is not AspectState.NOT_SEARCHED
    ]
    if not lines:
        return ""
    if is_brief:
        return f"## {words['not_found']}\n\n" + "\n".join(lines)
    queries = ", ".join(f"“{escape_markdown(query)}”" for query in list(ledger.queries)[:12])
    tried = words["tried"].format(queries=queries)
    return "\n\n".join((f"## {words['not_found']}", "\n".join(lines), tried))


def _not_searched(draft: Draft, marks: _Markers) -> str:
    """Return what no search was made for."""
    lines = [
        line for state, line in _open_aspects(draft, marks) if state is AspectState.NOT_SEARCHED
    ]
    return f"## {marks.words['not_searched']}\n\n" + "\n".join(lines) if lines else ""


def _open_aspects(draft: Draft, marks: _Markers) -> list[tuple[AspectState, str]]:
    """Return the sub-questions without an answer, except those with their own section."""
    shown = {section.aspect_id for section in draft.sections}
    return [
        (a.state, f"- {marks.headings[a.id]}")
        for a in marks.ledger.aspects.values()
        if a.state not in ANSWERING and a.id not in shown
    ]


def _render_dropped(ledger: Ledger, words: Labels) -> str:
    lines = [
        f"- {escape_markdown(capitalize_heading(aspect.text))}"
        for aspect in ledger.dropped.values()
    ]
    return f"## {words['dropped']}\n\n" + "\n".join(lines) if lines else ""


def _render_sources(ledger: Ledger, marks: _Markers) -> str:
    cited, words = marks.numbers, marks.words
    lines = [f"## {words['sources']}", f"### {words['cited']}"]

    def shown(source: Source) -> str:
        return render_source(ledger, source, words)

    lines.append("\n".join(
        f"- [{number}] {shown(ledger.sources[url])}" for url, number in cited.items()
    ))  # fmt: skip
    unused = [s for s in ledger.sources.values() if s.status == "read" and s.url not in cited]
    failed = [s for s in ledger.sources.values() if s.status in {"refused", "failed", "empty"}]
    if unused:
        lines += [
            f"### {words['unused']}",
            "\n".join(f"- {shown(s)}" for s in unused),
        ]
    if failed:
        lines.append(f"### {words['failed']}")
        lines.append("\n".join(f"- {shown(s)}" for s in failed))
    return "\n\n".join(lines)
