"""Task `read` for a small model: one page at a time, a few findings of one sentence each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Any

from pydantic import Field

from research.engine.evidence.store import Finding
from research.engine.llm_tasks.answers import Answer
from research.engine.llm_tasks.passages import read_extractively
from research.engine.llm_tasks.prompting.ask import Task, TaskFailed
from research.engine.llm_tasks.prompting.fences import fences
from research.engine.llm_tasks.prompting.fit_to_context import ask_fitting
from research.engine.llm_tasks.prompting.prompt_pages import number_sentences
from research.engine.ports import Page
from research.engine.records import Aspect
from research.engine.rounds.findings import Asked, Reading
from research.engine.run import Run
from research.engine.text.relevance import page_relevance

PAGE_CHARACTERS = 2400
MOST_FINDINGS = 3


class SmallFinding(Answer):
    sentence: int
    claim: Annotated[str, Field(json_schema_extra={"maxLength": 240})]


class SmallRead(Answer):
    findings: Annotated[list[SmallFinding], Field(json_schema_extra={"maxItems": MOST_FINDINGS})]


TASK = Task("read", SmallRead, 400, "reader", shown_answer=400, prompt="small/read")


async def read_unit_pages(
    run: Run, place: str, asked: Asked, pages: Sequence[Page], aspects: Sequence[Aspect]
) -> Reading:
    """Read each page in one call; a page that the model fails on is read by code."""
    together = Reading()
    for number, page in enumerate(pages, 1):
        try:
            result = await _read_page(run, f"{place}/{number}", asked, page, aspects)
        except TaskFailed as failed:
            run.fell_back(TASK.name, failed.cause)
            result = await read_extractively(run, [page], aspects)
        together.take(result)
    return together


async def _read_page(
    run: Run, place: str, asked: Asked, page: Page, aspects: Sequence[Aspect]
) -> Reading:
    def context(room: int) -> dict[str, Any]:
        room = min(room, PAGE_CHARACTERS)
        sheets = number_sentences([page], asked.aims(run.question.text), room, form=run.form)
        return {
            "question": run.question.text,
            "topic": asked.topic,
            "fence": fences(run, [page]),
            "sheets": sheets,
        }

    answer, shown = await ask_fitting(run, place, TASK, context)
    lines = {line.number: line for sheet in shown["sheets"] for line in sheet.lines}
    result = Reading()
    for found in answer.findings[:MOST_FINDINGS]:
        pointed = [lines[found.sentence]] if found.sentence in lines else []
        aspect = _nearest_aspect(pointed[0].sentence.text if pointed else "", page, aspects)
        run.rules.check_finding(result, found.claim, pointed, aspect, run.question.text)
    result.findings = [_weigh_finding(finding, aspects) for finding in result.findings]
    return result


def _nearest_aspect(sentence: str, page: Page, aspects: Sequence[Aspect]) -> Aspect:
    """Return the sub-question closest to a sentence, because the model names none."""
    return max(aspects, key=lambda aspect: page_relevance(aspect.text, page.title, sentence))


def _weigh_finding(finding: Finding, aspects: Sequence[Aspect]) -> Finding:
    """Return the quote's closeness to its sub-question; the model's choice alone is unreliable."""
    source = finding.source
    [wanted] = [aspect.text for aspect in aspects if aspect.id == finding.aspect_id]
    return replace(finding, relevance=page_relevance(wanted, source.title, source.quote))
