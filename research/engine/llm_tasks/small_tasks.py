"""Tasks for small models: short prompts with one question each and short, closed answers.

What a small model can't do is not asked of it: the marks of a round come from the ledger, and
a statement that its evidence does not carry is cut, not repaired.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Any

from pydantic import Field

from research.engine.assessment.assessment import Assessment, MissingInfo
from research.engine.assessment.gaps import same_gap
from research.engine.evidence.ledger import ANSWERING
from research.engine.evidence.store import Finding
from research.engine.llm_tasks.answers import Answer
from research.engine.llm_tasks.prompting.ask import Task, TaskFailedError, ask_model
from research.engine.llm_tasks.prompting.fences import fences
from research.engine.llm_tasks.prompting.fit_to_context import ask_fitting, most_relevant
from research.engine.llm_tasks.prompting.prompt_pages import number_sentences
from research.engine.llm_tasks.prompting.stream_draft import DraftStream
from research.engine.offline import drafting, judging
from research.engine.offline.passages.reading import read_extractively
from research.engine.offline.planning import Understood, from_wording
from research.engine.ports import Page
from research.engine.records import Aspect, PlannedAspect
from research.engine.report.draft import Draft, Section, Statement
from research.engine.report.parts.inline_quotes import quotable_parts
from research.engine.rounds.findings import Asked, Reading
from research.engine.run import Run
from research.engine.text.offload import run_in_thread_if_long
from research.engine.text.relevance import page_relevance
from research.engine.text.similarity import find_twin, jaccard
from research.engine.text.tokens import normalise_space, term_set

MOST_PARTS = 2
TOO_ALIKE = 0.6


class SmallIntake(Answer):
    query: Annotated[str, Field(json_schema_extra={"maxLength": 100})]
    parts: Annotated[
        list[Annotated[str, Field(json_schema_extra={"maxLength": 120})]],
        Field(json_schema_extra={"maxItems": MOST_PARTS}),
    ]


INTAKE = Task("intake", SmallIntake, 200, shown_answer=300, prompt="small/intake")


async def understand_question(
    run: Run, place: str, clarifications: tuple[str, ...], comment: str
) -> Understood:
    """Return the plan by the question's wording, with the model's query and its further parts.

    A part without a word of the question, or almost the question itself, is left out.
    """
    worded = from_wording(run.question.text, clarifications, comment, run.usual_language)
    asked = " ".join((run.question.text, *clarifications, comment)).strip()
    try:
        answer = await ask_model(
            run.journal, run.config.max_model_attempts, place, INTAKE, {"question": asked}
        )
    except TaskFailedError as failed:
        run.fell_back(INTAKE.name, failed.cause)
        return worded
    first, *others = worded.aspects
    if term_set(answer.query) & term_set(asked):
        first = replace(first, query=normalise_space(answer.query))
    parts = _further_parts(asked, [normalise_space(part) for part in answer.parts[:MOST_PARTS]])
    return replace(worded, aspects=(first, *others, *(PlannedAspect(p, p) for p in parts)))


def _further_parts(asked: str, parts: list[str]) -> list[str]:
    taken, further = [term_set(asked)], list[str]()
    for part in parts:
        words = term_set(part)
        if words & taken[0] and all(jaccard(words, other) < TOO_ALIKE for other in taken):
            taken.append(words)
            further.append(part)
    return further


PAGE_CHARACTERS = 2400
MOST_FINDINGS = 3


class SmallFinding(Answer):
    sentence: int
    claim: Annotated[str, Field(json_schema_extra={"maxLength": 240})]


class SmallRead(Answer):
    findings: Annotated[list[SmallFinding], Field(json_schema_extra={"maxItems": MOST_FINDINGS})]


READ = Task("read", SmallRead, 400, "reader", shown_answer=400, prompt="small/read")


async def read_unit_pages(
    run: Run, place: str, asked: Asked, pages: Sequence[Page], aspects: Sequence[Aspect]
) -> Reading:
    """Read each page in one call; a page that the model fails on is read by code."""
    together = Reading()
    for number, page in enumerate(pages, 1):
        try:
            result = await _read_page(run, f"{place}/{number}", asked, page, aspects)
        except TaskFailedError as failed:
            run.fell_back(READ.name, failed.cause)
            result = await read_extractively(run, [page], aspects)
        together.take(result)
    return together


async def _read_page(
    run: Run, place: str, asked: Asked, page: Page, aspects: Sequence[Aspect]
) -> Reading:
    fence = fences(run, [page])

    def context(room: int) -> dict[str, Any]:
        room = min(room, PAGE_CHARACTERS)
        sheets = number_sentences([page], asked.aims(run.question.text), room)
        return {
            "question": run.question.text,
            "instructions": run.ledger.instructions,
            "topic": asked.told,
            "fence": fence,
            "sheets": sheets,
        }

    answer, shown = await ask_fitting(run, place, READ, context, pages=[page])
    lines = {line.number: line for sheet in shown["sheets"] for line in sheet.lines}
    result = Reading()
    for found in answer.findings[:MOST_FINDINGS]:
        pointed = [lines[found.sentence]] if found.sentence in lines else []
        aspect = _nearest_aspect(pointed[0].sentence.text if pointed else "", page, aspects)
        run.rules.check_finding(result, found.claim, pointed, aspect, run.question.text, 1)
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


FINDINGS_SHOWN = 8
SEARCHES_SHOWN = 8


class SmallAssessment(Answer):
    enough: bool
    missing: Annotated[str, Field(json_schema_extra={"maxLength": 120})]
    query: Annotated[str, Field(json_schema_extra={"maxLength": 100})]


ASSESS = Task("assess", SmallAssessment, 200, "evaluator", 300, "small/assess")


async def assess_ledger(run: Run, place: str) -> Assessment:
    """Return the ledger's own judgement, with the gap that the model names."""
    ledger = run.ledger
    judged = await run_in_thread_if_long(
        ledger.pages.values(), judging.judge_ledger, ledger, run.limits
    )

    def context(room: int) -> dict[str, Any]:
        return {
            "question": run.question.text,
            "instructions": ledger.instructions,
            "findings": most_relevant(ledger.statable, room, FINDINGS_SHOWN),
            "only_quoted": quotable_parts(ledger),
            "fence": fences(run),
            "searched": list(ledger.queries)[-SEARCHES_SHOWN:],
        }

    try:
        answer, _ = await ask_fitting(run, place, ASSESS, context)
    except TaskFailedError as failed:
        run.fell_back(ASSESS.name, failed.cause)
        return judged
    gaps = (*judged.gaps, *_named_gap(run, judged, answer))
    return replace(judged, gaps=gaps, by_model=True, is_marked_by_code=True)


def _named_gap(run: Run, judged: Assessment, answer: SmallAssessment) -> tuple[MissingInfo, ...]:
    """Return the model's gap if it relates to the question; it never keeps a run going."""
    query = run.admitted(answer.query)
    aspects = sorted(run.ledger.aspects, key=lambda aspect_id: aspect_id not in judged.unanswered)
    if answer.enough or not query or not term_set(query) & term_set(run.question.text):
        return ()
    threshold = run.config.duplicate_topic_similarity_threshold
    if find_twin(query, [gap.query for gap in judged.gaps], threshold):
        return ()
    text = run.admitted(answer.missing) or query
    known = same_gap(run.ledger, text, query, threshold)
    return (MissingInfo(text, query, aspects[0], False, gap_id=known),)


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


DRAFT = Task("draft", SmallDraft, 500, shown_answer=400, prompt="small/draft")


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
        except TaskFailedError as failed:
            growing.hear("")
            run.fell_back(DRAFT.name, failed.cause)
            sections.append(passages[aspect.id])
    return replace(quoted, sections=tuple(sections))


async def _write_section(run: Run, aspect: Aspect, growing: DraftStream) -> Section:
    records = [r for r in run.ledger.statable if r.aspect_id == aspect.id]

    def context(room: int) -> dict[str, Any]:
        evidence = most_relevant(records, room, EVIDENCE_SHOWN)
        return {
            "sub_question": aspect.text,
            "instructions": run.ledger.instructions,
            "evidence": evidence,
            "fence": fences(run),
        }

    place = f"{run.report_place}/draft/{aspect.id}"
    growing.go_on(aspect.text)
    answer, _ = await ask_fitting(run, place, DRAFT, context, growing.hear)
    growing.tell()
    said = [
        Statement(normalise_space(s.text), tuple(dict.fromkeys(i.strip("[] ") for i in s.evidence)))
        for s in answer.statements[:MOST_STATEMENTS]
        if s.text.strip()
    ]
    return Section(aspect.id, tuple(said))
