"""Tasks `draft` and `repair`: the report, written from ledger ids, and its one mending."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from research.engine.draft import Draft, Fault, Section, Statement, without_ids
from research.engine.extractive import drafting
from research.engine.ledger import Ledger
from research.engine.records import Evidence
from research.engine.run import Run
from research.engine.shaping import wanted_form, wanted_length
from research.engine.tasks.ask import Answer, Task, TaskFailed
from research.engine.tasks.assess import disputes
from research.engine.tasks.fitting import ask_fitting, most_relevant
from research.engine.tasks.growing import Growing
from research.engine.tasks.small import draft as small


class DraftStatement(Answer):
    text: str
    evidence: list[str]


class DraftSection(Answer):
    sub_question: str
    statements: list[DraftStatement]


class DraftAnswer(Answer):
    short_answer: list[DraftStatement]
    sections: list[DraftSection]


class RepairedStatement(Answer):
    number: int
    text: str
    evidence: list[str]


class RepairAnswer(Answer):
    statements: list[RepairedStatement]


DRAFT = Task("draft", DraftAnswer, 4000)
REPAIR = Task("repair", RepairAnswer, 2000)
CONTEXT_WORDS = 25_000
LENGTHS = {"simple": "about 400", "ordinary": "600 to 900", "complex": "900 to 1,500"}


async def write(run: Run) -> Draft:
    """The model's draft, or the passages chosen by code."""
    if run.is_small:
        return await small.write(run)
    if run.has_model:
        growing = Growing(run)
        try:
            place = f"{run.report_place}/draft"
            context = partial(_context, run)
            answer, _ = await ask_fitting(run, place, DRAFT, context, growing.hear)
            growing.tell()
            return _draft(run.ledger, answer)
        except TaskFailed as failed:
            run.fell_back(DRAFT.name, failed.cause)
    return drafting.draft(run.ledger)


def _context(run: Run, room: int) -> dict[str, Any]:
    ledger = run.ledger
    return {
        "question": run.question.text,
        "today": run.question.today,
        "language": ledger.plan.language,
        "output_format": wanted_form(run.shape, ledger.plan.output_format),
        "aspects": list(ledger.aspects.values()),
        "evidence": most_relevant(_usable(ledger), room),
        "disputes": disputes(ledger),
        "length": wanted_length(run.shape, LENGTHS[ledger.complexity]),
    }


async def repair(run: Run, draft: Draft, found: Sequence[Fault]) -> dict[int, Statement]:
    """The model's second try at faulty statements, by number; nothing where it has none."""
    concerned = [r for r in _usable(run.ledger) if _concerned(r, found)]

    def context(room: int) -> dict[str, Any]:
        return {
            "question": run.question.text,
            "language": run.ledger.plan.language,
            "faults": found,
            "evidence": most_relevant(concerned, room),
        }

    run.doing("Mending sentences that say more than their evidence")
    try:
        answer, _ = await ask_fitting(run, f"{run.report_place}/repair", REPAIR, context)
    except TaskFailed as failed:
        run.fell_back(REPAIR.name, failed.cause)
        return {}
    faulty = {fault.number for fault in found}
    return {
        s.number: _statement(s.text, s.evidence)
        for s in answer.statements
        if s.number in faulty and s.text.strip()
    }


def _concerned(record: Evidence, found: Sequence[Fault]) -> bool:
    cited = {i for fault in found for i in fault.statement.evidence}
    return not cited or record.id in cited


def _usable(ledger: Ledger) -> list[Evidence]:
    return newest_within([r for r in ledger.evidence if r.aspect_id in ledger.aspects])


def newest_within(records: Sequence[Evidence], words: int = CONTEXT_WORDS) -> list[Evidence]:
    """The newest evidence whose quotes fit into a context of so many words (rule B6)."""
    kept: list[Evidence] = []
    for record in reversed(records):
        words -= sum(len(source.quote.split()) for source in record.sources)
        if words < 0:
            break
        kept.append(record)
    return kept[::-1]


def _draft(ledger: Ledger, answer: DraftAnswer) -> Draft:
    sections: dict[str, list[Statement]] = {}
    for part in answer.sections:
        if part.sub_question in ledger.aspects and part.statements:
            said = sections.setdefault(part.sub_question, [])
            said += [_statement(s.text, s.evidence) for s in part.statements]
    short = tuple(_statement(s.text, s.evidence) for s in answer.short_answer)
    return Draft(short, tuple(Section(i, tuple(said)) for i, said in sections.items()))


def _statement(text: str, evidence: Sequence[str]) -> Statement:
    """The sentence without ids that the model wrote into it, and the ids that it cites."""
    return Statement(without_ids(text), tuple(dict.fromkeys(i.strip("[] ") for i in evidence)))
