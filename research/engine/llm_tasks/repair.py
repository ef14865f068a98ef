"""Task `repair`: the model's second try at statements that a check refused."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from textwrap import shorten
from typing import Any

from research.engine.evidence.claims.operands import NotComputedError
from research.engine.evidence.ledger import Ledger
from research.engine.journal.forms import Form
from research.engine.llm_tasks.answers import Answer
from research.engine.llm_tasks.draft import told_titles, usable_evidence
from research.engine.llm_tasks.prompting.ask import Task, TaskFailedError
from research.engine.llm_tasks.prompting.fences import fences
from research.engine.llm_tasks.prompting.fit_to_context import ask_fitting, most_relevant
from research.engine.records import Aspect, Evidence
from research.engine.report.checking.statement_check import calculate
from research.engine.report.draft import (
    Fault,
    Section,
    Statement,
    aspect_of,
    split_conclusion,
    split_part,
    statement_of,
    with_lines_joined,
    without_layout,
)
from research.engine.report.draft_answer import without_references
from research.engine.run import Run


class RepairedStatement(Answer):
    number: int
    text: str
    evidence: list[str]


class RepairAnswer(Answer):
    statements: list[RepairedStatement]


REPAIR = Task("repair", RepairAnswer, 2000)
NEIGHBOUR = 160
"""Maximum length, in characters, of a neighbouring sentence in the prompt."""


async def repair_statements(
    run: Run, found: Sequence[Fault], sections: Sequence[Section]
) -> dict[Statement, Statement | None]:
    """Return the model's second try at faulty statements, None where it leaves one out. One that
    stands in several places is shown once, with its neighbours in the first of the sections.
    """
    shown = {fault.statement: fault for fault in reversed(found)}
    faulty = {fault.number: old for old, fault in shown.items()}
    ordered = [shown[faulty[number]] for number in sorted(faulty)]
    return {
        faulty[s.number]: _repaired(faulty[s.number], s, run.ledger)
        for s in await _ask_to_repair(run, ordered, places_of(ordered, sections))
        if s.number in faulty
    }


def _repaired(old: Statement, answer: RepairedStatement, ledger: Ledger) -> Statement | None:
    """Return a statement with another text and evidence, computed as before if it still is."""
    text = without_references(without_layout(with_lines_joined(answer.text.strip())))
    if ledger.began >= Form.COMPUTED:
        text = split_part(text, ledger)[1]
    text, is_marked = split_conclusion(text, ledger)
    new = statement_of(text, answer.evidence)
    if not new.text:
        return None
    if (new.text, new.evidence) == (old.text, old.evidence) and ledger.began >= Form.EDITED:
        return old
    said = replace(
        old,
        text=new.text,
        evidence=new.evidence,
        formulas=new.formulas,
        clauses=(),
        by_number=False,
        concludes=bool(new.evidence) and (old.concludes or is_marked),
    )
    try:
        calculate(replace(said, formulas=()), ledger)
    except NotComputedError:
        return replace(said, computed=None)
    return said


def places_of(found: Sequence[Fault], sections: Sequence[Section]) -> dict[Statement, str]:
    """Return, for each faulty statement, the sentences before and after it in its section, as the
    prompt gives them; a neighbour that is faulty itself is given by its number.
    """
    numbers, places = {fault.statement: fault.number for fault in found}, dict[Statement, str]()

    def told(said: Statement) -> str:
        return f"[{numbers[said]}]" if said in numbers else f"“{shorten(said.body, NEIGHBOUR)}”"

    for section in reversed(sections):
        said = section.statements
        for at, each in enumerate(said):
            if each in numbers:
                before = [f"after {told(said[at - 1])}"] if at else []
                behind = [f"before {told(other)}" for other in said[at + 1 : at + 2]]
                places[each] = ", ".join((*before, *behind))
    return places


async def _ask_to_repair(
    run: Run, found: Sequence[Fault], places: Mapping[Statement, str]
) -> list[RepairedStatement]:
    usable = usable_evidence(run.ledger)
    if run.form >= Form.COMPUTED:  # an earlier value that a statement compares
        cited = {i for fault in found for i in fault.statement.evidence}
        known = {record.id for record in usable}
        usable += [r for r in run.ledger.statable if r.id in cited - known]
    concerned = [r for r in usable if _is_concerned(r, found)]

    def context(room: int) -> dict[str, Any]:
        return {
            "question": run.question.text,
            "instructions": run.ledger.instructions if run.form >= Form.EDITED else [],
            "language": run.ledger.plan.language,
            "aspects": _aspects_of(run.ledger, found),
            "faults": found,
            "evidence": most_relevant(concerned, room),
            "titles": told_titles(run),
            "fence": fences(run),
            "has_formulas": run.form >= Form.COMPUTED,
            "is_edited": run.form >= Form.EDITED,
            "concludes": any(fault.statement.concludes for fault in found),
            "keeps_places": run.form >= Form.COMPUTED,
            "places": places if run.form >= Form.COMPUTED else {},
            "owner": partial(_owner, run.ledger),
        }

    run.report_action("Mending sentences that say more than their evidence")
    try:
        answer, _ = await ask_fitting(run, f"{run.report_place}/repair", REPAIR, context)
    except TaskFailedError as failed:
        run.fell_back(REPAIR.name, failed.cause)
        return []
    return answer.statements


def _aspects_of(ledger: Ledger, found: Sequence[Fault]) -> list[Aspect]:
    owners = {_owner(ledger, fault.statement) for fault in found}
    return [aspect for aspect in ledger.aspects.values() if aspect.id in owners]


def _owner(ledger: Ledger, statement: Statement) -> str:
    """Return the id of the sub-question that a statement answers, "verdict" for one that
    answers the question as a whole; "" in runs before `Form.EDITED`.
    """
    if statement.is_verdict:
        return "verdict" if ledger.began >= Form.EDITED else ""
    return statement.about or statement.part or aspect_of(statement, ledger) or ""


def _is_concerned(record: Evidence, found: Sequence[Fault]) -> bool:
    """Return whether a faulty statement cites a record or what contradicts it; any is concerned
    where none is cited.
    """
    cited = {i for fault in found for i in fault.statement.evidence}
    return not cited or record.id in cited or not cited.isdisjoint(record.contradicts)
