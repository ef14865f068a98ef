"""Task `draft` for a small model: one sub-question at a time, from a handful of evidence."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any

from pydantic import Field

from research.engine.draft import Draft, Section, Statement
from research.engine.extractive import drafting
from research.engine.ledger import ANSWERING
from research.engine.records import Aspect
from research.engine.run import Run
from research.engine.tasks.answers import Answer
from research.engine.tasks.ask import Task, TaskFailed
from research.engine.tasks.fitting import ask_fitting, most_relevant
from research.engine.tasks.growing import Growing
from research.engine.text import normalise

EVIDENCE_SHOWN = 6
MOST_STATEMENTS = 4


class SmallStatement(Answer):
    text: Annotated[str, Field(json_schema_extra={"maxLength": 300})]
    evidence: Annotated[list[str], Field(json_schema_extra={"maxItems": 2})]


class SmallDraft(Answer):
    statements: Annotated[
        list[SmallStatement], Field(json_schema_extra={"maxItems": MOST_STATEMENTS})
    ]


TASK = Task("draft", SmallDraft, 500, shown_answer=400, prompt="small/draft")


async def write(run: Run) -> Draft:
    """A section a call; one that the model fails on is made of quotations."""
    quoted = drafting.draft(run.ledger)
    passages = {section.aspect_id: section for section in quoted.sections}
    sections, growing = [], Growing(run)
    for aspect in run.ledger.aspects.values():
        if aspect.state not in ANSWERING or aspect.id not in passages:
            continue
        try:
            sections.append(await _section(run, aspect, growing))
        except TaskFailed as failed:
            growing.hear("")
            run.fell_back(TASK.name, failed.cause)
            sections.append(passages[aspect.id])
    return replace(quoted, sections=tuple(sections))


async def _section(run: Run, aspect: Aspect, growing: Growing) -> Section:
    records = [r for r in run.ledger.evidence if r.aspect_id == aspect.id]

    def context(room: int) -> dict[str, Any]:
        evidence = most_relevant(records, room, EVIDENCE_SHOWN)
        return {"sub_question": aspect.text, "evidence": evidence}

    place = f"{run.report_place}/draft/{aspect.id}"
    growing.go_on(aspect.text)
    answer, _ = await ask_fitting(run, place, TASK, context, growing.hear)
    growing.tell()
    said = [
        Statement(normalise(s.text), tuple(dict.fromkeys(i.strip("[] ") for i in s.evidence)))
        for s in answer.statements[:MOST_STATEMENTS]
        if s.text.strip()
    ]
    return Section(aspect.id, tuple(said))
