"""Task `read` for a small model: one page at a time, a few findings of one sentence each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Any

from pydantic import Field

from research.engine.evidence import Finding
from research.engine.findings import Asked, Reading, check_finding
from research.engine.records import Aspect
from research.engine.relevance import relevance
from research.engine.run import Run
from research.engine.sheets import number_sentences
from research.engine.tasks.answers import Answer
from research.engine.tasks.ask import Task, TaskFailed
from research.engine.tasks.fitting import ask_fitting
from research.engine.tasks.passages import read_extractively
from research.engine.tools import Page

PAGE_CHARACTERS = 2400
MOST_FINDINGS = 3


class SmallFinding(Answer):
    sentence: int
    claim: Annotated[str, Field(json_schema_extra={"maxLength": 240})]


class SmallRead(Answer):
    findings: Annotated[list[SmallFinding], Field(json_schema_extra={"maxItems": MOST_FINDINGS})]


TASK = Task("read", SmallRead, 400, "reader", shown_answer=400, prompt="small/read")


async def read(
    run: Run, place: str, asked: Asked, pages: Sequence[Page], aspects: Sequence[Aspect]
) -> Reading:
    """What each page says, a call a page; a page that the model fails on is read by code."""
    together = Reading()
    for number, page in enumerate(pages, 1):
        try:
            result = await _read_page(run, f"{place}/{number}", asked, page, aspects)
        except TaskFailed as failed:
            run.fell_back(TASK.name, failed.cause)
            result = await read_extractively(run, [page], aspects)
        together.findings += result.findings
        together.leads += result.leads
        together.refusals += result.refusals
    return together


async def _read_page(
    run: Run, place: str, asked: Asked, page: Page, aspects: Sequence[Aspect]
) -> Reading:
    def context(room: int) -> dict[str, Any]:
        room = min(room, PAGE_CHARACTERS)
        sheets = number_sentences([page], asked.aims(run.question.text), room)
        return {"question": run.question.text, "topic": asked.topic, "sheets": sheets}

    answer, shown = await ask_fitting(run, place, TASK, context)
    lines = {line.number: line for sheet in shown["sheets"] for line in sheet.lines}
    result = Reading()
    for found in answer.findings[:MOST_FINDINGS]:
        pointed = [lines[found.sentence]] if found.sentence in lines else []
        aspect = _nearest(pointed[0].sentence.text if pointed else "", page, aspects)
        check_finding(result, found.claim, pointed, aspect, run.question.text)
    result.findings = [_weighed(finding, aspects) for finding in result.findings]
    return result


def _nearest(sentence: str, page: Page, aspects: Sequence[Aspect]) -> Aspect:
    """The sub-question that a sentence is nearest to: the model doesn't say."""
    return max(aspects, key=lambda aspect: relevance(aspect.text, page.title, sentence))


def _weighed(finding: Finding, aspects: Sequence[Aspect]) -> Finding:
    """How near the quote is to its sub-question, for the model's choice alone says little."""
    source = finding.source
    [wanted] = [aspect.text for aspect in aspects if aspect.id == finding.aspect_id]
    return replace(finding, relevance=relevance(wanted, source.title, source.quote))
