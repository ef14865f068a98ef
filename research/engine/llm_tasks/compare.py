"""Task `compare`: outdated values, disagreements and the table of a comparison.

The model proposes them from the claims and their dates before a long report is drafted; code
accepts only what dates, quotes and sources confirm.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

from research.engine.evidence.ledger import Ledger
from research.engine.evidence.relations import Cell, Relations
from research.engine.journal.forms import Form
from research.engine.llm_tasks.answers import (
    CellAnswer,
    ChangesAndSitesAnswer,
    ChangesAnswer,
    CompareAnswer,
    FinalAndSitesAnswer,
    FinalAnswer,
    SitesAnswer,
    id_in,
)
from research.engine.llm_tasks.compared_findings import (
    carried_over,
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
from research.engine.offline.questions.compared import compared_things
from research.engine.records import Evidence
from research.engine.report.checking.table_values import (
    MOST_WITH_ROOM,
    as_asked,
    cells_of,
    find_figures,
    find_recalled,
    shared_changes,
    table_of,
)
from research.engine.report.parts.dating import (
    asks_for_changes,
    date_of_statement,
)
from research.engine.report.parts.sources import note_kinds
from research.engine.run import Run
from research.engine.text.entities import find_numbers

MOST_SITES = 30
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
    proposed, doubtful = cells_of(run, answer, replaced)
    figures = find_figures(run.ledger, answer.figures, replaced)
    recalled = find_recalled(run.ledger, answer.earlier)
    told = answer.changes if isinstance(answer, ChangesAnswer) else []
    changes, more = shared_changes(run, told, replaced)
    final = map(id_in, answer.final if isinstance(answer, FinalAnswer) else ())
    relations = Relations(
        True, replaced, *table_of(run, proposed), figures, recalled,
        changes=changes, more_changes=more, final=frozenset(final),
        proposed=proposed, doubtful=doubtful,
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
        relations = _drafted_relations(run, cells, replaced)
        relations = with_doubts(run.ledger, relations, newer)
        await _note_relations(run, relations, newer, disagree)


def _drafted_relations(
    run: Run, cells: Sequence[tuple[str, str, Cell]], replaced: dict[str, str]
) -> Relations:
    """Return the relations with the table of a draft, without it unless two things have values of
    two properties.
    """
    told = [
        CellAnswer(entity=thing, property=name, value=cell.value, evidence=list(cell.evidence))
        for thing, name, cell in cells
    ]
    answer = as_asked(CompareAnswer(newer=[], disagree=[], cells=told), run.question.text)
    proposed, doubtful = cells_of(run, answer, replaced)
    table = table_of(run, proposed)
    filled = Counter(name for _, name in table[2])
    if sum(n > 1 for n in filled.values()) < 2:
        return Relations(True, replaced)
    return Relations(True, replaced, *table, proposed=proposed, doubtful=doubtful)


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
        "quotes": {record.id: _further_quotes(run, record) for record in shown},
        "dates": {record.id: date_of_statement(record) for record in shown},
        "suspected": _suspected(ledger, shown) if run.form >= Form.EDITED else [],
        "fence": fences(run),
        "things": compared_things(run.question.text),
        "most_changes": MOST_WITH_ROOM if _tells_changes(run) else 0,
        "names_holders": run.form >= Form.COMPUTED,
        "sites": unclassified_sites(run),
        "names_final": run.form >= Form.COMPUTED and _tells_changes(run),
    }


def _further_quotes(run: Run, record: Evidence) -> list[str]:
    """Return the quotes of a finding that may tell a change its claim doesn't; since `Form.EDITED`,
    where the question asks for no changes, those with figures that the claim lacks.
    """
    quotes = [source.quote for source in record.sources if source.quote != record.claim]
    if not _tells_changes(run):
        return []
    asked = (run.question.text, *(part.text for part in run.ledger.aspects.values()))
    if run.form < Form.EDITED or any(map(asks_for_changes, asked)):
        return quotes
    told = {*find_numbers(record.claim)}
    return [quote for quote in quotes if not {*find_numbers(quote)} <= told]


def _tells_changes(run: Run) -> bool:
    """Return whether the report may have a table of what has changed: since `Form.COMPUTED` the
    model says whether the question asks for it.
    """
    is_long = run.config.research_depth != "quick"
    return is_long and (run.form >= Form.COMPUTED or asks_for_changes(run.question.text))
