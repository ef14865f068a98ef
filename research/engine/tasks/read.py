"""Task `read`: what the fetched pages of one unit say on the sub-questions.

The model points at numbered sentences and never retypes a quote; code takes the quote out
of the stored page and compares the claim with it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from research.engine.findings import Asked, Reading, check_finding
from research.engine.ledger import Lead
from research.engine.records import Aspect
from research.engine.run import Run
from research.engine.sheets import Numbered, number_sentences
from research.engine.tasks.answers import Answer, id_in
from research.engine.tasks.ask import Task, TaskFailed
from research.engine.tasks.fitting import ask_fitting
from research.engine.tasks.passages import read_extractively
from research.engine.tasks.small import read as small
from research.engine.tools import Page


class ReadFinding(Answer):
    claim: str
    sentences: list[int]
    sub_question: str


class ReadLead(Answer):
    topic: str
    query: str
    sentence: int


class ReadAnswer(Answer):
    findings: list[ReadFinding]
    leads: list[ReadLead]


TASK = Task("read", ReadAnswer, 3000, role="reader")
MOST_LEADS = 12


async def read(
    run: Run, place: str, asked: Asked, pages: Sequence[Page], aspects: Sequence[Aspect]
) -> Reading:
    """Findings and leads of the pages of one unit; falls back to the extractive reader."""
    if run.is_small:
        return await small.read(run, place, asked, pages, aspects)
    if run.has_model and pages:
        try:
            return await _read_with_model(run, place, asked, pages, aspects)
        except TaskFailed as failed:
            run.fell_back(TASK.name, failed.cause)
    return await read_extractively(run, pages, aspects)


async def _read_with_model(
    run: Run, place: str, asked: Asked, pages: Sequence[Page], aspects: Sequence[Aspect]
) -> Reading:
    def context(room: int) -> dict[str, Any]:
        return {
            "question": run.question.text,
            "today": run.question.today,
            "topic": asked.topic,
            "queries": asked.queries,
            "reason": asked.reason,
            "aspects": aspects,
            "sheets": number_sentences(pages, asked.aims(run.question.text), room),
        }

    answer, shown = await ask_fitting(run, place, TASK, context)
    lines = {line.number: line for sheet in shown["sheets"] for line in sheet.lines}
    known = {aspect.id: aspect for aspect in aspects}
    result, taken = Reading(), Counter[str]()
    for found in answer.findings:
        pointed = [lines[n] for n in found.sentences if n in lines]
        aspect = known.get(id_in(found.sub_question), aspects[0])
        for url, said in _by_page(pointed).items():
            taken[url] += 1
            if taken[url] <= run.config.max_evidence_claims_per_research_unit:
                check_finding(result, found.claim, said, aspect, run.question.text)
    for lead in answer.leads[:MOST_LEADS]:
        line = lines.get(lead.sentence)
        if line is not None and lead.topic.strip():
            query = lead.query.strip() or lead.topic
            result.leads.append(Lead(lead.topic.strip(), query, line.page.url, 1.0))
    return result


def _by_page(pointed: Sequence[Numbered]) -> dict[str, list[Numbered]]:
    """The sentences of each page, by its address; one empty place where there are none."""
    pages: dict[str, list[Numbered]] = {}
    for line in pointed:
        pages.setdefault(line.page.url, []).append(line)
    return pages or {"": []}
