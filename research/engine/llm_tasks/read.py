"""Task `read`: findings of one unit's pages on the sub-questions.

The model refers to numbered sentences and never retypes a quote; code takes the quote from the
stored page and compares the claim with it.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from research.engine.evidence.ledger import Lead
from research.engine.journal.forms import Form
from research.engine.limits import LONG_PAGE_WORDS
from research.engine.llm_tasks.answers import Answer, id_in
from research.engine.llm_tasks.prompting.ask import Task, TaskFailedError
from research.engine.llm_tasks.prompting.fences import fences
from research.engine.llm_tasks.prompting.fit_to_context import ask_fitting
from research.engine.llm_tasks.prompting.prompt_pages import NumberedSentence, number_sentences
from research.engine.offline.passages.reading import read_extractively
from research.engine.ports import Page
from research.engine.records import Aspect
from research.engine.rounds.findings import BEYOND, Asked, Reading, Refusal, lines_that_carry
from research.engine.run import Run
from research.engine.text.offload import run_in_thread
from research.engine.text.tokens import words_in
from research.engine.untrusted.order_words import content_terms
from research.engine.untrusted.screening import suspicious_pages


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
MOST_LEADS, MOST_QUOTES = 12, 5
USUAL_CLAIMS, MANY_CLAIMS = "five from a page, ten from a long one", "ten from a page"
CLAIMS_ON_TOPICS = f"{USUAL_CLAIMS}, twenty from one on several sub-questions"
"""Where a page is shown for the topics of other units, too."""
CLAIMS_OF_FEW_PAGES = 2
"""By how much more claims are kept of a page where a broad question has few."""
CLAIMS_OF_LONG_PAGE = 2
"""By how much more of a long one where it has many, as the prompt tells the model."""
FEW_LINES, WISHED_OF_FEW, USUAL_WISHED, MOST_WISHED = 15, 5, 10, 20
"""Sentences of a page up to which the prompt asks for a few findings, this number of them, how many
it asks for if nothing stands beside a page, and the most that it asks for.
"""
GENEROUS = 2
"""By how much more findings of a page are kept than the prompt asks for."""


async def read_unit_pages(
    run: Run, place: str, asked: Asked, pages: Sequence[Page], aspects: Sequence[Aspect]
) -> Reading:
    """Return findings and leads of one unit's pages; rules read those that the model fails on.

    Pages with instructions are read alone, so that none affects what is noted of another, and those
    of the web only if the others leave the unit's sub-question open.
    """
    alone = await suspicious_pages(pages, run.question.text)
    others = [page for page in pages if page not in alone]
    groups = [group for group in (others, *([page] for page in alone)) if group]
    together = await _read_or_fall_back(run, place, asked, groups[0], aspects)
    further = groups[1:]
    if others and _is_settled(run, together, aspects[0]):
        own = [page for page in alone if run.form >= Form.EDITED and page.url.startswith("file:")]
        together.unread += [page.url for page in alone if page not in own]
        further = [[page] for page in own]
    readings = await asyncio.gather(
        *(
            _read_or_fall_back(run, f"{place}/apart/{number}", asked, group, aspects)
            for number, group in enumerate(further, 1)
        )
    )
    for reading in readings:
        together.take(reading)
    return together


def _is_settled(run: Run, reading: Reading, aspect: Aspect) -> bool:
    """Return whether enough independent sources answer a sub-question, with those known before."""
    found = [each for each in reading.findings if each.aspect_id == aspect.id]
    keys = {each.source.independence_key for each in found} | run.ledger.keys_of(aspect.id)
    return len(keys) >= run.limits.sources_per_aspect


async def _read_or_fall_back(
    run: Run, place: str, asked: Asked, pages: Sequence[Page], aspects: Sequence[Aspect]
) -> Reading:
    try:
        return await _read_with_model(run, place, asked, pages, aspects)
    except TaskFailedError as failed:
        run.fell_back(TASK.name, failed.cause)
        return await read_extractively(run, pages, aspects)


async def _read_with_model(
    run: Run, place: str, asked: Asked, pages: Sequence[Page], aspects: Sequence[Aspect]
) -> Reading:
    fence, instructions = fences(run, pages), run.ledger.instructions

    def context(room: int) -> dict[str, Any]:
        sheets = number_sentences(
            pages,
            asked.aims(run.question.text),
            room,
            run.rules.near_copy_share,
            only_near=True,
            whole=run.limits.notes > 1,
            beside=asked.beside,
            known=asked.known,
            pointed=True,
        )
        return {
            "claims": _wanted_claims(run, asked),
            "usual": USUAL_WISHED,
            "most": {
                sheet.page.url: wished_claims(run, len(sheet.lines), asked, sheet.page.url)
                for sheet in sheets
                if run.form >= Form.EDITED
            },
            "question": run.question.text,
            "today": run.question.today,
            "instructions": instructions,
            "topic": asked.told,
            "queries": asked.queries,
            "reason": asked.reason,
            "aspects": aspects,
            "fence": fence,
            "sheets": sheets,
            "has_names": any(e.heading or e.term for sheet in sheets for e in sheet.lines),
        }

    answer, shown = await ask_fitting(run, place, TASK, context, pages=pages)
    lines = {line.number: line for sheet in shown["sheets"] for line in sheet.lines}
    for line in lines.values():
        before = run.read_lines.get(line.page.url, frozenset())
        run.read_lines[line.page.url] = before | {line.sentence.number}
    result = await run_in_thread(
        _checked, run, asked, answer.findings, lines, aspects, shown["most"]
    )
    result.leads += _leads_of(run, answer.leads[:MOST_LEADS], lines)
    return result


def _checked(
    run: Run,
    asked: Asked,
    findings: Sequence[ReadFinding],
    lines: Mapping[int, NumberedSentence],
    aspects: Sequence[Aspect],
    wished: Mapping[str, int],
) -> Reading:
    """Return the findings that their pages carry, and the refusals; `wished` is how many the prompt
    asked for of each page.
    """
    known = {aspect.id: aspect for aspect in aspects}
    result, taken, beyond = Reading(), Counter[str](), dict[str, list[str]]()
    is_edited, question = run.form >= Form.EDITED, run.question.text
    for found in findings:
        pointed = [lines[n] for n in found.sentences if n in lines]
        aspect = known.get(id_in(found.sub_question), aspects[0])
        for url, said in _by_page(pointed).items():
            taken[url] += 1
            if taken[url] > _most_kept(run, asked, url, said, wished):
                beyond.setdefault(url, []).append(found.claim)
                continue
            tried: list[Sequence[NumberedSentence]] = [said]
            if is_edited and (told := with_neighbours(found.claim, said, lines, question)) != said:
                tried = [told, said]
            readings = [
                _check(run, found.claim, each, pointed, aspect, is_edited) for each in tried
            ]
            claim = " ".join(found.claim.split())
            kept = (each for each in readings if any(f.claim == claim for f in each.findings))
            result.take(next(kept, readings[0]))
    if is_edited:
        result.refusals += [
            Refusal(" ".join(claims[0].split()), url, BEYOND.format(n=len(claims)))
            for url, claims in beyond.items()
        ]
    return result


def _check(
    run: Run,
    claim: str,
    said: Sequence[NumberedSentence],
    pointed: Sequence[NumberedSentence],
    aspect: Aspect,
    is_edited: bool,
) -> Reading:
    """Return what becomes of a claim with these sentences of those that it points at, or beside
    them.
    """
    checked, question = Reading(), run.question.text
    run.rules.check_finding(
        checked,
        claim,
        lines_that_carry(claim, said, question, MOST_QUOTES, is_edited),
        aspect,
        question,
        MOST_QUOTES,
        refuses_by=run.refuses_findings_by,
        beside=pointed,
        in_context=is_edited,
    )
    return checked


def with_neighbours(
    said: str,
    lines: Sequence[NumberedSentence],
    shown: Mapping[int, NumberedSentence],
    question: str,
) -> Sequence[NumberedSentence]:
    """Return the sentences of a finding with those right after or before them in their section
    that have a word of its claim which they, their headings and the question lack. A model
    that says what three sentences say may point at two.
    """
    if not lines:
        return lines
    told = " ".join((*(f"{e.sentence.text} {e.sentence.section}" for e in lines), question))
    missing = content_terms(said) - content_terms(f"{told} {lines[0].page.title}")
    found = {line.number: line for line in lines}
    for line in lines:
        for step in (1, -1):
            beside = shown.get(line.number + step)
            if not missing or beside is None or beside.number in found or beside.dictated:
                continue
            own, other = line.sentence, beside.sentence
            is_near = other.number == own.number + step and other.section == own.section
            terms = content_terms(other.text) & missing
            if terms and is_near and beside.page is line.page:
                found[beside.number] = beside
                missing -= terms
    added = found.keys() - {line.number for line in lines}
    return [found[number] for number in sorted(found)] if added else lines


def _leads_of(
    run: Run, told: Sequence[ReadLead], lines: Mapping[int, NumberedSentence]
) -> Iterator[Lead]:
    """Yield the leads of sentences that were shown; what a page dictates is never looked up."""
    for lead in told:
        line = lines.get(lead.sentence)
        topic = run.admitted(lead.topic)
        if line is not None and not line.dictated and topic:
            yield Lead(topic, run.admitted(lead.query) or topic, line.page.url, 1.0)


def wished_claims(run: Run, lines: int, asked: Asked, url: str) -> int:
    """Return how many findings the prompt asks for of a page of which it shows so many sentences:
    more of a longer one, or one of few that are read for a broad question, and for each further
    topic that it is shown for.
    """
    is_long = lines > FEW_LINES or _has_few_pages(run)
    topics = len(asked.beside.get(url, ()))
    return min(MOST_WISHED, WISHED_OF_FEW * (1 + is_long + topics))


def _wanted_claims(run: Run, asked: Asked) -> str:
    """Return how many claims of a page the prompt asks for."""
    if _has_few_pages(run):
        return MANY_CLAIMS
    return CLAIMS_ON_TOPICS if asked.beside else USUAL_CLAIMS


def _most_kept(
    run: Run,
    asked: Asked,
    url: str,
    said: Sequence[NumberedSentence],
    wished: Mapping[str, int],
) -> int:
    """Return how many findings are kept of a page, `GENEROUS` times as many as the prompt `wished`;
    before `Form.EDITED`, which wishes none, as many as `most_claims`.
    """
    if url in wished:
        per_page = run.config.max_evidence_claims_per_research_unit
        return max(1, GENEROUS * wished[url] * per_page // WISHED_OF_FEW)
    return most_claims(run, said) * (1 + (url in asked.beside))


def most_claims(run: Run, said: Sequence[NumberedSentence]) -> int:
    """Return how many claims of a page are kept: more of a long one where the question is broad,
    and of each where a broad question has few pages. A broad run keeps half as many again as the
    prompt asks for, since a model that notes a few more has found them.
    """
    most = run.config.max_evidence_claims_per_research_unit
    if run.limits.notes > 1:
        most += most // 2
    if _has_few_pages(run):
        return most * CLAIMS_OF_FEW_PAGES
    is_long = bool(said) and words_in(said[0].page.text) > LONG_PAGE_WORDS
    return most * max(run.limits.long_page, CLAIMS_OF_LONG_PAGE) if is_long else most


def _has_few_pages(run: Run) -> bool:
    """Return whether few pages are read for many sub-questions, as in a quick run."""
    return run.config.research_depth == "quick" and run.limits.notes > 1


def _by_page(pointed: Sequence[NumberedSentence]) -> dict[str, list[NumberedSentence]]:
    """Return the sentences of each page by URL; one empty entry if there are none."""
    pages: dict[str, list[NumberedSentence]] = {}
    for line in pointed:
        pages.setdefault(line.page.url, []).append(line)
    return pages or {"": []}
