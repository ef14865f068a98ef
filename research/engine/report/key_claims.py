"""Content that every report includes: key claims, dictated wording and a short answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from research.engine.evidence.ledger import ANSWERING, Ledger
from research.engine.journal.forms import Form
from research.engine.offline.drafting import is_sentence, quote_statement
from research.engine.records import Evidence
from research.engine.report.draft import Draft, Section, Statement
from research.engine.report.parts.comparison import told_columns
from research.engine.report.parts.dating import counts_otherwise, first_date, is_alike, recalls
from research.engine.report.parts.disagreement import with_both_sides
from research.engine.report.parts.inline_quotes import quotable, quotation_among_statements
from research.engine.report.parts.main_findings import answer_each_part, lead_with_findings
from research.engine.report.parts.repetitions import cover_parts
from research.engine.report.parts.timeline import course_events, course_part
from research.engine.report.parts.verdict import verdict_of
from research.engine.report.report_format import SHORT_ANSWER_WORDS, summary_words
from research.engine.report.report_i18n import labels_for
from research.engine.run import Run
from research.engine.text.dates import without_dates
from research.engine.text.tokens import term_set, unique_texts
from research.engine.untrusted.dictation import asks_for_wording
from research.engine.untrusted.order_model import is_firmly_an_order
from research.engine.untrusted.order_words import content_terms

MOST_QUOTATIONS = 3
"""Of what pages dictate, on one sub-question."""


def with_key_claims(run: Run, draft: Draft) -> Draft:
    """Cutting is no way to pass: what answers a sub-question best comes in as a quotation where
    the draft lost it, or has no section on that sub-question; of a model's draft no value that is
    outdated or that a claim gives beside its own, and none in a section that its author leads.
    """
    ledger = run.ledger
    cited = {i for s in draft.statements for i in s.evidence}
    sections = {section.aspect_id: section for section in draft.sections}
    covered = draft.covered
    for aspect_id in ledger.aspects:
        current = (r for r in ledger.supporting(aspect_id) if r.id not in ledger.relations.replaced)
        keys = (r for r in current if r.key)
        if run.has_model:
            keys = (r for r in keys if not _is_outdated(ledger, r))
        best = next(keys, None)
        is_told = is_led(run) and aspect_id in covered
        if best and not is_told and (best.id not in cited or aspect_id not in covered):
            old = sections.get(aspect_id, Section(aspect_id, ()))
            said = (*old.statements, quote_statement(best))
            sections[aspect_id] = replace(old, statements=said)
    order = sections if draft.is_authored else ledger.aspects
    found = [sections[a] for a in order if a in sections]
    ordered = tuple(_with_dictated(run, section) for section in found)
    given = [said for said in draft.short_answer if _may_answer(ledger, said)]
    is_broad, most = len(ledger.aspects) > 1 and not draft.by_code, summary_words(ledger)
    short: tuple[Statement, ...] = ()
    if draft.is_authored:
        short = (*_opening(given, ordered), *given)
    elif is_broad and is_led(run):
        short = answer_each_part(ledger, given, ordered)
    elif is_broad and run.has_model:
        language = ledger.plan.language
        columns = {}
        if run.config.research_depth != "quick":
            columns = told_columns(ledger.relations, labels_for(language), language)
        course = landmarks(replace(draft, sections=ordered), ledger, given)
        short = lead_with_findings(ledger, given, ordered, most, columns, course)
    if not short:
        answering = [s for s in ordered if ledger.aspects[s.aspect_id].state in ANSWERING]
        short = choose_short(given, answering, most)
        short = cover_parts(ledger, short, ordered) if is_broad else short
    if run.has_model and not draft.is_authored:
        short = with_both_sides(short, ordered, ledger)
    if is_broad and is_led(run) and not any(said.is_verdict for said in short):
        language = ledger.plan.language
        verdict = verdict_of(ledger.relations, labels_for(language), language)
        short = (verdict, *short) if verdict and short else short
    return replace(draft, sections=ordered, short_answer=short)


def is_led(run: Run) -> bool:
    """Return whether each section of the draft begins with its answer, and can be read alone."""
    return run.has_model and run.config.research_depth != "quick"


def _with_dictated(run: Run, section: Section) -> Section:
    """Return the section with what pages dictate to others, as quotations, where nothing else
    answers, the question is about such words, or they hold most words of the sub-question. Outside
    of an authored section, also the one that shares most words with the sub-question, unless it is
    firmly an order; in one only what fits among its statements, and nothing that its author was
    shown and left out.
    """
    ledger = run.ledger
    found = ledger.supporting(section.aspect_id)
    asked = ledger.aspects[section.aspect_id].text
    is_alone = all(record.is_dictated for record in found)
    is_all = is_alone or asks_for_wording(f"{ledger.question} {asked}")
    dictated = [record for record in found if record.is_dictated]
    dictated = [record for record in dictated if is_sentence(record)] or dictated[:is_all]
    is_authored = _is_authored(run, section)
    may_all = is_all and (not is_authored or asks_for_wording(asked))
    told = [
        r
        for r in dictated
        if may_all or _holds_most(r.claim, asked) or (is_all and _is_on(r.claim, asked))
    ]
    if run.has_model and not told and not is_authored:
        wanted = content_terms(asked)
        may_be_honest = [r for r in dictated if not is_firmly_an_order(r.claim)]
        may_be_honest.sort(key=lambda r: -len(content_terms(r.claim) & wanted))
        told = may_be_honest[:1]
    cited = {i for said in section.statements for i in said.evidence}
    if run.has_model:
        told = [r for r in told if not _is_outdated(ledger, r)]
        # Only the statement that names the holder presents a side of a dispute.
        told = [r for r in told if cited.isdisjoint(r.contradicts)]
    if is_authored and not is_alone and run.form >= Form.EDITED:
        cited |= {r.id for r in quotable(ledger, {section.aspect_id})}  # its author left these out
        fitting = (quotation_among_statements(r, asked) for r in told if r.id not in cited)
        added = [*filter(None, fitting)][:MOST_QUOTATIONS]
    else:
        added = [quote_statement(r) for r in told[:MOST_QUOTATIONS] if r.id not in cited]
    if run.has_model:
        quoted = {said.body: said for said in (*reversed(added), *section.statements)}
        added = [said for said in added if quoted[said.body] is said]
    return replace(section, statements=(*section.statements, *added))


def _is_authored(run: Run, section: Section) -> bool:
    """Return whether the author of the draft wrote and ordered a section, so that only quotations
    on its sub-question are appended.
    """
    return is_led(run) and bool(section.statements)


def _is_outdated(ledger: Ledger, record: Evidence) -> bool:
    """Return whether a record is replaced, a younger claim counts another number of such things, or
    a claim on the same thing gives its value beside another one.
    """
    if record.id in ledger.relations.replaced:
        return True
    date = first_date(record)
    if any(counts_otherwise(each, record) and date < first_date(each) for each in ledger.statable):
        return True
    return any(recalls(each, record) and is_alike(each, record) for each in ledger.statable)


def _is_on(text: str, asked: str) -> bool:
    return not content_terms(asked).isdisjoint(content_terms(text))


def _holds_most(text: str, asked: str) -> bool:
    wanted = content_terms(asked)
    return 2 * len(wanted & content_terms(text)) >= len(wanted)


def _may_answer(ledger: Ledger, said: Statement) -> bool:
    """Return whether a statement may be part of the short answer: notes on a sub-question that
    stays open may not.
    """
    cited = [ledger.book.records[i] for i in said.evidence]
    answered = {a.id for a in ledger.aspects.values() if a.state in ANSWERING}
    return not cited or any(answered.intersection(record.answers) for record in cited)


def choose_short(
    given: Sequence[Statement], sections: Sequence[Section], most: int = SHORT_ANSWER_WORDS
) -> tuple[Statement, ...]:
    """As many whole statements as fit into the short answer of at most so many words. Where none
    that is cited does, the first cited one of the draft that fits, or its first at all. Passages
    chosen by code stay whole.
    """
    if given and all(said.quoted for said in given):
        return tuple(given)
    kept: list[Statement] = []
    room = most
    for said in given:
        room -= said.words
        if room < 0:
            break
        kept.append(said)
    if any(said.evidence for said in kept):
        return tuple(kept)
    every = [*given, *(said for section in sections for said in section.statements)]
    spare = [said for said in every if said.evidence]
    fitting = (said for said in spare if said.words <= most)
    return tuple([next(fitting, *spare[:1])] if spare else ())


def landmarks(draft: Draft, ledger: Ledger, chosen: Iterable[Statement] = ()) -> list[Statement]:
    """Return the first, the weightiest and the latest event of the timeline in the section on the
    course of events; none without one. The weightiest is the one that the model has `chosen`,
    otherwise the one whose words most other findings share. Disputed events and quotations are left
    out.
    """
    part, records = course_part(draft, ledger), ledger.book.records
    events = [
        replace(said, evidence=tuple(unique_texts((*said.evidence, *event.evidence))))
        for event, said in course_events(draft, ledger)
        if not (said.quoted or any(records[i].contradicts for i in event.evidence))
    ]
    if part is None or not events:
        return []
    wanted = {i for said in chosen for i in said.evidence}
    spoken_of = _spoken_of(ledger)
    best = max(
        events[1:-1],
        key=lambda said: (not wanted.isdisjoint(said.evidence), spoken_of(said)),
        default=None,
    )
    found = dict.fromkeys((events[0], *filter(None, [best]), events[-1]))
    return [replace(said, part=part) for said in found]


def _spoken_of(ledger: Ledger) -> Callable[[Statement], float]:
    """Return by how many claims, on average, the words of a statement are shared: what the others
    speak of, too, is no minor event.
    """
    claims = [term_set(record.claim) for record in ledger.book.records.values()]
    counts = Counter(term for claim in claims for term in claim)

    def spoken_of(said: Statement) -> float:
        terms = term_set(without_dates(said.body))
        return sum(counts[term] for term in terms) / max(1, len(terms))

    return spoken_of


def _opening(given: Sequence[Statement], sections: Sequence[Section]) -> tuple[Statement, ...]:
    """Return the statement that opens an author's report in the place of a verdict that was
    refused: the first of its first section.
    """
    if any(said.is_verdict for said in given):
        return ()
    told = (said for section in sections for said in section.statements[:1])
    first = next((said for said in told if said.evidence and not said.quoted), None)
    return () if first is None else (replace(first, is_verdict=True, is_item=False),)
