"""Tasks `section` and `summary`: a long report, drafted in sections side by side.

Each section has a place of its own in the journal and owns its evidence. All calls are reserved
in the order of the sub-questions before the first answer is there, and taken in that order.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from pydantic import Field

from research.engine.evidence.ledger import ANSWERING
from research.engine.journal.forms import Form
from research.engine.llm_tasks.answers import Answer
from research.engine.llm_tasks.assess import newest_disputes
from research.engine.llm_tasks.draft import ComputedStatement, statements_of, usable_evidence
from research.engine.llm_tasks.prompting.ask import Task, TaskFailed, ask_model, request_for
from research.engine.llm_tasks.prompting.fences import fences
from research.engine.llm_tasks.prompting.fit_to_context import (
    Context,
    ask_fitting,
    fit_task,
    most_relevant,
)
from research.engine.llm_tasks.prompting.stream_draft import DraftStream
from research.engine.offline import drafting
from research.engine.report.draft import Draft, Section, Statement, without_ids
from research.engine.report.outline import OutlinePart, group_parts, make_outline
from research.engine.report.parts.main_findings import MainFindings
from research.engine.report.report_format import wanted_form
from research.engine.run import Run

SUMMARY_WORDS_OF_A_PART = 30
SUMMARY_SHOWN = 8
"""Statements of each section that the summary is written from."""
_NUMBERS = re.compile(r" ?\[[\d,; ]{1,80}\]")  # "… in 1889. [1, 4]"


class SectionAnswer(Answer):
    """Sentences with the ids that carry them in brackets, as in a draft."""

    statements: list[str]
    computed: list[ComputedStatement] = Field(default_factory=list)


class SummaryAnswer(Answer):
    """Sentences with the numbers of the statements that they rest on in brackets."""

    sentences: list[str]


SECTION = Task("section", SectionAnswer, 2500)
SUMMARY = Task("summary", SummaryAnswer, 1500)


@dataclass(frozen=True)
class _Begun:
    """Sections that are being drafted, one as a rule."""

    parts: tuple[OutlinePart, ...]
    place: str
    task: Task[SectionAnswer]
    shown: Context


async def write_sections(run: Run) -> Draft:
    """Return the model's sections; what fails is made of quotations, the others stay."""
    outline = make_outline(run.ledger, usable_evidence(run.ledger), run.limits.words[1])
    window = await run.context_tokens()
    groups = group_parts(outline) if run.form >= Form.DENSE else [(part,) for part in outline]
    begun = [_begin_sections(run, group, outline, window) for group in groups]
    quoted = drafting.draft_offline(run.ledger)
    passages = {section.aspect_id: section for section in quoted.sections}
    growing, sections = DraftStream(run), dict[str, Section]()
    for each in begun:
        growing.go_on(each.parts[0].aspect.text)
        sections |= await _take_sections(run, each, growing)
    found = (sections.get(i) or passages.get(i) for i in (part.aspect.id for part in outline))
    return Draft((), tuple(filter(None, found)))


def _begin_sections(
    run: Run, parts: tuple[OutlinePart, ...], outline: Sequence[OutlinePart], window: int | None
) -> _Begun:
    place = f"{run.report_place}/section/{parts[0].aspect.id}"
    task, shown = fit_task(run, SECTION, partial(_section_context, run, parts, outline), window)
    run.journal.begin_model(place, request_for(run.journal, task, shown))
    return _Begun(parts, place, task, shown)


async def _take_sections(run: Run, begun: _Begun, growing: DraftStream) -> dict[str, Section]:
    """Return the sections by sub-question; a statement belongs where its first evidence does, and
    without any to the section of the one before.
    """
    attempts = run.config.max_model_attempts
    try:
        answer = await ask_model(run.journal, attempts, begun.place, begun.task, begun.shown)
    except TaskFailed as failed:
        run.fell_back(SECTION.name, failed.cause)
        return {}
    growing.hear(json.dumps({"statements": answer.statements}))
    growing.tell()
    owners = {record.id: part.aspect.id for part in begun.parts for record in part.records}
    sections: dict[str, list[Statement]] = {}
    owner = begun.parts[0].aspect.id
    for said in statements_of(run.ledger, answer.statements, answer.computed):
        owner = next((owners[i] for i in said.evidence if i in owners), owner)
        sections.setdefault(owner, []).append(said)
    return {i: Section(i, tuple(said)) for i, said in sections.items()}


def _section_context(
    run: Run, parts: Sequence[OutlinePart], outline: Sequence[OutlinePart], room: int
) -> dict[str, Any]:
    ledger = run.ledger
    owners = {record.id: part.aspect.id for part in parts for record in part.records}
    records = [record for part in parts for record in part.records]
    return {
        "question": run.question.text,
        "today": run.question.today,
        "language": ledger.plan.language,
        "scope": ledger.plan.scope,
        "output_format": wanted_form(run.shape, ledger.plan.output_format),
        "parts": parts,
        "owners": owners,
        "outline": outline,
        "evidence": most_relevant(records, room),
        "fence": fences(run),
        "is_brief": run.form >= Form.FIRST_SEEN,
        "disputes": [pair for pair in newest_disputes(ledger) if pair[0].id in owners],
        "length": f"at most {sum(part.words for part in parts)}",
    }


# --- the summary ----------------------------------------------------------------------------


async def write_summary(run: Run, draft: Draft) -> tuple[Statement, ...]:
    """Return the summary of a checked draft, which cites nothing but what its statements cite; ()
    where the model gives none.
    """
    main = MainFindings(run.ledger) if run.form >= Form.DIRECT else None
    shown = [
        (section.aspect_id, statement)
        for section in draft.sections
        for statement in _shown_of(section, main)[:SUMMARY_SHOWN]
    ]
    place = f"{run.report_place}/summary"
    run.report_action("Writing the summary")
    try:
        answer, _ = await ask_fitting(
            run, place, SUMMARY, lambda room: _summary_context(run, shown, room)
        )
    except TaskFailed as failed:
        run.fell_back(SUMMARY.name, failed.cause)
        return ()
    statements = [statement for _, statement in shown]
    return tuple(filter(None, (_summarised(text, statements) for text in answer.sentences)))


def _shown_of(section: Section, main: MainFindings | None) -> list[Statement]:
    """Return the cited statements of a section, those first that answer most directly; earlier runs
    show them as they stand.
    """
    cited = [said for said in section.statements if said.evidence]
    best = main.ranked(section) if main else []
    return [*best, *(said for said in cited if said not in best)]


def _summary_context(run: Run, shown: Sequence[tuple[str, Statement]], room: int) -> dict[str, Any]:
    ledger, kept = run.ledger, []
    for number, (aspect_id, statement) in enumerate(shown, 1):
        room -= len(statement.text)
        if room >= 0:
            kept.append((number, aspect_id, statement))
    parts = [aspect for aspect in ledger.aspects.values() if aspect.state in ANSWERING]
    return {
        "question": run.question.text,
        "language": ledger.plan.language,
        "aspects": parts,
        "statements": kept,
        "fence": fences(run),
        "is_direct": run.form >= Form.DIRECT,
        "length": f"at most {SUMMARY_WORDS_OF_A_PART * max(2, len(parts))}",
    }


def _summarised(text: str, statements: Sequence[Statement]) -> Statement | None:
    """Return a sentence of the summary with the evidence of the statements that it names; None
    where it names none.
    """
    named = [int(n) for group in _NUMBERS.findall(text) for n in re.findall(r"\d+", group)]
    known = [statements[n - 1] for n in named if 0 < n <= len(statements)]
    evidence = tuple(dict.fromkeys(i for each in known for i in each.evidence))
    plain = without_ids(_NUMBERS.sub("", text))
    return Statement(plain, evidence) if plain and evidence else None
