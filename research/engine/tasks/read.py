"""Task `read`: what the fetched pages of one unit say on the sub-questions.

The model points at numbered sentences and never retypes a quote; code takes the quote out
of the stored page and compares the claim with it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from research.engine.evidence import Finding
from research.engine.extractive import reading
from research.engine.extractive.answering import brings
from research.engine.findings import Reading, check_finding, doubts, quoted
from research.engine.ledger import SUPPORTS, Lead
from research.engine.records import Aspect
from research.engine.run import Run
from research.engine.sheets import number_sentences
from research.engine.tasks.ask import Answer, Task, TaskFailed, ask
from research.engine.tools import Page


class ReadFinding(Answer):
    claim: str
    sentences: list[int]
    sub_question: str
    names: list[str]
    dates: list[str]
    numbers: list[str]
    definitions: list[str]


class ReadLead(Answer):
    topic: str
    query: str
    sentence: int


class ReadAnswer(Answer):
    findings: list[ReadFinding]
    leads: list[ReadLead]


TASK = Task("read", ReadAnswer, 3000)
MOST_LEADS = 12
JUST_CLOSE = SUPPORTS - 0.01


async def read(
    run: Run, place: str, topic: str, pages: Sequence[Page], aspects: Sequence[Aspect]
) -> Reading:
    """Findings and leads of the pages of one unit; falls back to the extractive reader."""
    if run.has_model and pages:
        try:
            return await _read_with_model(run, place, topic, pages, aspects)
        except TaskFailed as failed:
            run.fell_back(TASK.name, failed.cause)
    return read_extractively(run, pages, aspects)


def read_extractively(run: Run, pages: Sequence[Page], aspects: Sequence[Aspect]) -> Reading:
    per_page = run.config.max_evidence_claims_per_research_unit
    asked = {aspect.id: aspect.text for aspect in aspects}
    scored = reading.read_pages(pages, aspects, per_page)
    return Reading([_weighed(_finding(item), asked[item.aspect_id]) for item in scored])


def _weighed(finding: Finding, asked: str) -> Finding:
    """A passage that lacks the date, number or name asked for comes close and supports nothing."""
    if brings(finding.source.quote, asked):
        return finding
    return replace(finding, relevance=min(finding.relevance, JUST_CLOSE))


def _finding(item: reading.Scored) -> Finding:
    """The passage as a claim in its own words, with the term that it defines."""
    passage = item.passage
    section = passage.section
    return Finding(
        claim=passage.claim,
        aspect_id=item.aspect_id,
        source=quoted(passage.page, passage.start, passage.end, section),
        relevance=item.score,
        uncertainty=doubts(passage.claim),
        also=(quoted(passage.page, *passage.label, section),) if passage.label else (),
    )


async def _read_with_model(
    run: Run, place: str, topic: str, pages: Sequence[Page], aspects: Sequence[Aspect]
) -> Reading:
    sheets = number_sentences(pages, f"{run.question.text} {topic}")
    answer = await ask(
        run.journal,
        run.config.max_model_attempts,
        place,
        TASK,
        {
            "question": run.question.text,
            "today": run.question.today,
            "topic": topic,
            "aspects": aspects,
            "sheets": sheets,
        },
    )
    lines = {line.number: line for sheet in sheets for line in sheet.lines}
    known = {aspect.id: aspect for aspect in aspects}
    result, taken = Reading(), Counter[str]()
    for found in answer.findings:
        aspect = known.get(found.sub_question, aspects[0])
        pointed = [lines[n] for n in found.sentences if n in lines]
        place = pointed[0].page.url if pointed else ""
        taken[place] += 1
        if taken[place] <= run.config.max_evidence_claims_per_research_unit:
            check_finding(result, found.claim, pointed, aspect, run.question.text)
    for lead in answer.leads[:MOST_LEADS]:
        line = lines.get(lead.sentence)
        if line is not None and lead.topic.strip():
            query = lead.query.strip() or lead.topic
            result.leads.append(Lead(lead.topic.strip(), query, line.page.url, 1.0))
    return result
