"""Task `draft` for a small model: one sub-question at a time, from a handful of evidence."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any

from pydantic import Field

from research.engine.evidence.ledger import ANSWERING
from research.engine.llm_tasks.answers import Answer
from research.engine.llm_tasks.prompting.ask import Task, TaskFailed
from research.engine.llm_tasks.prompting.fences import fences
from research.engine.llm_tasks.prompting.fit_to_context import ask_fitting, most_relevant
from research.engine.llm_tasks.prompting.stream_draft import DraftStream
from research.engine.offline import drafting
from research.engine.records import Aspect
from research.engine.report.draft import Draft, Section, Statement
from research.engine.run import Run
from research.engine.text.tokens import normalise_space

EVIDENCE_SHOWN = 6
MOST_STATEMENTS = 4

RecordId = Annotated[str, Field(json_schema_extra={"maxLength": 8})]
"""Bounded, since a small model may repeat a token until its answer is cut off."""


class SmallStatement(Answer):
    text: Annotated[str, Field(json_schema_extra={"maxLength": 300})]
    evidence: Annotated[list[RecordId], Field(json_schema_extra={"maxItems": 2})]


class SmallDraft(Answer):
    statements: Annotated[
        list[SmallStatement], Field(json_schema_extra={"maxItems": MOST_STATEMENTS})
    ]


TASK = Task("draft", SmallDraft, 500, shown_answer=400, prompt="small/draft")


async def write_draft(run: Run) -> Draft:
    """Write one section per call; a section that the model fails on consists of quotations."""
    quoted = drafting.draft_offline(run.ledger)
    passages = {section.aspect_id: section for section in quoted.sections}
    sections, growing = [], DraftStream(run)
    for aspect in run.ledger.aspects.values():
        if aspect.state not in ANSWERING or aspect.id not in passages:
            continue
        if all(record.is_dictated for record in run.ledger.supporting(aspect.id)):
            sections.append(passages[aspect.id])
            continue
        try:
            sections.append(await _write_section(run, aspect, growing))
        except TaskFailed as failed:
            growing.hear("")
            run.fell_back(TASK.name, failed.cause)
            sections.append(passages[aspect.id])
    return replace(quoted, sections=tuple(sections))


async def _write_section(run: Run, aspect: Aspect, growing: DraftStream) -> Section:
    records = [r for r in run.ledger.statable if r.aspect_id == aspect.id]

    def context(room: int) -> dict[str, Any]:
        evidence = most_relevant(records, room, EVIDENCE_SHOWN)
        return {"sub_question": aspect.text, "evidence": evidence, "fence": fences(run)}

    place = f"{run.report_place}/draft/{aspect.id}"
    growing.go_on(aspect.text)
    answer, _ = await ask_fitting(run, place, TASK, context, growing.hear)
    growing.tell()
    said = [
        Statement(normalise_space(s.text), tuple(dict.fromkeys(i.strip("[] ") for i in s.evidence)))
        for s in answer.statements[:MOST_STATEMENTS]
        if s.text.strip()
    ]
    return Section(aspect.id, tuple(said))
