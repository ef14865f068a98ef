"""Task `compare`: outdated values, disagreements and the table of a comparison.

The model proposes them from the claims and their dates before a long report is drafted; code
accepts only what dates, quotes and sources confirm.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from research.engine.evidence.ledger import Ledger
from research.engine.evidence.relations import (
    NO_TABLE,
    Cell,
    KeyFigure,
    Relations,
    Table,
    ToldChange,
    well_filled,
)
from research.engine.journal.forms import Form
from research.engine.llm_tasks.answers import (
    CellAnswer,
    ChangeAnswer,
    ChangesAndSitesAnswer,
    ChangesAnswer,
    CompareAnswer,
    FigureAnswer,
    FinalAndSitesAnswer,
    FinalAnswer,
    RecalledAnswer,
    SitesAnswer,
    id_in,
)
from research.engine.llm_tasks.compared_findings import (
    carried_over,
    compared_properties,
    compared_things,
    contested_pairs,
    find_disagreements,
    find_replaced,
    matters_of,
    named_holders,
    settle_suspected_disputes,
    with_doubts,
)
from research.engine.llm_tasks.draft import COMPARED_FROM, usable_evidence
from research.engine.llm_tasks.prompting.ask import Task, TaskFailedError
from research.engine.llm_tasks.prompting.fences import fences
from research.engine.llm_tasks.prompting.fit_to_context import ask_fitting, most_relevant
from research.engine.records import Evidence
from research.engine.report.draft import Statement
from research.engine.report.parts.comparison import LONGEST_VALUE, has_value, have_value_together
from research.engine.report.parts.dating import (
    amounts_of,
    asks_for_changes,
    date_of_statement,
    recalls,
)
from research.engine.report.parts.main_findings import MainFindings
from research.engine.report.parts.sources import note_kinds
from research.engine.run import Run
from research.engine.text import entities
from research.engine.text.dates import latest_date
from research.engine.text.tokens import normalise_space, term_set, unique_texts

MOST_ROWS, MOST_COLUMNS = 12, 8
LEAST_FIGURES, MOST_FIGURES = 3, 8
MOST_CHANGES, MOST_WITH_ROOM, MOST_SITES = 12, 24, 30
LONGEST_NAME = 12
"""Words of the name of what has changed."""
COMPARE = Task("compare", CompareAnswer, 3000)
COMPARE_SITES: Task[CompareAnswer] = Task("compare", SitesAnswer, 3500)
COMPARE_CHANGES: tuple[Task[CompareAnswer], Task[CompareAnswer]] = (
    Task("compare", ChangesAnswer, 5000),
    Task("compare", ChangesAndSitesAnswer, 5500),
)
COMPARE_FINAL: tuple[Task[CompareAnswer], Task[CompareAnswer]] = (
    Task("compare", FinalAnswer, 5500),
    Task("compare", FinalAndSitesAnswer, 6000),
)
"""The same for reports with a table of changes; the second also asks for the kinds of sites."""


def compares_findings(run: Run) -> bool:
    """Return whether the findings are many enough to be compared in a call of their own."""
    return run.has_model and len(usable_evidence(run.ledger)) >= COMPARED_FROM


async def compare_findings(run: Run) -> None:
    """Note in the ledger how the findings relate to each other; nothing if the model fails."""
    run.report_action("Comparing the findings")
    try:
        answer, context = await ask_fitting(
            run, f"{run.report_place}/compare", _task(run), lambda room: _prompt_context(run, room)
        )
    except TaskFailedError as failed:
        run.fell_back(COMPARE.name, failed.cause)
        return
    answer = as_asked(answer, run.question.text)
    replaced = find_replaced(run.ledger, answer.newer)
    table = _table(run, answer, replaced)
    figures = find_figures(run.ledger, answer.figures, replaced)
    recalled = find_recalled(run.ledger, answer.earlier)
    told = answer.changes if isinstance(answer, ChangesAnswer) else []
    changes, more = _shared_changes(run, told, replaced)
    final = map(id_in, answer.final if isinstance(answer, FinalAnswer) else ())
    relations = Relations(
        True, replaced, *table, figures, recalled,
        changes=changes, more_changes=more, final=frozenset(final),
    )  # fmt: skip
    relations = with_doubts(run.ledger, relations, answer.newer)
    shown = {record.id for record in context["findings"]}
    await _note_relations(run, relations, answer.newer, answer.disagree, shown)
    sites = answer.sites if isinstance(answer, SitesAnswer) else ()
    note_kinds(run.ledger, {each.host: each.kind for each in sites})


def _task(run: Run) -> Task[CompareAnswer]:
    has_sites = bool(unclassified_sites(run))
    if not _tells_changes(run):
        return COMPARE_SITES if has_sites else COMPARE
    return (COMPARE_FINAL if run.form >= Form.COMPUTED else COMPARE_CHANGES)[has_sites]


def unclassified_sites(run: Run) -> dict[str, str]:
    """Return the names of the sites of usable evidence whose kind their address doesn't tell, by
    host; those with most findings first.
    """
    known = run.ledger.sources
    urls = [source.url for record in usable_evidence(run.ledger) for source in record.sources]
    quoted = [known[url] for url in urls if url in known]
    often = Counter(source.domain for source in quoted if source.kind == "unknown")
    names = {source.domain: source.site or source.domain for source in quoted}
    return {host: names[host] for host, _ in often.most_common(MOST_SITES)}


async def relate_drafted(
    run: Run,
    newer: Sequence[Sequence[str]],
    disagree: Sequence[Sequence[str]],
    cells: Sequence[tuple[str, str, Cell]] = (),
) -> None:
    """Note in the ledger how the findings relate to each other by the draft of a run that didn't
    compare them in a call of its own.
    """
    if (newer or disagree or cells) and not run.ledger.relations.is_known:
        replaced = find_replaced(run.ledger, newer)
        relations = Relations(True, replaced, *_drafted_table(run, cells, replaced))
        relations = with_doubts(run.ledger, relations, newer)
        await _note_relations(run, relations, newer, disagree)


def _drafted_table(
    run: Run, cells: Sequence[tuple[str, str, Cell]], replaced: dict[str, str]
) -> Table:
    """Return the table of a draft, nothing unless two things have values of two properties."""
    proposed = [
        CellAnswer(entity=thing, property=name, value=cell.value, evidence=list(cell.evidence))
        for thing, name, cell in cells
    ]
    answer = CompareAnswer(newer=[], disagree=[], cells=proposed)
    table = _table(run, as_asked(answer, run.question.text), replaced)
    filled = Counter(name for _, name in table[2])
    return table if sum(n > 1 for n in filled.values()) > 1 else NO_TABLE


async def _note_relations(
    run: Run,
    relations: Relations,
    newer: Sequence[Sequence[str]],
    disagree: Sequence[Sequence[str]],
    compared: Collection[str] = (),
) -> None:
    """Note the relations; disputes that words alone suggest are settled where a model that found
    others has `compared` both records.
    """
    ledger = run.ledger
    if run.form >= Form.COMPUTED:
        disagree = carried_over(ledger, disagree, relations.replaced)
    holders = named_holders(ledger, disagree)
    ledger.relations = replace(relations, matters=matters_of(ledger, disagree), holders=holders)
    disagree = [pair[:2] for pair in disagree]
    before = dict(ledger.book.records)
    for old in relations.replaced:
        ledger.book.reconcile(old)
    if newer or disagree:
        settle_suspected_disputes(ledger, compared)
    disagree = [*disagree, *contested_pairs(ledger, newer)]
    await run.refresh_aspects()
    for one, other in find_disagreements(ledger, disagree):
        ledger.book.oppose(one, other)
    ledger.emit_evidence(before)


def _suspected(ledger: Ledger, shown: Sequence[Evidence]) -> list[tuple[str, str]]:
    """Return the ids of the pairs of findings that code flags as contradictory, except those that
    differ by a negation only.
    """
    known = {record.id for record in shown}
    pairs = ledger.book.suspected_disputes(with_figures=True)
    return [pair for pair in pairs if known.issuperset(pair)]


def _prompt_context(run: Run, room: int) -> dict[str, Any]:
    ledger = run.ledger
    return {
        "question": run.question.text,
        "today": run.question.today,
        "instructions": ledger.instructions if run.form >= Form.EDITED else [],
        "language": ledger.plan.language,
        "aspects": list(ledger.aspects.values()),
        "findings": (shown := most_relevant(usable_evidence(ledger), room)),
        "dates": {record.id: date_of_statement(record) for record in shown},
        "suspected": _suspected(ledger, shown) if run.form >= Form.EDITED else [],
        "fence": fences(run),
        "things": compared_things(run.question.text),
        "most_changes": MOST_WITH_ROOM if _tells_changes(run) else 0,
        "names_holders": run.form >= Form.COMPUTED,
        "sites": unclassified_sites(run),
        "names_final": run.form >= Form.COMPUTED and _tells_changes(run),
    }


def _tells_changes(run: Run) -> bool:
    """Return whether the report may have a table of what has changed: since `Form.COMPUTED` the
    model says whether the question asks for it.
    """
    is_long = run.config.research_depth != "quick"
    return is_long and (run.form >= Form.COMPUTED or asks_for_changes(run.question.text))


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


def _table(run: Run, answer: CompareAnswer, replaced: dict[str, str]) -> Table:
    """Return entities, properties and checked cells; nothing if no cell stood the check."""
    ledger = run.ledger
    rows = unique_texts(map(normalise_space, filter(None, answer.entities)))[:MOST_ROWS]
    columns = unique_texts(map(normalise_space, filter(None, answer.properties)))[:MOST_COLUMNS]
    names = (*rows, *columns) if run.form >= Form.EDITED else ()
    cells: dict[tuple[str, str], tuple[str, Cell]] = {}
    for said in answer.cells:
        place = normalise_space(said.entity), normalise_space(said.property)
        fitting = [
            record
            for record in _with_value(ledger, said.evidence, place[0], said.value, names)
            if record.id not in replaced and not _is_recalled(ledger, record, said.value, replaced)
        ]
        if place[0] not in rows or place[1] not in columns or not fitting:
            continue
        date = max(map(date_of_statement, fitting))
        if place not in cells or date > cells[place][0]:
            value = normalise_space(said.value)
            cells[place] = date, Cell(value, tuple(r.id for r in fitting))
    if not cells or len(rows) < 2:
        return NO_TABLE
    table = tuple(rows), tuple(columns), {place: cell for place, (_, cell) in cells.items()}
    if run.form >= Form.EDITED:
        return well_filled(table, least_of_row=1)
    return well_filled(table) if run.form >= Form.COMPUTED else table


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


def _shared_changes(
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
