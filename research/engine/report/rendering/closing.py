"""Parts around the sections: counts, disagreements, open sub-questions, sources."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from research.engine.assessment.answer_status import is_judged_by_code, supporting, tally
from research.engine.evidence.claims.names import adds_nothing_to
from research.engine.evidence.ledger import ANSWERING, Ledger
from research.engine.evidence.origin import collection_name, is_collection, origin_of
from research.engine.journal.forms import Form
from research.engine.offline.questions.question import asked_parts
from research.engine.records import AspectState, Evidence, OpenPoint, Source
from research.engine.report.draft import Draft
from research.engine.report.parts.dating import DAY
from research.engine.report.parts.sources import (
    render_source,
    site_name,
    source_names,
    unused_sources,
)
from research.engine.report.rendering.markdown_escape import escape_markdown
from research.engine.report.rendering.markers import Markers
from research.engine.report.rendering.statements import quoted_lines
from research.engine.report.report_format import MOST_OPEN
from research.engine.report.report_i18n import Labels
from research.engine.text import entities
from research.engine.text.tokens import capitalize_heading, term_set, unique_texts

MOST_QUERIES = 12
"""Queries that are named where nothing was found."""
LEAST_NEW = 0.2
"""Minimum share of an open point's words that a sentence must lack for the point to be new."""


def render_facts(marks: Markers, ended: str, cut: int, by_code: int, no_answer: bool) -> str:
    """One line; of a question that has no answer, or two, it does not count answers. What it rests
    on is told by the line on trust since `Form.EDITED`, how much was cut by the method.
    """
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
    today = marks.layout.today
    dates = (ledger.sources[url].published for url in pages)
    days = [day for day in (date[:DAY] for date in dates if date) if not today or day <= today]
    newest = max(days, default="")
    if ledger.began >= Form.EDITED and 2 * len(days) < len(pages):
        newest = ""  # most pages have no date, and may be newer
    counted = tally(marks.statuses.values())
    told = words["answered"].format(n=counted.answered, all=counted.total)
    if is_judged_by_code(ledger) and not supporting(ledger):
        where = newest = ""
    origin = _tell_origin(ledger, words)
    is_known = bool(origin)
    if ledger.began >= Form.EDITED:
        where = origin = ""
        cut = 0 if marks.layout.checks else cut
        is_known = is_known or local
    facts = [
        "" if no_answer or told in ended else told,
        words["from"].format(quotes=words.count("quote", quotes), where=where) if where else "",
        words["newest"].format(date=words.date(newest)) if newest else "",
        origin,
        words["one_page"] if not is_known and _is_from_one(marks, pages) else "",
        words.count("cut", cut) if cut else "",
        words.count("by_code", by_code) if by_code else "",
        ended.rstrip("."),
    ]
    return " · ".join(filter(None, facts))


def _tell_origin(ledger: Ledger, words: Labels) -> str:
    """Return from which site or collection (nearly) all findings are; "" if there is none."""
    origin = ledger.lone_origin
    if not origin:
        return ""
    origins = [{*map(origin_of, record.keys)} for record in ledger.evidence]
    told = {"n": origins.count({origin}), "all": len(origins)}
    if is_collection(origin):
        name = escape_markdown(collection_name(origin))
        return words["lone_collection"].format(**told, name=name)
    names = Counter(
        site_name(source, ledger)
        for record in ledger.evidence
        for source in record.sources
        if source.independence_key == origin
    )
    [(name, _)] = names.most_common(1)
    return words["lone_site"].format(**told, name=escape_markdown(name))


def _is_from_one(marks: Markers, pages: set[str]) -> bool:
    """Return whether more than half of the quotes are from one page."""
    most = max((sum(url == page for _, url in marks.quoted) for page in pages), default=0)
    return len(pages) > 1 and most * 2 > len(marks.quoted)


def render_disagreements(
    ledger: Ledger, draft: Draft, marks: Markers, is_brief: bool, is_terse: bool = False
) -> str:
    """Return pairs of quotes that contradict each other; in a brief report, and in a dense one that
    is led by its answers, those of which it tells one side, in a terse one only the side that it
    doesn't tell.

    Where the findings were compared, both sides already follow each other in the text; an author
    of all sections, who was shown these pairs, tells which of them matter.
    """
    if draft.is_authored and ledger.began >= Form.EDITED:
        return ""
    records, lines = ledger.book.records, []
    boxed = {i for rivals in marks.untold.values() for i in rivals}
    cited = {i for said in draft.statements for i in said.evidence}
    for record in records.values():
        for other_id in record.contradicts:
            told = {record.id, other_id} & cited
            if marks.layout.is_led and any(
                not cited.isdisjoint(records[i].contradicts) for i in told
            ):
                continue  # other records represent both sides
            is_told = (ledger.relations.is_known or not draft.by_code) and len(told) == 2
            is_told = is_told or not boxed.isdisjoint({record.id, other_id})
            if not told and (is_brief or (marks.layout.is_led and marks.layout.is_dense)):
                continue
            if int(other_id[1:]) > int(record.id[1:]) and not is_told:
                both = (record, records[other_id])
                untold = [each for each in both if each.id not in told]
                lines.append(_render_quotes(untold if is_terse and untold else both, marks))
    return f"## {marks.words['disagree']}\n\n" + "\n\n".join(lines) if lines else ""


def _render_quotes(records: Iterable[Evidence], marks: Markers) -> str:
    return "\n".join(f"- {line}" for line in quoted_lines(records, marks))


def render_not_found(draft: Draft, marks: Markers, is_brief: bool) -> str:
    """Return what nothing was found on and, unless `is_brief`, the searches that were tried."""
    ledger, words = marks.ledger, marks.words
    lines = [
        line for state, line in _open_aspects(draft, marks) if state is not AspectState.NOT_SEARCHED
    ]
    if not lines:
        return ""
    if is_brief:
        return f"## {words['not_found']}\n\n" + "\n".join(lines)
    queries = ", ".join(f"“{escape_markdown(query)}”" for query in _queries_tried(ledger))
    tried = words["tried"].format(queries=queries)
    return "\n\n".join((f"## {words['not_found']}", "\n".join(lines), tried))


def _queries_tried(ledger: Ledger) -> list[str]:
    """Return queries that were made, first those nearest to the sub-questions that stay open."""
    made = [*ledger.queries]
    if ledger.began >= Form.COMPUTED:
        wanted = [term_set(f"{each.text} {each.query}") for each in ledger.open_aspects()]
        near = {q: max((len(term_set(q) & each) for each in wanted), default=0) for q in made}
        made.sort(key=lambda query: -near[query])
    return made[:MOST_QUERIES]


def open_points(draft: Draft, marks: Markers) -> list[OpenPoint]:
    """Return what is left open on the sub-questions that have a section or no answer; nothing in
    a report whose sections aren't led by their answers.

    Whoever wrote the report names it; of that goes what has a name or a number that neither the
    question nor the report has, what a statement or a finding tells, and what only repeats a
    sub-question. What the last assessment found missing on sub-questions with a section stands
    there instead where no model said what is left open: the draft, or the summary of drafted
    sections, failed or was made by code.
    """
    ledger, layout = marks.ledger, marks.layout
    if not layout.is_led:
        return []
    if draft.open is None:
        shown = draft.covered
        gaps = [gap for gap in ledger.open_gaps() if gap.aspect_id in shown]
        found = [OpenPoint(gap.aspect_id or "", gap.text) for gap in gaps[:MOST_OPEN]]
    else:
        found = points_left(draft, ledger, marks.headings.values())
    return [replace(each, text=marks.wall.masked(each.text)) for each in found]


def with_untold_parts(draft: Draft, ledger: Ledger) -> Draft:
    """Return the draft whose open points have what the last assessment misses most of answered
    sub-questions. As it is where no model named what it leaves open.
    """
    if draft.open is None or ledger.began < Form.EDITED:
        return draft
    points, shown = [*draft.open], draft.covered
    for aspect in ledger.aspects.values():
        if aspect.id not in shown or aspect.state not in ANSWERING:
            continue
        missed = [
            gap.text for gap in ledger.open_gaps() if gap.critical and gap.aspect_id == aspect.id
        ]
        for text in missed:
            if not any(shares_words(text, each.text) for each in points):
                points.append(OpenPoint(aspect.id, text))
    return replace(draft, open=tuple(points))


def shares_words(one: str, other: str) -> bool:
    """Return whether two texts share half of the words of the shorter one."""
    words, others = term_set(one), term_set(other)
    return 2 * len(words & others) >= min(len(words), len(others))


def _repeats_question(point: str, asked: str, is_split: bool) -> bool:
    """Return whether a point only repeats a sub-question, or since `Form.EDITED` all its parts."""
    parts = asked_parts(asked) if is_split else ()
    if len(parts) > 1 and not all(term_set(part) & term_set(point) for part in parts):
        return False
    return _is_told(point, asked)


def points_left(draft: Draft, ledger: Ledger, headings: Iterable[str]) -> list[OpenPoint]:
    """Return the points that the author of a report left open and that may be named. A value that
    has been replaced settles one only where the report tells it.
    """
    shown = draft.covered
    missing = {part.id for part in ledger.aspects.values() if part.state not in ANSWERING}
    known = " ".join((ledger.question, *headings, *_texts_of(draft, ledger)))
    if ledger.began >= Form.EDITED:  # a heading says less
        known = " ".join((known, *(aspect.text for aspect in ledger.aspects.values())))
    earlier = {i for each in draft.statements for i in each.earlier}
    left_out = ledger.relations.replaced.keys() - earlier if ledger.began >= Form.COMPUTED else ()
    told = [each.body for each in draft.statements]
    if ledger.began >= Form.EDITED:
        told += [step.body for step in draft.next_steps]
    told += [r.claim for r in ledger.statable if r.id not in left_out]
    asked, is_split = [each.text for each in ledger.aspects.values()], ledger.began >= Form.EDITED
    found = [
        each
        for each in draft.open or ()
        if (each.aspect_id in shown or each.aspect_id in missing)
        and adds_nothing_to(each.text, known, ledger.plan.language)
        and (each.in_part or not any(_is_told(each.text, by) for by in told))
        and (each.in_part or not any(_repeats_question(each.text, by, is_split) for by in asked))
    ]
    firsts = {each.text: each for each in reversed(found)}
    return [firsts[text] for text in unique_texts(each.text for each in found)][:MOST_OPEN]


def _texts_of(draft: Draft, ledger: Ledger) -> Iterator[str]:
    """Yield the text of a draft's statements and of the cells of its tables."""
    relations = ledger.relations
    yield from (said.body for said in draft.statements)
    yield from (*relations.entities, *relations.properties)
    yield from (cell.value for cell in relations.cells.values())
    for change in relations.changes:
        yield from (change.what, change.before, change.now)


def _is_told(point: str, said: str) -> bool:
    """Return whether a sentence has most words of what is called open, and all of its numbers."""
    wanted, numbers = term_set(point), {*entities.find_numbers(point)}
    new = wanted - term_set(said)
    is_repeated = not new or len(new) < LEAST_NEW * len(wanted)
    return is_repeated and numbers <= {*entities.find_numbers(said)}


def render_still_open(points: Iterable[str], marks: Markers) -> str:
    lines = [f"- {marks.escaped(capitalize_heading(text))}" for text in points]
    return f"## {marks.words['still_open']}\n\n" + "\n".join(lines) if lines else ""


def render_open_here(points: Sequence[str], marks: Markers) -> str:
    """Return the line of a section that says what is open on it, "" without `points`."""
    told = "; ".join(marks.escaped(text.rstrip(".")) for text in points)
    return f"*{marks.words['still_open']}: {told}.*" if told else ""


def render_not_searched(draft: Draft, marks: Markers) -> str:
    """Return what no search was made for."""
    lines = [
        line for state, line in _open_aspects(draft, marks) if state is AspectState.NOT_SEARCHED
    ]
    return f"## {marks.words['not_searched']}\n\n" + "\n".join(lines) if lines else ""


def _open_aspects(draft: Draft, marks: Markers) -> list[tuple[AspectState, str]]:
    """Return the sub-questions without an answer, except those with their own section."""
    shown = draft.covered
    return [
        (a.state, f"- {marks.headings[a.id]}")
        for a in marks.ledger.aspects.values()
        if a.state not in ANSWERING and a.id not in shown
    ]


def render_dropped(ledger: Ledger, words: Labels) -> str:
    lines = [
        f"- {escape_markdown(capitalize_heading(aspect.text))}"
        for aspect in ledger.dropped.values()
    ]
    return f"## {words['dropped']}\n\n" + "\n".join(lines) if lines else ""


def render_sources(ledger: Ledger, marks: Markers) -> str:
    cited, words = marks.numbers, marks.words
    names = source_names(ledger, cited)
    lines = [f"## {words['sources']}", f"### {words['cited']}"]

    def shown(source: Source) -> str:
        return render_source(ledger, source, words, marks.layout.today, names.get(source.url))

    lines.append("\n".join(
        f"- [{number}] {shown(ledger.sources[url])}" for url, number in cited.items()
    ))  # fmt: skip
    unused = unused_sources(ledger, cited)
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
