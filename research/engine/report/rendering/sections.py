"""The sections of a report, and how far each is supported; what to do."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from research.engine.assessment.answer_status import is_close, voice_noun
from research.engine.evidence.ledger import ANSWERING, Ledger
from research.engine.journal.forms import Form
from research.engine.offline.drafting import unjudged_words
from research.engine.records import AnswerSupport, Aspect, AspectState, Evidence
from research.engine.report.checking.next_steps import (
    COLONS,
    parts_of_its_own,
    proposed_code,
    split_commands,
)
from research.engine.report.draft import Draft, Section, Statement
from research.engine.report.parts.paragraphs import MOST_SENTENCES, render_paragraphs
from research.engine.report.parts.timeline import course_events
from research.engine.report.rendering.markers import Markers
from research.engine.report.rendering.statements import group_statements, render_disputed, with_site
from research.engine.report.rendering.tables import render_cell
from research.engine.report.report_format import Layout
from research.engine.report.report_i18n import Labels
from research.engine.untrusted.address_wall import ELISION

LEAST_OWN, MOSTLY_OWN = 3, 0.5
"""Steps with code of the model's own, and share of all, from which one note tells it of all."""


def render_section(
    ledger: Ledger,
    section: Section,
    marks: Markers,
    draft: Draft,
    named: bool,
    layout: Layout,
    table: str = "",
) -> str:
    """Return a section that opens with its `table`; a terse one has a line on its support only
    where it calls for doubt, a dense one names only the site before a quotation.
    """
    aspect = ledger.aspects[section.aspect_id]
    quoted = any(statement.quoted for statement in section.statements)
    is_nothing = draft.by_code and aspect.standing is not None and aspect.standing.is_off_topic
    statements = section.statements
    if layout.is_dense:
        statements = tuple(with_site(ledger, each) for each in statements)
    if not draft.by_code:
        body = render_disputed(statements, marks, MOST_SENTENCES, named)
    else:
        groups = group_statements(statements, marks, named)
        body = (
            "\n\n".join(group.paragraph() for group in groups)
            if quoted
            else render_paragraphs(statements, [group.inline() for group in groups])
        )
    if table:  # what is in the table supports the section as well
        body = "\n\n".join(filter(None, (table, body)))
        rows = (Statement(row.text, row.evidence) for row, _ in course_events(draft, ledger))
        section = replace(section, statements=(*section.statements, *rows))
    records = [ledger.book.records[i] for s in section.statements for i in s.evidence]
    is_settled = layout.stale is not None and not any(record.contradicts for record in records)
    if aspect.state is AspectState.DISPUTED and is_settled:
        aspect = replace(aspect, state=AspectState.ANSWERED)
    standing = _support_line(ledger, aspect, section, marks.words, layout)
    if draft.by_code and aspect.standing is not None:
        standing = marks.words[unjudged_words(aspect.standing)]
    elif layout.is_terse and aspect.state in ANSWERING and aspect.state is not AspectState.DISPUTED:
        standing = "" if not is_close(aspect) else standing
    if is_nothing:
        body = "\n>\n> ".join([f"> *{marks.words['closest_passages']}*", *body.split("\n\n")])
    if "> **⚠" in body and standing == f"⚠ {marks.words['disagree']}":
        standing = ""
    elif not draft.by_code and _tells_no_dispute(body, aspect, layout):
        settled = replace(aspect, state=AspectState.ANSWERED)
        standing = _support_line(ledger, settled, section, marks.words, layout)
    if draft.is_authored and voice_noun(ledger) == "document" and standing.startswith(("●", "◐")):
        standing = ""  # parts of one work seldom repeat each other
    is_thin = section.all_found and not table
    if is_thin and aspect.state in ANSWERING and not layout.is_terse:
        standing = " · ".join(filter(None, (standing, marks.words["no_more"])))
    is_said = standing == draft.opening and len(draft.sections) == 1
    shown = "" if is_said or not standing else f"*{standing}*\n\n"
    told = f"## {heading_of(section, marks)}\n\n{shown}{body}"
    return told.rstrip()


def heading_of(section: Section, marks: Markers) -> str:
    """Return the escaped heading that a section's author gave it, or that of its sub-question."""
    return marks.headings[section.aspect_id]


def render_as_table(
    ledger: Ledger, sections: Iterable[Section], marks: Markers, layout: Layout
) -> str:
    """Return a row for each sub-question: what was found, and how many sources say it."""
    head = " | ".join(marks.words[key] for key in ("sub_question", "answer", "support"))
    rows = [f"| {head} |", "| --- | --- | --- |"]
    for section in sections:
        records = [ledger.book.records[i] for s in section.statements for i in s.evidence]
        quoted = [source for record in records for source in record.sources]
        support = marks.words.count("sources_told", len({source.url for source in quoted}))
        said = " ".join(group.inline() for group in group_statements(section.statements, marks))
        cells = (heading_of(section, marks), said, support)
        rows.append(f"| {' | '.join(map(render_cell, cells))} |")
    return "\n".join(rows) if len(rows) > 2 else ""


def _tells_no_dispute(body: str, aspect: Aspect, layout: Layout) -> bool:
    """Return whether a section that has room for both sides of a dispute tells none: newer values
    have replaced one of them.
    """
    return not layout.is_terse and aspect.state is AspectState.DISPUTED and "(⚠" not in body


def _support_line(
    ledger: Ledger, aspect: Aspect, section: Section, words: Labels, layout: Layout
) -> str:
    """Well established, or preliminary, in words and by a mark, by what the section cites. If the
    report is direct, a section with both sides of a dispute is not called well established. Where
    several sites confirm some of its statements, the line counts them; documents, which may be
    parts of one work, only have them. Of evidence that is (nearly) all from one site or collection
    nothing else is said, since the report says so once.
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
    if share := _share_confirmed(ledger, section):
        has_rivals = names_rivals and _has_rivals(cited)
        if _says_little(ledger, share, noun) and not has_rivals:
            return ""
        is_split = has_rivals and ledger.began < Form.COMPUTED
        line = _share_line(share, is_split, noun, words)
        return f"{line} · {words['disagree']}" if has_rivals else line
    confirmed = max((len(record.keys) for record in cited), default=0)
    if confirmed > 1:
        has_rivals = names_rivals and _has_rivals(cited)
        stands = "in_documents" if noun == "document" else "established"
        mark, key = ("◐", "disputed_in_part") if has_rivals else ("●", stands)
        return f"{mark} {words[key].format(where=words.count(noun, confirmed))}"
    if ledger.lone_origin:
        return ""
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
        said
        for said in section.statements
        if said.evidence and not any(records[i].is_dictated for i in said.evidence)
    ]
    confirmed = sum(_is_confirmed(said, ledger) for said in told)
    return (confirmed, len(told)) if 0 < confirmed < len(told) else None


def _is_confirmed(said: Statement, ledger: Ledger) -> bool:
    """Return whether several sites say a statement; of one with clauses, each clause, and of one
    that computes with several findings, each finding.
    """
    records = ledger.book.records
    if ledger.began >= Form.COMPUTED and (said.formulas or said.computed):
        return all(len(records[i].keys) > 1 for i in said.evidence)
    every = [ids for _, ids in said.parts if ids] or [said.evidence]
    return all(len({key for i in ids for key in records[i].keys}) > 1 for ids in every)


def _says_little(ledger: Ledger, share: tuple[int, int], noun: str) -> bool:
    """Return whether the share of confirmed statements is uninformative: chapters of one manual,
    or pages of one site, seldom repeat each other, so that a low share is normal.
    """
    confirmed, every = share
    is_one_work = noun == "document" or bool(ledger.lone_origin)
    return is_one_work and 2 * confirmed < every


def _share_line(share: tuple[int, int], is_split: bool, noun: str, words: Labels) -> str:
    confirmed, every = share
    mark = "●" if 2 * confirmed >= every and not is_split else "◐"
    where = words.count(noun, 2)
    key = "share_in_documents" if noun == "document" else "confirmed_share"
    return f"{mark} {words[key].format(n=confirmed, all=every, where=where)}"


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


# --- what to do ---------------------------------------------------------------------------


def render_next_steps(draft: Draft, marks: Markers) -> str:
    """Return the inferred next steps as a section; see `render_steps`."""
    if not draft.next_steps:
        return ""
    lines = [
        f"{n}. {marks.sentence(said.text)} {marks.of(said.evidence)}"
        for n, said in enumerate(draft.next_steps, 1)
    ]
    words = marks.words
    return f"## {words['next_steps']}\n\n*{words['inferred']}*\n\n" + "\n".join(lines)


def render_steps(draft: Draft, marks: Markers) -> str:
    """Return the inferred next steps as a numbered list with a name, marked as inferred, and under
    the heads that their author gave them; "" if there are none. What is in no source is named; code
    with values of the model's own is marked where that are few of the steps. Commands follow the
    markers of what is said of them.
    """
    if not draft.next_steps:
        return ""
    words, lines, head = marks.words, list[str](), ""
    parts = _parts_of_their_own(draft.next_steps, marks.ledger)
    own = {
        each for each in draft.next_steps if each not in parts and proposed_code(each, marks.ledger)
    }
    are_most = len(own) >= max(LEAST_OWN, MOSTLY_OWN * len(draft.next_steps))
    for n, said in enumerate(draft.next_steps, 1):
        names = ", ".join(marks.sentence(each) for each in parts.get(said, ()))
        notes = (
            words["of_its_own"].format(names=names) if names else "",
            words["proposed"] if said in own and not are_most else "",
            words["address_left_out"] if ELISION in said.text else "",
        )
        gap = f"({words['step_before_left_out']}) " if said.behind_gap else ""
        told, codes = split_commands(said.text)
        if said.head != head:
            head = said.head
            lines.append(f"\n**{marks.escaped(head)}**\n" if head else "")
        step = f"{n}. {gap}{_with_notes(marks.sentence(told), notes)} {marks.of(said.evidence)}"
        lines.append(" ".join((step, *(marks.sentence(f"`{code}`") for code in codes))))
    note = words["inferred"]
    if own:
        note += f" {words['proposals_all' if are_most else 'proposals']}"
    return f"**{words['what_to_do']}.** *{note}*\n\n" + "\n".join(lines).strip("\n")


def _parts_of_their_own(steps: Iterable[Statement], ledger: Ledger) -> dict[Statement, list[str]]:
    """Return what steps have that no source does, without those that have nothing."""
    if ledger.began < Form.EDITED:
        return {}
    found = {each: parts_of_its_own(each, ledger) for each in steps}
    return {each: parts for each, parts in found.items() if parts}


def _with_notes(told: str, notes: Iterable[str]) -> str:
    """Return the words of a step with these notes, in front of the colon that leads to commands."""
    marked = "".join(f" *({note})*" for note in notes if note)
    leads = marked and told.endswith(COLONS)
    return f"{told[:-1]}{marked}{told[-1]}" if leads else told + marked


def render_steps_left_out(marks: Markers) -> str:
    """Return a line with the number of steps left out and the reasons, "" if there are none. It is
    plain text, since pages drop italics at this place.
    """
    checks = marks.layout.checks
    if checks is None:
        return ""
    counts = {"steps_refused": checks.steps_refused, "steps_unchecked": checks.steps_unchecked}
    told = [marks.words.count(name, number) for name, number in counts.items() if number]
    return marks.words["clauses"].format(clauses="; ".join(told)) if told else ""
