"""Task `compare`: outdated values, disagreements and the table of a comparison.

The model proposes them from the claims and their dates before a long report is drafted; code
accepts only what dates, quotes and sources confirm.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pydantic import Field

from research.engine.evidence.ledger import Ledger
from research.engine.evidence.relations import Cell, KeyFigure, Relations
from research.engine.journal.forms import Form
from research.engine.llm_tasks.answers import Answer, id_in
from research.engine.llm_tasks.draft import usable_evidence
from research.engine.llm_tasks.prompting.ask import Task, TaskFailed
from research.engine.llm_tasks.prompting.fences import fences
from research.engine.llm_tasks.prompting.fit_to_context import ask_fitting, most_relevant
from research.engine.records import Evidence
from research.engine.report.parts.dating import (
    amounts_of,
    date_of_statement,
    first_date,
    is_alike,
    is_other_value,
    recalls,
    stated_date,
    tells_in_order,
)
from research.engine.run import Run
from research.engine.text import entities
from research.engine.text.compared import compared_properties, compared_things
from research.engine.text.tokens import normalise_space, term_set, unique_texts

COMPARED_FROM = 20
"""Records from which the findings are compared: fewer are compared while they are drafted."""
SHARED_TERMS = 2
MOST_ROWS, MOST_COLUMNS = 12, 8
LEAST_FIGURES, MOST_FIGURES = 3, 8
LONGEST_VALUE = 12
"""Words of a cell."""


class CellAnswer(Answer):
    entity: str
    property: str
    value: str
    evidence: list[str]


class FigureAnswer(Answer):
    name: str
    value: str
    evidence: list[str]


class RecalledAnswer(Answer):
    """A value that a finding gives as an earlier one."""

    finding: str
    value: str


class CompareAnswer(Answer):
    """Pairs of ids, earlier values, the table and key figures; both lists of names are empty if
    nothing is compared.
    """

    newer: list[list[str]]
    disagree: list[list[str]]
    earlier: list[RecalledAnswer] = Field(default_factory=list)
    entities: list[str] = Field(default_factory=list)
    properties: list[str] = Field(default_factory=list)
    cells: list[CellAnswer] = Field(default_factory=list)
    figures: list[FigureAnswer] = Field(default_factory=list)


COMPARE = Task("compare", CompareAnswer, 3000)


def compares_findings(run: Run) -> bool:
    """Return whether the findings are many enough to be compared in a call of their own."""
    return run.form >= Form.COMPARED and len(usable_evidence(run.ledger)) >= COMPARED_FROM


async def compare_findings(run: Run) -> None:
    """Note in the ledger how the findings relate to each other; nothing if the model fails."""
    run.report_action("Comparing the findings")
    try:
        answer, _ = await ask_fitting(
            run, f"{run.report_place}/compare", COMPARE, lambda room: _prompt_context(run, room)
        )
    except TaskFailed as failed:
        run.fell_back(COMPARE.name, failed.cause)
        return
    first_seen = run.form >= Form.FIRST_SEEN
    if run.form >= Form.DATED:
        answer = as_asked(answer, run.question.text)
    replaced = find_replaced(
        run.ledger, answer.newer, first_seen, run.form >= Form.DENSE, run.form >= Form.DATED
    )
    table = _table(run.ledger, answer, replaced, first_seen)
    figures = find_figures(run.ledger, answer.figures, replaced, first_seen)
    recalled = find_recalled(run.ledger, answer.earlier) if run.form >= Form.DENSE else {}
    relations = Relations(True, replaced, *table, figures, recalled)
    if run.form >= Form.DATED:
        relations = _with_doubts(run.ledger, relations, answer.newer)
    await _note_relations(run, relations, answer.newer, answer.disagree)


async def relate_drafted(
    run: Run, newer: Sequence[Sequence[str]], disagree: Sequence[Sequence[str]]
) -> None:
    """Note in the ledger how the findings relate to each other by the draft of a run that didn't
    compare them in a call of its own.
    """
    first_seen = run.form >= Form.FIRST_SEEN
    if run.form >= Form.DETAILED and not run.ledger.relations.is_known and (newer or disagree):
        replaced = find_replaced(
            run.ledger, newer, first_seen, run.form >= Form.DENSE, run.form >= Form.DATED
        )
        relations = Relations(True, replaced)
        if run.form >= Form.DATED:
            relations = _with_doubts(run.ledger, relations, newer)
        await _note_relations(run, relations, newer, disagree)


async def _note_relations(
    run: Run,
    relations: Relations,
    newer: Sequence[Sequence[str]],
    disagree: Sequence[Sequence[str]],
) -> None:
    ledger = run.ledger
    ledger.relations = relations
    before = dict(ledger.book.records)
    if run.form >= Form.DETAILED:
        for old in relations.replaced:
            ledger.book.reconcile(old)
        disagree = [*disagree, *_contested(ledger, newer)]
        await run.refresh_aspects()
    for one, other in find_disagreements(ledger, disagree):
        ledger.book.oppose(one, other)
    ledger.emit_evidence(before)


def _prompt_context(run: Run, room: int) -> dict[str, Any]:
    ledger = run.ledger
    return {
        "question": run.question.text,
        "today": run.question.today,
        "language": ledger.plan.language,
        "aspects": list(ledger.aspects.values()),
        "findings": (shown := most_relevant(usable_evidence(ledger), room)),
        "dates": {record.id: date_of_statement(record) for record in shown},
        "fence": fences(run),
        "asks_earlier": run.form >= Form.DENSE,
        "things": compared_things(run.question.text) if run.form >= Form.DATED else (),
    }


def as_asked(answer: CompareAnswer, question: str) -> CompareAnswer:
    """Return the answer with the rows that the question lists, whatever the model calls them, and
    with the columns that it lists where the model named none.
    """
    things = compared_things(question)
    if not things or not answer.cells:
        return answer
    called = {name: _same_name(name, things) for name in answer.entities}
    rows = [*things, *(name for name in answer.entities if called[name] == name)]
    cells = [
        cell.model_copy(update={"entity": _same_name(cell.entity, things)}) for cell in answer.cells
    ]
    found = (cell.property for cell in cells)
    columns = answer.properties or unique_texts((*found, *compared_properties(question)))
    return answer.model_copy(
        update={"entities": unique_texts(rows), "properties": columns, "cells": cells}
    )


def _same_name(name: str, things: Iterable[str]) -> str:
    """Return the one listed thing whose words a name has, such as "the tribunal of Kelmar"; the
    name itself where there is none, or several.
    """
    meant = [thing for thing in things if term_set(thing) and term_set(thing) <= term_set(name)]
    return meant[0] if len(meant) == 1 else name


def find_recalled(ledger: Ledger, said: Iterable[RecalledAnswer]) -> dict[str, frozenset[str]]:
    """Return the amounts that records give as earlier ones, by id: those that stand in the claim
    beside another amount.
    """
    found: dict[str, frozenset[str]] = {}
    for each in said:
        record = ledger.book.records.get(id_in(each.finding))
        amounts = amounts_of(each.value)
        if record is not None and amounts and amounts < amounts_of(record.claim):
            found[record.id] = found.get(record.id, frozenset()) | amounts
    return found


def find_replaced(
    ledger: Ledger,
    pairs: Iterable[Sequence[str]],
    first_seen: bool = True,
    by_others: bool = True,
    by_likeness: bool = True,
) -> dict[str, str]:
    """Return the outdated records with the newest one of their chain.

    A pair is accepted if both claims share words and the newer value appeared later or its claim
    recalls the older value. A value appeared with the oldest page, or stated date, of all records
    that give it and are paired with the same record: later pages may repeat what has been replaced.
    Without `first_seen`, dates are those of the newest pages, as in older runs. With `by_others`, a
    pair is also accepted if a third claim gives both values, the older first; and what gives the
    value of an outdated record in like words is outdated as well. With `by_likeness`, a value has
    also appeared with records that give it in like words, quotations among them, and a quotation of
    an older value than that of a like claim is outdated.
    """
    newer: dict[str, str] = {}
    every = list(ledger.book.records.values())
    known = [pair for pair in _known_pairs(ledger, pairs) if _may_replace(*pair)]
    if first_seen:
        known = [pair[::-1] if recalls(*pair) else pair for pair in known]
    for old, new in known:
        if first_seen:
            like = every if by_likeness else ()
            dates = _first_seen(old, new, known, like), _first_seen(new, old, known, like)
        else:
            dates = date_of_statement(old), date_of_statement(new)
        is_later = bool(dates[0]) and dates[0] < dates[1]
        is_told = by_others and any(tells_in_order(each, old, new) for each in every)
        if is_later or is_told or (first_seen and recalls(new, old)):
            newer.setdefault(old.id, new.id)
    if by_others:
        said_newer = {new.id for _, new in known}
        newer |= _likewise_replaced([r for r in every if r.id not in said_newer], newer, ledger)
    if by_likeness:
        newer |= _outdated_quotations(ledger, newer)
    return {old: _end_of_chain(old, newer) for old in newer}


def _likewise_replaced(
    every: Iterable[Evidence], newer: Mapping[str, str], ledger: Ledger
) -> dict[str, str]:
    """Return the records that repeat the value of an outdated one, with the newer record; not where
    they date it later than that.
    """
    records, found = ledger.book.records, dict[str, str]()
    for record in every:
        amounts = amounts_of(record.claim)
        for old, new in newer.items():
            is_same = bool(amounts) and amounts == amounts_of(records[old].claim)
            if record.id in newer or not is_same:
                continue
            is_newer = bool(stated := stated_date(record)) and stated > first_date(records[new])
            if is_alike(record, records[old]) and not is_newer:
                found.setdefault(record.id, new)
    return found


def _may_replace(old: Evidence, new: Evidence) -> bool:
    return _share_terms(old, new) and old.claim != new.claim


def _first_seen(
    record: Evidence,
    other: Evidence,
    pairs: Iterable[tuple[Evidence, Evidence]],
    every: Iterable[Evidence] = (),
) -> str:
    """Return when the value of a record first appeared, in any record with the same amounts that is
    paired with the other one, or of `every` one has like words.
    """
    own = amounts_of(record.claim)
    paired = [one if two.id == other.id else two for one, two in pairs if other in (one, two)]
    paired += [each for each in every if is_alike(each, record)]
    same = [each for each in paired if own and amounts_of(each.claim) == own]
    return min(filter(None, map(first_date, (record, *same))), default="")


def _outdated_quotations(ledger: Ledger, replaced: Mapping[str, str]) -> dict[str, str]:
    """Return the quotations of a value that is older than that of a like claim, with its record.

    No comparison shows them to a model, so their words and dates alone decide. None of them makes
    another record outdated.
    """
    found: dict[str, str] = {}
    current = [record for record in ledger.statable if record.id not in replaced]
    for quoted in ledger.evidence:
        if not quoted.is_dictated or quoted.id in replaced or not (date := first_date(quoted)):
            continue
        newer = [r for r in current if first_date(r) > date and is_other_value(quoted, r)]
        if newer:
            found[quoted.id] = max(newer, key=first_date).id
    return found


def _with_doubts(ledger: Ledger, relations: Relations, pairs: Iterable[Sequence[str]]) -> Relations:
    """Return the relations with the records that a pair calls outdated though nothing dates them,
    unless more independent sources give their figure than the other one.
    """
    doubted = {
        old.id: new.id
        for old, new in _known_pairs(ledger, pairs)
        if not {old.id, new.id} & relations.replaced.keys()
        and _may_replace(old, new)
        and len(old.keys) <= len(new.keys)
    }
    recalled = dict(relations.recalled)
    for quoted, old in _recalled_by_quotations(ledger):
        known = recalled.get(quoted.id, frozenset())
        recalled[quoted.id] = known | amounts_of(old.claim)
        if old.id not in relations.replaced:
            doubted.setdefault(old.id, quoted.id)
    return replace(relations, doubted=doubted, recalled=recalled)


def _recalled_by_quotations(ledger: Ledger) -> Iterator[tuple[Evidence, Evidence]]:
    """Yield the quotations that give the figure of an older claim on the same beside one of their
    own, with that claim.
    """
    for quoted in ledger.evidence:
        if quoted.is_dictated and (date := first_date(quoted)):
            for old in ledger.statable:
                if recalls(quoted, old) and first_date(old) < date and is_alike(quoted, old):
                    yield quoted, old


def _contested(ledger: Ledger, pairs: Iterable[Sequence[str]]) -> list[list[str]]:
    """Return the pairs of different figures for one thing whose dates don't tell which is newer."""
    return [
        [old.id, new.id]
        for old, new in _known_pairs(ledger, pairs)
        if old.id not in ledger.relations.replaced
        and _share_terms(old, new)
        and old.fields.numbers != new.fields.numbers
    ]


def _end_of_chain(record_id: str, newer: dict[str, str]) -> str:
    passed = {record_id}
    while newer.get(record_id, record_id) not in passed:
        record_id = newer[record_id]
        passed.add(record_id)
    return record_id


def find_disagreements(
    ledger: Ledger, pairs: Iterable[Sequence[str]]
) -> list[tuple[Evidence, Evidence]]:
    """Return the pairs from independent sources on one thing, neither of them outdated."""
    replaced = ledger.relations.replaced
    return [
        (one, other)
        for one, other in _known_pairs(ledger, pairs)
        if not {one.id, other.id} & replaced.keys()
        and not set(one.keys) & set(other.keys)
        and (_share_terms(one, other) or set(one.answers) & set(other.answers))
    ]


def _known_pairs(
    ledger: Ledger, pairs: Iterable[Sequence[str]]
) -> Iterable[tuple[Evidence, Evidence]]:
    records = ledger.book.records
    for pair in pairs:
        known = [records[i] for i in unique_texts(map(id_in, pair)) if i in records]
        if len(known) == len(pair) == 2:
            yield known[0], known[1]


def _share_terms(one: Evidence, other: Evidence) -> bool:
    return len(term_set(one.claim) & term_set(other.claim)) >= SHARED_TERMS


def _table(
    ledger: Ledger, answer: CompareAnswer, replaced: dict[str, str], first_seen: bool
) -> tuple[tuple[str, ...], tuple[str, ...], dict[tuple[str, str], Cell]]:
    """Return entities, properties and checked cells; nothing if no cell stood the check."""
    rows = unique_texts(map(normalise_space, filter(None, answer.entities)))[:MOST_ROWS]
    columns = unique_texts(map(normalise_space, filter(None, answer.properties)))[:MOST_COLUMNS]
    cells: dict[tuple[str, str], tuple[str, Cell]] = {}
    for said in answer.cells:
        place = normalise_space(said.entity), normalise_space(said.property)
        records = [
            record
            for i in unique_texts(map(id_in, said.evidence))
            if (record := ledger.book.records.get(i)) and i not in replaced
        ]
        fitting = [
            r for r in records
            if has_value(ledger, r, place[0], said.value)
            and not (first_seen and _is_recalled(ledger, r, said.value, replaced))
        ]  # fmt: skip
        if place[0] not in rows or place[1] not in columns or not fitting:
            continue
        date = max(map(date_of_statement, fitting))
        if place not in cells or date > cells[place][0]:
            value = normalise_space(said.value)
            cells[place] = date, Cell(value, tuple(r.id for r in fitting))
    if not cells or len(rows) < 2:
        return (), (), {}
    return tuple(rows), tuple(columns), {place: cell for place, (_, cell) in cells.items()}


def find_figures(
    ledger: Ledger,
    answers: Iterable[FigureAnswer],
    replaced: Mapping[str, str],
    first_seen: bool = True,
) -> tuple[KeyFigure, ...]:
    """Return the checked key figures, the newest of each name; none if there are few.

    With `first_seen`, a value that its claim only recalls is none.
    """
    found: dict[str, KeyFigure] = {}
    for said in answers:
        name, value = normalise_space(said.name), normalise_space(said.value)
        records = (ledger.book.records.get(i) for i in unique_texts(map(id_in, said.evidence)))
        fitting = [
            record
            for record in records
            if record
            and record.id not in replaced
            and has_value(ledger, record, name, value)
            and not (first_seen and _is_recalled(ledger, record, value, replaced))
        ]
        if not fitting or not entities.find_numbers(value) or len(name.split()) > LONGEST_VALUE:
            continue
        date = max(map(date_of_statement, fitting))
        if name not in found or date > found[name].date:
            found[name] = KeyFigure(name, value, date, tuple(r.id for r in fitting))
    figures = tuple(found.values())[:MOST_FIGURES]
    return figures if len(figures) >= LEAST_FIGURES else ()


def _is_recalled(ledger: Ledger, record: Evidence, value: str, replaced: Mapping[str, str]) -> bool:
    """Return whether a value is one that the record only recalls, having replaced it."""
    amounts = amounts_of(value)
    return bool(amounts) and any(
        amounts <= amounts_of(old.claim) and recalls(record, old)
        for old_id, new_id in replaced.items()
        if new_id == record.id and (old := ledger.book.records[old_id])
    )


def has_value(ledger: Ledger, record: Evidence, entity: str, value: str) -> bool:
    """Return whether a quote of a record has a short value, and names its entity.

    The entity may also be named by the claim, which was checked against the quote, or by the page.
    """
    quoted = " ".join(source.quote for source in record.sources)
    named = term_set(" ".join((quoted, record.claim, *(s.title for s in record.sources))))
    numbers = set(entities.find_numbers(value))
    words = {term for term in term_set(value) if not any(c.isdecimal() for c in term)}
    return (
        0 < len(value.split()) <= LONGEST_VALUE
        and numbers <= set(entities.find_numbers(quoted))
        and words <= term_set(quoted) | numbers
        and bool(numbers or words)
        and bool(term_set(entity) & named)
    )
