"""Assign evidence and length to the sections of a report, and add findings that a draft omitted."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass, replace
from math import ceil

from research.engine.evidence.ledger import ANSWERING, Ledger
from research.engine.records import Aspect, Evidence
from research.engine.report.checking.statement_check import check_statement
from research.engine.report.draft import Draft, Statement
from research.engine.report.parts.dating import is_alike
from research.engine.report.parts.subjects import leans_back
from research.engine.text.language import code_of, language_of
from research.engine.text.tokens import term_set

LEAST_WORDS, MOST_WORDS = 80, 800
THIN = 3
"""Statements up to which a section of a thorough report says whether there was more."""
MOST_RECORDS = 45
"""Records that a draft of `MOST_WORDS` has room for; a section with more has several drafts."""
GROUPED_FROM = 6
"""Sections from which short ones are drafted together."""
SMALL, MOST_TOGETHER = 10, 20
"""Records of a section that is drafted with others, and of all sections that are."""


@dataclass(frozen=True)
class OutlinePart:
    """A sub-question, the evidence that its section owns, and its length in words."""

    aspect: Aspect
    records: tuple[Evidence, ...]
    words: int


def make_outline(ledger: Ledger, records: Sequence[Evidence], words: int) -> list[OutlinePart]:
    """Return the sections that have evidence, in the order of the sub-questions.

    Each record belongs to one section. The words are shared out by the number of records; a section
    gets at most `MOST_WORDS` for each of its drafts.
    """
    owned: dict[str, list[Evidence]] = {
        aspect.id: [] for aspect in ledger.aspects.values() if aspect.state in ANSWERING
    }
    for record in records:
        owner = owner_of(record, ledger, owned)
        if owner is not None:
            owned[owner].append(record)
    total = max(1, sum(map(len, owned.values())))
    return [
        OutlinePart(
            ledger.aspects[aspect_id],
            tuple(own),
            _share_words(words, len(own), total, _drafts_of(own)),
        )
        for aspect_id, own in owned.items()
        if own
    ]


def group_parts(outline: Sequence[OutlinePart]) -> list[tuple[OutlinePart, ...]]:
    """Return the sections in groups that are drafted together: in a broad report those with little
    evidence, others alone, in the order of their first ones.
    """
    if len(outline) < GROUPED_FROM:
        return [(part,) for part in outline]
    groups: list[list[OutlinePart]] = []
    small: list[OutlinePart] = []
    for part in outline:
        size = sum(len(each.records) for each in (*small, part))
        if len(part.records) > SMALL:
            groups.append([part])
        elif small and size <= MOST_TOGETHER:
            small.append(part)
        else:
            small = [part]
            groups.append(small)
    return [tuple(group) for group in groups]


def owner_of(record: Evidence, ledger: Ledger, sections: Iterable[str]) -> str | None:
    """Return the sub-question whose section owns a record, if any.

    Claims that contradict each other stand together, in the section of the earliest one.
    """
    records = ledger.book.records
    rivals = [records[i] for i in record.contradicts if i in records]
    first = min((record, *rivals), key=lambda each: int(each.id[1:]))
    wanted = (*first.answers, *record.answers)
    return next((aspect_id for aspect_id in wanted if aspect_id in sections), None)


def _share_words(words: int, own: int, total: int, drafts: int) -> int:
    return min(drafts * MOST_WORDS, max(LEAST_WORDS, 10 * round(words * own / total / 10)))


def _drafts_of(records: Sequence[Evidence]) -> int:
    return ceil(len(records) / MOST_RECORDS)


def divide_part(part: OutlinePart) -> list[OutlinePart]:
    """Return a section in the parts that are drafted by themselves: records found one after the
    other stay together.
    """
    drafts = _drafts_of(part.records)
    size = ceil(len(part.records) / drafts)
    slices = [part.records[at : at + size] for at in range(0, len(part.records), size)]
    return [replace(part, records=each, words=part.words // drafts) for each in slices]


def with_thin_sections_marked(draft: Draft, ledger: Ledger) -> Draft:
    """Return the draft whose sections of few statements are marked where they say all that was
    found.
    """
    thin = {part.aspect_id for part in draft.sections if len(part.statements) <= THIN}
    whole = with_other_findings(draft, ledger, thin) if thin else draft
    sections = (
        replace(own, all_found=own == full if own.aspect_id in thin else own.all_found)
        for own, full in zip(draft.sections, whole.sections, strict=True)
    )
    return replace(draft, sections=tuple(sections))


def with_other_findings(draft: Draft, ledger: Ledger, only: Set[str] | None = None) -> Draft:
    """Return the draft whose sections, or `only` some, have, behind their own statements, the
    claims that it left out: those that code vouches for, in the report's language, that can be read
    alone and that nothing in the report resembles.

    Outdated and disputed ones, and those that the table or the key figures have, stay out.
    """
    relations, records = ledger.relations, ledger.book.records
    told = {i for said in draft.statements for i in said.evidence}
    told |= {i for cell in relations.cells.values() for i in cell.evidence}
    told |= {i for figure in relations.figures for i in figure.evidence}
    left_aside = told | relations.replaced.keys() | relations.doubted.keys()
    known = [records[i] for i in sorted(told & records.keys())]
    sections = {section.aspect_id: section for section in draft.sections}
    answered = [i for i in sections if ledger.aspects[i].state in ANSWERING]
    for record in ledger.statable:
        part = owner_of(record, ledger, answered)
        is_wanted = part is not None and (only is None or part in only)
        if part is None or not is_wanted or record.id in left_aside or record.contradicts:
            continue
        said = Statement(record.claim, (record.id,))
        is_new = not any(is_alike(record, other) for other in known)
        if is_new and _can_stand(record, ledger) and _is_carried(said, ledger):
            known.append(record)
            whole = sections[part]
            sections[part] = replace(whole, statements=(*whole.statements, said))
    return replace(draft, sections=tuple(sections.values()))


def _can_stand(record: Evidence, ledger: Ledger) -> bool:
    """Return whether a claim is in the language of the report and needs no sentence before it."""
    language = code_of(ledger.plan.language).partition("-")[0]
    is_native = not language or language_of(record.claim, language) == language
    return is_native and not leans_back(record.claim, language, term_set(ledger.question))


def _is_carried(said: Statement, ledger: Ledger) -> bool:
    return check_statement(said, ledger).outcome == "carried"
