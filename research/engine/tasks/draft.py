"""Tasks `draft` and `repair`: the report, written from ledger ids, and its one mending."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from research.engine.draft import Draft, Fault, Section, Statement, aspect_of, cited, statement_of
from research.engine.extractive import drafting
from research.engine.labels import labels
from research.engine.ledger import Ledger
from research.engine.marks import is_close
from research.engine.records import Evidence
from research.engine.run import Run
from research.engine.shaping import wanted_form, wanted_length
from research.engine.tasks.answers import Answer
from research.engine.tasks.ask import Task, TaskFailed, request_for
from research.engine.tasks.assess import disputes
from research.engine.tasks.fitting import EVERYTHING, Context, ask_fitting, most_relevant, uncut
from research.engine.tasks.growing import Growing
from research.engine.tasks.small import draft as small
from research.engine.tools import ModelRequest


class DraftAnswer(Answer):
    """Sentences with the ids that carry them in brackets. An id alone stands for the claim of
    its record, a number in the short answer for the statement at that place, counted from 1.
    """

    statements: list[str]
    short_answer: list[str]


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
        try:
            begun = await _taken_up(run)
            place = begun.place if begun else f"{run.report_place}/draft"
            growing = begun.growing if begun else Growing(run)
            context = partial(_context, run)
            answer, _ = await ask_fitting(run, place, DRAFT, context, growing.hear)
            growing.tell()
            return _draft(run.ledger, answer)
        except TaskFailed as failed:
            run.fell_back(DRAFT.name, failed.cause)
    return _by_code(run.ledger)


def _by_code(ledger: Ledger) -> Draft:
    """Passages; whether they answer directly is what the question's mark says, where it has one."""
    drafted, first = drafting.draft(ledger), next(iter(ledger.aspects.values()))
    if first.standing is None:
        return drafted
    opening = labels(ledger.plan.language)["no_direct"] if is_close(first) else ""
    return replace(drafted, opening=opening)


@dataclass(frozen=True)
class Begun:
    """A draft that is asked for ahead: where, by which request, on what, and who hears it."""

    place: str
    request: ModelRequest
    shown: Context
    growing: Growing


async def begin(run: Run, place: str) -> None:
    """Ask for the draft before it is certain that nothing is missing; see `ahead.py`.

    Not where its prompt had to be cut: what is shown of the evidence may still change.
    """
    shown = _context(run, EVERYTHING)
    task = uncut(DRAFT, shown, await run.context_tokens())
    if task is None:
        return
    request, growing = request_for(run.journal, task, shown), Growing(run, is_told=False)
    run.begun = Begun(place, request, shown, growing)
    run.journal.begin_model(place, request, growing.hear)


async def drop(run: Run) -> None:
    """Give up the draft that was begun, if one was."""
    if (begun := run.begun) is not None:
        run.begun = None
        await run.journal.drop_model(begun.place, begun.request)
        run.tell_usage()


async def _taken_up(run: Run) -> Begun | None:
    """The draft that was begun, if it is the one that would be asked for now."""
    begun = run.begun
    if begun is None or begun.shown != _context(run, EVERYTHING):
        await drop(run)
        return None
    run.begun = None
    begun.growing.be_told()
    return begun


def _context(run: Run, room: int) -> dict[str, Any]:
    ledger = run.ledger
    return {
        "question": run.question.text,
        "today": run.question.today,
        "language": ledger.plan.language,
        "scope": ledger.plan.scope,
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
        s.number: statement_of(s.text, s.evidence)
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
    """Each statement stands under the sub-question of the first evidence that it cites, one
    without under that of the statement before it.
    """
    said = [cited(text, ledger) for text in answer.statements]
    sections: dict[str, list[Statement]] = {}
    aspect_id = next(iter(ledger.aspects))
    for statement in filter(_says, said):
        aspect_id = aspect_of(statement, ledger) or aspect_id
        sections.setdefault(aspect_id, []).append(statement)
    short = [_short(ledger, text, said) for text in answer.short_answer]
    return Draft(
        tuple(filter(_says, filter(None, short))),
        tuple(Section(i, tuple(part)) for i, part in sections.items()),
    )


def _short(ledger: Ledger, text: str, said: Sequence[Statement]) -> Statement | None:
    """A statement by its number, or a sentence of its own; None for a number without one."""
    number = text.strip(" []")
    if not number.isdecimal():
        return cited(text, ledger)
    return said[int(number) - 1] if 0 < int(number) <= len(said) else None


def _says(statement: Statement) -> bool:
    return bool(statement.text)
