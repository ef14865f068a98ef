"""Values of tables that a model proposes, as far as the evidence gives them: cells of a comparison,
key figures and changes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from research.engine.evidence.ledger import Ledger
from research.engine.evidence.relations import (
    NO_TABLE,
    Cell,
    KeyFigure,
    Place,
    Relations,
    Table,
    ToldChange,
    well_filled,
)
from research.engine.journal.forms import Form
from research.engine.llm_tasks.answers import (
    CellAnswer,
    ChangeAnswer,
    CompareAnswer,
    FigureAnswer,
    RecalledAnswer,
    id_in,
)
from research.engine.offline.questions.compared import compared_properties, compared_things
from research.engine.records import Evidence
from research.engine.report.draft import Statement
from research.engine.report.parts.comparison import (
    LONGEST_VALUE,
    has_value,
    has_words,
    have_value_together,
)
from research.engine.report.parts.dating import amounts_of, date_of_statement, recalls
from research.engine.report.parts.main_findings import MainFindings
from research.engine.run import Run
from research.engine.text import entities
from research.engine.text.dates import latest_date
from research.engine.text.tokens import normalise_space, term_set, unique_texts
from research.engine.verifier.check_draft import Verdicts

MOST_ROWS, MOST_COLUMNS = 12, 8
LEAST_FIGURES, MOST_FIGURES = 3, 8
MOST_CHANGES, MOST_WITH_ROOM = 12, 24
WORDS_OF_FIGURE = 2
"""Words beside the number of a cell that is a figure."""
LONGEST_NAME = 12
"""Words of the name of what has changed."""


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


def cells_of(
    run: Run, answer: CompareAnswer, replaced: dict[str, str]
) -> tuple[Table, dict[Place, Cell]]:
    """Return entities, properties and checked cells, and the cells whose figures stand in quotes of
    their evidence, but not all words one behind another: a verifier may carry these.
    """
    ledger, doubtful = run.ledger, dict[Place, Cell]()
    rows = unique_texts(map(normalise_space, filter(None, answer.entities)))[:MOST_ROWS]
    columns = unique_texts(map(normalise_space, filter(None, answer.properties)))[:MOST_COLUMNS]
    names = (*rows, *columns) if run.form >= Form.EDITED else ()
    cells: dict[Place, tuple[str, Cell]] = {}
    for said in answer.cells:
        place = normalise_space(said.entity), normalise_space(said.property)
        fitting = [
            record
            for record in _with_value(ledger, said.evidence, place[0], said.value, names)
            if record.id not in replaced and not _is_recalled(ledger, record, said.value, replaced)
        ]
        if place[0] not in rows or place[1] not in columns:
            continue
        is_worded = run.form >= Form.EDITED and not _stands_in(fitting, said.value)
        if not fitting or is_worded:
            cell = _doubtful(ledger, said, replaced)
            doubtful |= {place: cell} if cell else {}
            continue
        date = max(map(date_of_statement, fitting))
        if place not in cells or date > cells[place][0]:
            value = normalise_space(said.value)
            cells[place] = date, Cell(value, tuple(r.id for r in fitting))
    known = {place: cell for place, (_, cell) in cells.items()}
    return (tuple(rows), tuple(columns), known), doubtful


def _stands_in(records: Iterable[Evidence], value: str) -> bool:
    """Return whether a quote of these records has a value as it is, or it is a mere figure."""
    quoted = (source.quote for record in records for source in record.sources)
    return _is_figure(value) or any(has_words(quote, value) for quote in quoted)


def _is_figure(value: str) -> bool:
    words = [word for word in value.split() if not any(c.isdecimal() for c in word)]
    return len(words) < len(value.split()) and len(words) <= WORDS_OF_FIGURE


def table_of(run: Run, proposed: Table) -> Table:
    """Return what a report shows of a proposed table; nothing if no cell stood the check."""
    rows, _, cells = proposed
    if not cells or len(rows) < 2:
        return NO_TABLE
    if run.form >= Form.EDITED:
        return well_filled(proposed, least_of_row=1)
    return well_filled(proposed) if run.form >= Form.COMPUTED else proposed


def _doubtful(ledger: Ledger, said: CellAnswer, replaced: Mapping[str, str]) -> Cell | None:
    """Return a cell whose evidence isn't outdated and has its figures; None for any other."""
    value, ids = normalise_space(said.value), unique_texts(map(id_in, said.evidence))
    records = [r for i in ids if (r := ledger.book.records.get(i)) and i not in replaced]
    quoted = " ".join(source.quote for record in records for source in record.sources)
    has_figures = {*entities.find_numbers(value)} <= {*entities.find_numbers(quoted)}
    is_short = 0 < len(value.split()) <= LONGEST_VALUE
    return (
        Cell(value, tuple(r.id for r in records)) if records and has_figures and is_short else None
    )


def find_figures(
    ledger: Ledger, answers: Iterable[FigureAnswer], replaced: Mapping[str, str]
) -> tuple[KeyFigure, ...]:
    """Return the checked key figures, the newest of each name; none if there are few. A value that
    its claim only recalls is none.
    """
    found: dict[str, KeyFigure] = {}
    for said in answers:
        name, value = normalise_space(said.name), normalise_space(said.value)
        fitting = [
            record
            for record in _with_value(ledger, said.evidence, name, value)
            if record.id not in replaced and not _is_recalled(ledger, record, value, replaced)
        ]
        if not fitting or not entities.find_numbers(value) or len(name.split()) > LONGEST_VALUE:
            continue
        date = max(map(date_of_statement, fitting))
        if name not in found or date > found[name].date:
            found[name] = KeyFigure(name, value, date, tuple(r.id for r in fitting))
    figures = tuple(found.values())[:MOST_FIGURES]
    return figures if len(figures) >= LEAST_FIGURES else ()


def shared_changes(
    run: Run, answers: Sequence[ChangeAnswer], replaced: Mapping[str, str]
) -> tuple[tuple[ToldChange, ...], tuple[ToldChange, ...]]:
    """Return the checked changes that the table has room for, and the others."""
    every = find_changes(run.ledger, answers, replaced)
    has_room = run.config.research_depth == "thorough"
    most = MOST_WITH_ROOM if has_room else MOST_CHANGES
    shown = find_changes(run.ledger, answers, replaced, most)
    return shown, tuple(change for change in every if change not in shown)


def find_changes(
    ledger: Ledger,
    answers: Iterable[ChangeAnswer],
    replaced: Mapping[str, str],
    most: int | None = None,
) -> tuple[ToldChange, ...]:
    """Return the first checked changes, at `most` so many, in their order, in earlier runs those
    first that answer the question best or by sub-question: both values stand in quotes of their
    evidence that name what has changed, and the newer one isn't outdated itself.
    """
    found: dict[tuple[str, str], ToldChange] = {}
    for said in answers:
        what, before, now = map(normalise_space, (said.what, said.before, said.now))
        old = _with_value(ledger, said.old, what, before)
        new = [r for r in _with_value(ledger, said.new, what, now) if r.id not in replaced]
        is_new = before.casefold() != now.casefold() and (what, now) not in found
        if old and new and is_new and len(what.split()) <= LONGEST_NAME:
            dated = " ".join(s.quote for r in (*old, *new) for s in r.sources)
            since = normalise_space(said.since) if term_set(said.since) <= term_set(dated) else ""
            since = since if ledger.began >= Form.EDITED else latest_date(since)
            ids = tuple(r.id for r in old), tuple(r.id for r in new)
            found[what, now] = ToldChange(what, before, now, since, *ids)
    kept = [*found.values()][:most]
    return tuple(kept) if ledger.began >= Form.EDITED else _in_order(kept, ledger)


def _in_order(changes: Sequence[ToldChange], ledger: Ledger) -> tuple[ToldChange, ...]:
    places = {part: place for place, part in enumerate(ledger.aspects)}

    def part_of(change: ToldChange) -> str:
        parts = (ledger.book.records[i].aspect_id or "" for i in change.new)
        return min(parts, key=lambda part: places.get(part, len(places)))

    if ledger.began < Form.COMPUTED:
        return tuple(sorted(changes, key=lambda each: places.get(part_of(each), len(places))))
    named = [(f"{each.what}: {each.now}", each) for each in changes]
    told = {Statement(text, each.new, about=part_of(each)): each for text, each in named}
    return tuple(told[said] for said in MainFindings(ledger).most_direct_first(told))


def _with_value(
    ledger: Ledger, ids: Iterable[str], what: str, value: str, names: Sequence[str] = ()
) -> list[Evidence]:
    """Return the records of these ids whose quotes give a value of something; with the `names` of
    what is compared all of them if they only give it together.
    """
    told = (ledger.book.records.get(i) for i in unique_texts(map(id_in, ids)))
    records = [r for r in told if r]
    found = [r for r in records if has_value(r, what, value)]
    is_shared = names and not found and have_value_together(records, what, value, names)
    return records if is_shared else found


def _is_recalled(ledger: Ledger, record: Evidence, value: str, replaced: Mapping[str, str]) -> bool:
    """Return whether a value is one that the record only recalls, having replaced it."""
    amounts = amounts_of(value)
    return bool(amounts) and any(
        amounts <= amounts_of(old.claim) and recalls(record, old)
        for old_id, new_id in replaced.items()
        if new_id == record.id and (old := ledger.book.records[old_id])
    )


# --- cells in other words -----------------------------------------------------------------------
# Code can't tell "optional" from "always on", nor whether words are on what their column asks. All
# cells but mere figures are checked with the draft's statements: one that words its evidence
# differently is shown only if code or a trusted verifier supports it, and one that stands in a
# quote unless they refuse it.


def cell_statements(run: Run) -> dict[Statement, Place]:
    """Return the cells of the comparison that are no figures as statements; none of a quick
    report.
    """
    if run.form < Form.EDITED or run.config.research_depth == "quick":
        return {}
    if not run.rules.verifies_statements:
        return {}
    relations = run.ledger.relations
    told = [each for each in relations.proposed[2].items() if not _is_figure(each[1].value)]
    return {
        Statement(f"{thing}: {name} – {cell.value}.", cell.evidence): (thing, name)
        for (thing, name), cell in (*relations.doubtful.items(), *told)
    }


def settle_cells(run: Run, cells: Mapping[Statement, Place], found: Verdicts) -> Verdicts:
    """Put the doubtful cells that are carried into the table, take out those that a believed
    verifier refuses, and return the verdicts on all else.
    """
    amiss = {*found.refused, *found.unvouched}
    carried = {place for said, place in cells.items() if said not in amiss}
    refused = {cells[said] for said in found.refused if said in cells and found.use == "believed"}
    run.ledger.relations = with_cells(run.ledger.relations, carried, refused)
    return replace(
        found,
        carried=found.carried - cells.keys(),
        refused=tuple(said for said in found.refused if said not in cells),
        unvouched=tuple(said for said in found.unvouched if said not in cells),
    )


def with_cells(
    relations: Relations, carried: Collection[Place], refused: Collection[Place] = ()
) -> Relations:
    """Return the relations with these of the doubtful cells in the table, without those of its
    cells that are `refused`, and with none left.
    """
    rows, columns, known = relations.proposed
    added = {place: cell for place, cell in relations.doubtful.items() if place in carried}
    kept = {place: cell for place, cell in known.items() if place not in refused}
    if len(rows) < 2 or (not added and len(kept) == len(known)):
        return replace(relations, doubtful={})
    shown = well_filled((rows, columns, {**added, **kept}), least_of_row=1)
    return replace(relations, entities=shown[0], properties=shown[1], cells=shown[2], doubtful={})
