"""Remove repetitions from a draft, and complete its summary."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

from research.engine.evidence.ledger import ANSWERING, Ledger
from research.engine.evidence.relations import Relations
from research.engine.report.draft import Draft, Section, Statement
from research.engine.report.parts.dating import amounts_of, recalls
from research.engine.report.report_i18n import Labels
from research.engine.text import entities
from research.engine.text.dates import find_dates
from research.engine.text.similarity import jaccard
from research.engine.text.tokens import term_set

SAME_WORDS = 0.6
LONGEST = 60
"""Words of a statement that may stand in the summary for its section."""


def drop_repetitions(draft: Draft) -> Draft:
    """Return the draft without statements that repeat an earlier one: on the same evidence, with
    the same quantities and mostly the same words.
    """
    told: dict[tuple[frozenset[str], frozenset[str]], list[frozenset[str]]] = {}

    def is_new(statement: Statement) -> bool:
        if not statement.evidence:
            return True
        numbers = frozenset(entities.find_numbers(statement.body))
        before = told.setdefault((frozenset(statement.evidence), numbers), [])
        terms = term_set(statement.body)
        if any(jaccard(terms, other) >= SAME_WORDS for other in before):
            return False
        before.append(terms)
        return True

    sections = [
        replace(section, statements=tuple(filter(is_new, section.statements)))
        for section in draft.sections
    ]
    return replace(draft, sections=tuple(each for each in sections if each.statements))


def merge_repetitions(draft: Draft) -> Draft:
    """Return the draft whose sections say the same words once, where they stand first, on all the
    evidence that is given for them.
    """
    evidence: dict[str, dict[str, None]] = {}
    for section in draft.sections:
        for said in section.statements:
            evidence.setdefault(said.text, {}).update(dict.fromkeys(said.evidence))

    def first_of(section: Section) -> Section:
        kept = (
            replace(said, evidence=tuple(evidence.pop(said.text))) if said.evidence else said
            for said in section.statements
            if said.text in evidence
        )
        return replace(section, statements=tuple(kept))

    sections = tuple(map(first_of, draft.sections))
    return replace(draft, sections=tuple(each for each in sections if each.statements))


def refer_back(draft: Draft, words: Labels, drops_whole: bool = True) -> Draft:
    """Return the draft with a reference in place of each passage that is quoted before. A lone
    section of nothing else goes if it `drops_whole`.
    """
    told = {each.body for each in draft.short_answer if each.quoted}

    def shown(statement: Statement) -> Statement:
        if not statement.quoted or statement.body not in told:
            told.add(statement.body)
            return statement
        return replace(statement, text=statement.lead_in + words["quoted_above"])

    known = frozenset(told)
    if drops_whole and len(draft.sections) == 1:
        (only,) = draft.sections
        if all(each.quoted and each.body in known for each in only.statements):
            return replace(draft, sections=())
    sections = (replace(each, statements=tuple(map(shown, each.statements)))
                for each in draft.sections)  # fmt: skip
    return replace(draft, sections=tuple(sections))


def without_summarised(draft: Draft) -> Draft:
    """Return the draft whose sections leave out what the summary says already, where something is
    left of them.
    """
    told = set(draft.short_answer)

    def rest(section: Section) -> Section:
        kept = tuple(each for each in section.statements if each not in told)
        return replace(section, statements=kept or section.statements)

    return replace(draft, sections=tuple(map(rest, draft.sections)))


def without_replaced(draft: Draft, relations: Relations) -> Draft:
    """Return the draft without statements that rest on nothing but replaced values."""
    old = set(relations.replaced)
    return _keeping(draft, lambda said: not said.evidence or not old.issuperset(said.evidence))


def without_recalled(draft: Draft, ledger: Ledger) -> Draft:
    """Return the draft without statements that give, without a date, nothing but a value which the
    cited claim only recalls as replaced.
    """
    records = ledger.book.records
    recalled: dict[str, list[frozenset[str]]] = {}
    for old, new in ledger.relations.replaced.items():
        if recalls(records[new], records[old]):
            recalled.setdefault(new, []).append(amounts_of(records[old].claim))

    def is_current(said: Statement) -> bool:
        amounts = amounts_of(said.body)
        values = [value for i in said.evidence for value in recalled.get(i, ())]
        return bool(find_dates(said.body)) or not any(amounts and amounts <= v for v in values)

    return _keeping(draft, is_current)


def _keeping(draft: Draft, is_kept: Callable[[Statement], bool]) -> Draft:
    sections = [
        replace(each, statements=tuple(filter(is_kept, each.statements))) for each in draft.sections
    ]
    return replace(
        draft,
        short_answer=tuple(filter(is_kept, draft.short_answer)),
        sections=tuple(each for each in sections if each.statements),
    )


def without_tabled(draft: Draft, relations: Relations) -> Draft:
    """Return the draft whose sections leave out what the table of comparison has already."""
    tabled = {i for cell in relations.cells.values() for i in cell.evidence}

    def rest(section: Section) -> Section:
        kept = [
            s for s in section.statements if not s.evidence or not tabled.issuperset(s.evidence)
        ]
        return replace(section, statements=tuple(kept) or section.statements[:1])

    return replace(draft, sections=tuple(map(rest, draft.sections)))


def told_once(
    draft: Draft,
    relations: Relations,
    has_figures: bool,
    events: Collection[Statement] = frozenset(),
    is_whole: bool = False,
) -> Draft:
    """Return the draft whose sections leave out what the table of comparison and, unless each
    `is_whole` by itself, the summary and the key figures say; a section of which the summary says
    everything goes. One that is whole has its lead, leaves the other changes to their table, and
    what the summary has by number to the summary.
    The `events` of a table on their course stay, since it would have gaps.
    """
    listed = {i for cell in relations.cells.values() for i in cell.evidence}
    if has_figures and not is_whole:
        listed |= {i for figure in relations.figures for i in figure.evidence}
    if is_whole:
        listed |= {i for change in relations.changes for i in (*change.old, *change.new)}
    told = {said for said in draft.short_answer if said.by_number or not is_whole}

    def rest(section: Section) -> Section:
        new = [said for said in section.statements if said not in told or said in events]
        leads = new[:is_whole]
        kept = [
            said
            for said in new
            if said in leads or not said.evidence or not listed.issuperset(said.evidence)
        ]
        return replace(section, statements=tuple(kept or new[:1]))

    sections = map(rest, draft.sections)
    return replace(draft, sections=tuple(each for each in sections if each.statements))


def cover_parts(
    ledger: Ledger, summary: Sequence[Statement], sections: Sequence[Section]
) -> tuple[Statement, ...]:
    """Return the summary with a statement of each answered sub-question that it left out."""
    if not any(said.evidence and not said.quoted for said in summary):
        return tuple(summary)
    cited = {i for said in summary for i in said.evidence}
    named = {a for i in cited if i in ledger.book.records for a in ledger.book.records[i].answers}
    added = []
    for section in sections:
        if section.aspect_id in named or ledger.aspects[section.aspect_id].state not in ANSWERING:
            continue
        short = (s for s in section.statements if s.evidence and s.words <= LONGEST)
        if (first := next(short, None)) is not None:
            added.append(first)
            named |= {a for i in first.evidence for a in ledger.book.records[i].answers}
    return (*summary, *added)
