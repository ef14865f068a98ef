"""The short answer of a report, as a list or as prose, and the line on trust below it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import groupby, takewhile

from research.engine.assessment.answer_status import is_judged_by_code, supporting, tally
from research.engine.evidence.ledger import ANSWERING, Ledger
from research.engine.evidence.titles import shorten_titles
from research.engine.journal.forms import Form
from research.engine.offline.answering import split_at_answer
from research.engine.records import Aspect, AspectState
from research.engine.report.disputes import is_weighed
from research.engine.report.draft import Draft, Statement
from research.engine.report.parts.dating import DAY, MONTH, YEAR
from research.engine.report.parts.disagreement import rival_groups
from research.engine.report.parts.headings import label
from research.engine.report.parts.main_findings import MainFindings, repeats
from research.engine.report.parts.paragraphs import render_paragraphs, with_bold_name
from research.engine.report.parts.subjects import leans_back
from research.engine.report.parts.timeline import tell_span
from research.engine.report.parts.verdict import MOST_NAMED, status_of
from research.engine.report.rendering.markdown_escape import escape_markdown
from research.engine.report.rendering.markers import Markers
from research.engine.report.rendering.statements import group_statements, inline_texts
from research.engine.report.report_format import Layout
from research.engine.report.report_i18n import Labels
from research.engine.text.tokens import STOP_WORDS

LEAST_PARTS, LEAST_LISTED = 2, 3
"""Sub-questions from which the summary names those without an answer, and lists the others."""
MOST_BESIDE_STEPS = 8
"""Sub-questions whose answers are left to their sections where the short answer has steps, before
`Form.EDITED`.
"""


def render_short(
    ledger: Ledger,
    draft: Draft,
    marks: Markers,
    layout: Layout,
    status: str,
    steps: str = "",
) -> str:
    """Return the short answer, a list with its `status` behind it or prose. A labelled statement is
    a separate paragraph, and the best passage begins with the sentence that answers. What the asker
    should do, in `steps`, follows what is said of the question as a whole.
    """
    if draft.by_code and draft.found and len(draft.short_answer) == 1:
        return _render_best(ledger, draft.short_answer[0], marks)
    if draft.is_authored:
        return _render_authored(draft, marks, status, steps)
    if items := items_of(draft, marks):
        whole = draft.short_answer[: -sum(map(len, items))]
        is_tabled = not marks.layout.as_table
        span = tell_span(draft, ledger, marks.words) if is_tabled else ""
        if ledger.began >= Form.EDITED:
            items = _without_told(items, (*whole, *draft.next_steps))
        elif steps and whole and len(items) <= MOST_BESIDE_STEPS:
            items = []  # each section begins with its answer as well
        return _render_items(whole, items, marks, status, span, steps)
    if not draft.by_code:
        told = _render_unlisted(draft.short_answer, marks)
        return "\n\n".join(filter(None, (told, steps)))
    blocks: list[str] = []
    groups = group_statements(draft.short_answer, marks)
    for is_labelled, part in groupby(groups, key=lambda each: bool(each.lead_in)):
        texts = [each.inline() for each in part]
        plain = render_paragraphs([], texts, layout.summary_sentences)
        blocks += texts if is_labelled else [plain]
    return "\n\n".join(filter(None, blocks))


def _render_authored(draft: Draft, marks: Markers, status: str, steps: str) -> str:
    """Return the verdict, the points beside it, of which open ones are named as such, the steps
    that open the report, and how far the question is answered.
    """
    verdict = [said for said in draft.short_answer if said.is_verdict]
    beside = (said for said in draft.short_answer if not said.is_verdict)
    points = [said for said in beside if not any(repeats(said, each) for each in verdict)]
    small = _small_names(marks.ledger)
    lines = [f"- {with_bold_name(text, small)}" for text in inline_texts(points, marks)]
    left_open = (marks.escaped(each.text.rstrip(".")) for each in marks.open_first)
    named = (f"{marks.words['still_open']}: {text}." for text in left_open)
    lines += (f"- {with_bold_name(text, small)}" for text in named)
    first = " ".join(inline_texts(verdict, marks))
    return "\n\n".join(filter(None, (first, "\n".join(lines), steps, status)))


def _small_names(ledger: Ledger) -> frozenset[str]:
    """Return the words with which quotes begin in small letters, such as names of programs."""
    quotes = (source.quote for record in ledger.evidence for source in record.sources)
    firsts = (quote.partition(" ")[0] for quote in quotes)
    return frozenset(word for word in firsts if word.islower() and word not in STOP_WORDS)


def _render_unlisted(short: Sequence[Statement], marks: Markers) -> str:
    """Return a short answer that is no list: a labelled statement is a separate paragraph."""
    blocks: list[str] = []
    for is_labelled, part in groupby(short, key=lambda each: bool(each.lead_in)):
        texts = inline_texts(part, marks)
        plain = render_paragraphs([], texts, marks.layout.summary_sentences)
        blocks += texts if is_labelled else [plain]
    return "\n\n".join(filter(None, blocks))


def items_of(draft: Draft, marks: Markers) -> list[list[Statement]]:
    """Return the items of a short answer that is a list, behind what it says of the question as a
    whole; none where it is prose.
    """
    if draft.by_code or draft.is_authored or not marks.layout.is_direct:
        return []
    main, told = MainFindings(marks.ledger), draft.short_answer
    whole = [*takewhile(main.is_overall, told)]
    items = [list(said) for _, said in groupby(told[len(whole) :], key=main.item_of)]
    return items if len(items) >= LEAST_LISTED else []


def _without_told(
    items: Sequence[Sequence[Statement]], told: Sequence[Statement]
) -> list[list[Statement]]:
    """Return the items without statements that repeat what is `told` above or below them."""
    left = ([said for said in item if not any(repeats(said, each) for each in told)]
            for item in items)  # fmt: skip
    return [item for item in left if item]


def status_line(draft: Draft, marks: Markers) -> str:
    """Return how far the parts of the question are answered, in a sentence; a dense report only
    shows where sources disagree.
    """
    ledger = marks.ledger
    disputed = [marks.headings[part] for part in _disputed_parts(draft, marks)]
    told = draft.covered
    is_open = [each.id for each in ledger.open_aspects()]
    missing, partly = (
        [marks.headings[part] for part in is_open if (part in told) == has_section]
        for has_section in (False, True)
    )
    counted, many = tally(marks.statuses.values()), marks.layout.has_room
    return status_of(marks.words, counted, disputed, missing, many, partly)


def flagged_parts(draft: Draft, marks: Markers) -> frozenset[str]:
    """Return the sub-questions beside which the short answer marks that sources disagree, since
    they are too many to be named.
    """
    disputed = _disputed_parts(draft, marks)
    is_many = marks.layout.has_room and len(disputed) > MOST_NAMED
    return frozenset(disputed) if is_many else frozenset()


def _disputed_parts(draft: Draft, marks: Markers) -> list[str]:
    """Return the sub-questions in whose sections sources disagree; none of a dense report."""
    return [
        section.aspect_id
        for section in draft.sections
        if any(
            len(group) > 1 and not is_weighed(group, marks.weighed, marks.ledger)
            for group in rival_groups(section.statements, marks.ledger)
        )
        and not marks.layout.is_dense
    ]


def _item_label(said: Statement, marks: Markers) -> str:
    """Return the sub-question that an item answers, and whether sources disagree on points of it;
    a column of the table has its name already.
    """
    part = None if said.lead_in else MainFindings(marks.ledger).part_of(said)
    if not part or not marks.layout.is_led:
        return ""
    is_flagged = part in marks.flagged and _is_disputed(said, marks.ledger)
    return f"**{label(marks.headings[part])}** {'⚠ ' if is_flagged else ''}"


def _is_disputed(said: Statement, ledger: Ledger) -> bool:
    """Return whether sources disagree on what an item says itself, and not only on other points of
    its sub-question.
    """
    records = ledger.book.records
    return any(records[i].contradicts for i in said.evidence if i in records)


def _render_items(
    whole: Sequence[Statement],
    items: Iterable[Sequence[Statement]],
    marks: Markers,
    status: str,
    span: str,
    steps: str,
) -> str:
    """Return what the short answer says of the question as a whole, a list of the rest, the steps,
    and how far the question is answered; that opens it where nothing is said of the whole. Before
    `Form.EDITED` the steps come first. An item of landmarks of the course of events ends with its
    `span`.
    """
    first = " ".join(inline_texts(whole, marks))

    def item(said: Sequence[Statement]) -> str:
        told = [*inline_texts(said, marks), span if said[0].part else ""]
        return f"- {_item_label(said[0], marks)}{' '.join(filter(None, told))}"

    listed = "\n".join(map(item, items))
    answer = (listed, steps) if marks.ledger.began >= Form.EDITED else (steps, listed)
    if not first:
        return "\n\n".join(filter(None, (status, *answer)))
    return "\n\n".join(filter(None, (first, *answer, status)))


def _render_best(ledger: Ledger, best: Statement, marks: Markers) -> str:
    """Return the sentence that answers as a quotation, followed by its context."""
    main = next(iter(ledger.aspects.values())).text
    passage = best.body.removeprefix("“").removesuffix("”")
    before, answer, after = split_at_answer(passage, main)
    if before and leans_back(answer, ledger.plan.language, frozenset()):
        before, answer = "", passage.removesuffix(after).strip(" …")
    opening = replace(best, text=f"{best.lead_in}“{answer}”")
    (group,) = group_statements([opening], marks)
    marker = marks.of(best.evidence)
    around = [f"“{escape_markdown(before)} …” {marker}"] if before else []
    around += [f"“… {escape_markdown(after)}” {marker}"] if after else []
    return "\n\n".join([group.inline(), *(["> " + "\n>\n> ".join(around)] if around else [])])


def render_left_open(draft: Draft, marks: Markers) -> str:
    """Return the line of the summary that names the sub-questions without an answer."""
    if draft.by_code or not draft.found or len(marks.ledger.aspects) < LEAST_PARTS:
        return ""
    return _name_parts("no_answer_on", marks.ledger.open_aspects(), marks)


def render_left_out(draft: Draft, marks: Markers) -> str:
    """Return the answered sub-questions that a shortened report omits."""
    ledger = marks.ledger
    if draft.by_code or not draft.found or len(ledger.aspects) < LEAST_PARTS:
        return ""
    said = {i for statement in draft.statements for i in statement.evidence}
    said |= {i for cell in ledger.relations.cells.values() for i in cell.evidence}
    told = {part for i in said for part in ledger.book.records[i].answers}
    told |= draft.covered
    answered = (a for a in ledger.aspects.values() if a.state in ANSWERING)
    return _name_parts("left_out", [a for a in answered if a.id not in told], marks)


def _name_parts(opening: str, parts: Iterable[Aspect], marks: Markers) -> str:
    names = [marks.headings[each.id] for each in parts]
    return f"*{marks.words[opening]} {'; '.join(names)}*" if names else ""


def is_answered(aspect: Aspect) -> bool:
    """Return whether code alone considers it answered by sources."""
    told = aspect.standing is not None and bool(aspect.standing.sources)
    return told and aspect.state is not AspectState.DISPUTED


# --- trust -------------------------------------------------------------------------------

MOST_WORKS, LONGEST_TITLE = 3, 80
"""Works that are named, those with most quotes, and characters of each name."""
_FILE = "file:"


def render_trust(marks: Markers, concluded: int) -> str:
    """Return the line, with a sentence on conclusions if there are any; "" before `Form.EDITED`,
    and where nothing was found that may answer.
    """
    ledger, words = marks.ledger, marks.words
    is_close = is_judged_by_code(ledger) and not supporting(ledger)
    if ledger.began < Form.EDITED or is_close or not marks.quoted:
        return ""
    is_own = all(url.startswith(_FILE) for url in marks.urls)
    works = _name_works(marks)
    told = [words["rests_on_own" if is_own else "rests_on"].format(works=works)]
    told += [words["concludes"].format(mark=words["concluded"])] if concluded else []
    return f"*{' '.join(told)}*"


def _name_works(marks: Markers) -> str:
    """Return the main works, documents with their dates, and how many more there are."""
    ledger, words = marks.ledger, marks.words
    names = _works(ledger, marks.urls)
    quotes = Counter(names[url] for _, url in marks.quoted)
    works = [work for work, _ in quotes.most_common()]
    pages: dict[str, list[str]] = {}
    for url, work in names.items():
        pages.setdefault(work, []).append(url)
    told = []
    for work in works[:MOST_WORKS]:
        name = escape_markdown(_shortened(work))
        if pages[work][0].startswith(_FILE):
            date = _date_of(work, pages[work], ledger, words, marks.layout.today)
            name = f"“{name}”" + (f" ({date})" if date else "")
        told.append(name)
    shown, more = ", ".join(told), len(works) - MOST_WORKS
    if more <= 0:
        return shown
    noun = "and_titles" if any(url.startswith(_FILE) for url in names) else "and_sites"
    return words.count(noun, more, names=shown)


def _works(ledger: Ledger, cited: Iterable[str]) -> Mapping[str, str]:
    """Return the work that each cited page is part of: its site, or the book of a document, what
    most titles beside it have in common, otherwise the folder in its collection or its own title.
    """
    titles: dict[str, dict[str, str]] = {}
    for source in ledger.sources.values():
        if source.title and source.url.startswith(_FILE):
            titles.setdefault(source.domain, {})[source.url] = source.title
    common = {domain: shorten_titles(each).common for domain, each in titles.items()}
    named = {}
    for source in map(ledger.sources.__getitem__, sorted(cited)):
        page = ledger.pages.get(source.url)
        is_file = source.url.startswith(_FILE)
        part = common.get(source.domain, "")
        folder = source.domain.partition("/")[2]
        own = (part if part in source.title else "") or folder or source.title if is_file else ""
        named[source.url] = (page.site if page else "") or own or source.domain
    return named


def _date_of(work: str, urls: Iterable[str], ledger: Ledger, words: Labels, today: str) -> str:
    """Return the month of the pages of a work, of several the years; "" where none is known, or
    the name of the work has it.
    """
    dates = ((ledger.sources[url].published or "")[:DAY] for url in urls)
    months = sorted({day[:MONTH] for day in dates if day and (not today or day <= today)})
    years = list(dict.fromkeys(month[:YEAR] for month in (*months[:1], *months[-1:])))
    if any(year in work for year in years):
        return ""
    return words.date(months[0]) if len(months) == 1 else "–".join(years)


def _shortened(name: str) -> str:
    return name if len(name) <= LONGEST_TITLE else f"{name[:LONGEST_TITLE].rstrip()}…"
