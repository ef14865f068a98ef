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
from research.engine.report.outline import OutlinePart, make_outline
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
    """A section that is being drafted."""

    part: OutlinePart
    place: str
    task: Task[SectionAnswer]
    shown: Context


async def write_sections(run: Run) -> Draft:
    """Return the model's sections; one that fails is made of quotations, the others stay."""
    outline = make_outline(run.ledger, usable_evidence(run.ledger), run.limits.words[1])
    window = await run.context_tokens()
    begun = [_begin_section(run, part, outline, window) for part in outline]
    quoted = drafting.draft_offline(run.ledger)
    passages = {section.aspect_id: section for section in quoted.sections}
    growing, sections = DraftStream(run), []
    for each in begun:
        aspect = each.part.aspect
        growing.go_on(aspect.text)
        section = await _take_section(run, each, growing) or passages.get(aspect.id)
        if section is not None:
            sections.append(section)
    return Draft((), tuple(sections))


def _begin_section(
    run: Run, part: OutlinePart, outline: Sequence[OutlinePart], window: int | None
) -> _Begun:
    place = f"{run.report_place}/section/{part.aspect.id}"
    task, shown = fit_task(run, SECTION, partial(_section_context, run, part, outline), window)
    run.journal.begin_model(place, request_for(run.journal, task, shown))
    return _Begun(part, place, task, shown)


async def _take_section(run: Run, begun: _Begun, growing: DraftStream) -> Section | None:
    attempts = run.config.max_model_attempts
    try:
        answer = await ask_model(run.journal, attempts, begun.place, begun.task, begun.shown)
    except TaskFailed as failed:
        run.fell_back(SECTION.name, failed.cause)
        return None
    growing.hear(json.dumps({"statements": answer.statements}))
    growing.tell()
    said = statements_of(run.ledger, answer.statements, answer.computed)
    return Section(begun.part.aspect.id, tuple(said)) if said else None


def _section_context(
    run: Run, part: OutlinePart, outline: Sequence[OutlinePart], room: int
) -> dict[str, Any]:
    ledger = run.ledger
    own = {record.id for record in part.records}
    return {
        "question": run.question.text,
        "today": run.question.today,
        "language": ledger.plan.language,
        "scope": ledger.plan.scope,
        "output_format": wanted_form(run.shape, ledger.plan.output_format),
        "part": part,
        "outline": outline,
        "evidence": most_relevant(part.records, room),
        "fence": fences(run),
        "is_brief": run.form >= Form.FIRST_SEEN,
        "disputes": [pair for pair in newest_disputes(ledger) if pair[0].id in own],
        "length": f"at most {part.words}",
    }


# --- the summary ----------------------------------------------------------------------------


async def write_summary(run: Run, draft: Draft) -> tuple[Statement, ...]:
    """Return the summary of a checked draft, which cites nothing but what its statements cite; ()
    where the model gives none.
    """
    shown = [
        (section.aspect_id, statement)
        for section in draft.sections
        for statement in [s for s in section.statements if s.evidence][:SUMMARY_SHOWN]
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
