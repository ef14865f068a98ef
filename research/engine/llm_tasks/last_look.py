"""Task `last_look`: whether pages that were read tell what the author of a report leaves open.

The author knows the findings only. Findings beyond the most that are kept of a page, and what was
never shown of a long page, are unknown to it. So code looks for each point in the whole texts of
the pages, and the model says in one call which of the closest passages tell a point. What it points
at is checked like any other finding.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

from research.engine.evidence.store import Finding
from research.engine.journal.model_calls import UNEXPECTED, contain_errors
from research.engine.llm_tasks.answers import Answer
from research.engine.llm_tasks.prompting.ask import Task
from research.engine.llm_tasks.prompting.fences import fences
from research.engine.llm_tasks.prompting.fit_to_context import ask_fitting
from research.engine.llm_tasks.prompting.prompt_pages import (
    NumberedSentence,
    PromptPage,
    number_sentences,
)
from research.engine.llm_tasks.read import MOST_QUOTES
from research.engine.offline.passages.open_points import numbers_shown, passages_on
from research.engine.offline.passages.passage_signs import PassageRanking
from research.engine.ports import Page, ToolFailedError
from research.engine.rounds.findings import Reading
from research.engine.run import Run
from research.engine.text.offload import run_in_thread, run_in_thread_if_long
from research.engine.text.sentences import split_sentences
from research.engine.text.similarity import COPIED
from research.engine.threads.seed import is_rejected
from research.engine.untrusted.prompt_injection import only_quoted
from research.engine.untrusted.screening import suspicious_pages

MOST_FINDINGS = 2
"""Findings on one point."""


class LookFinding(Answer):
    point: int
    claim: str
    sentences: list[int]


class LookAnswer(Answer):
    findings: list[LookFinding]


LAST_LOOK = Task("last_look", LookAnswer, 1500, role="reader")


@dataclass(frozen=True)
class OpenPoint:
    """A point that a report leaves open, numbered from 1, and its sub-question."""

    number: int
    aspect_id: str
    text: str


@dataclass(frozen=True)
class Closest:
    """The points that some page may tell, the pages, and the sentences left out of each."""

    points: list[OpenPoint]
    pages: list[Page]
    left_out: Mapping[str, Set[int]]

    def numbered(
        self, question: str, room: int | None = None, copied_share: float = COPIED
    ) -> list[PromptPage]:
        """Return the sentences that are not left out as a prompt shows them."""
        aims = (question, *(point.text for point in self.points))
        return number_sentences(
            self.pages, aims, room, copied_share, whole=True, known=self.left_out, pointed=True
        )


async def look_once_more(run: Run, points: Sequence[OpenPoint]) -> list[tuple[OpenPoint, Finding]]:
    """Return checked findings on open points, without a call where no passage may tell one.

    Pages with instructions are left out, and so are sentences that may only be quoted. Raises
    `TaskFailedError`, and `ToolFailedError` for an unexpected error of the search.
    """
    known = list(run.ledger.pages.values())
    suspicious = await suspicious_pages(known, run.question.text)
    pages = [page for page in known if page not in suspicious]
    asked = {each.aspect_id: run.ledger.aspects[each.aspect_id].text for each in points}
    with contain_errors("last look", ToolFailedError(UNEXPECTED)):
        closest = await run_in_thread_if_long(
            pages, closest_sentences, pages, points, asked, run.question.text
        )
    if not closest.points:
        return []
    answer, lines = await _ask(run, closest)
    return await run_in_thread(_checked, run, closest.points, answer, lines)


def closest_sentences(
    pages: Sequence[Page], points: Sequence[OpenPoint], asked: Mapping[str, str], question: str
) -> Closest:
    """Return the sentences of pages closest to the points on sub-questions, `asked` by id."""
    ranking = PassageRanking(pages)
    found = {each: passages_on(ranking, each.text, asked[each.aspect_id]) for each in points}
    shown = numbers_shown([passage for passages in found.values() for passage in passages])
    left_out: dict[str, Set[int]] = {}
    for page in (page for page in pages if page.url in shown):
        every = split_sentences(page.text)
        others = {each.number for each in every} - shown[page.url]
        left_out[page.url] = others | only_quoted(every, question)
    chosen = [page for page in pages if page.url in shown]
    return Closest([each for each in points if found[each]], chosen, left_out)


async def _ask(run: Run, closest: Closest) -> tuple[LookAnswer, dict[int, NumberedSentence]]:
    ledger, fence = run.ledger, fences(run)
    about = {point.aspect_id for point in closest.points}

    def context(room: int) -> dict[str, Any]:
        sheets = closest.numbered(run.question.text, room, run.rules.near_copy_share)
        return {
            "question": run.question.text,
            "today": run.question.today,
            "instructions": ledger.instructions,
            "aspects": [part for part in ledger.aspects.values() if part.id in about],
            "points": closest.points,
            "fence": fence,
            "sheets": sheets,
            "has_terms": any(line.term for sheet in sheets for line in sheet.lines),
        }

    place = f"{run.report_place}/last_look"
    answer, shown = await ask_fitting(run, place, LAST_LOOK, context, pages=closest.pages)
    return answer, {line.number: line for sheet in shown["sheets"] for line in sheet.lines}


def _checked(
    run: Run,
    points: Sequence[OpenPoint],
    answer: LookAnswer,
    lines: Mapping[int, NumberedSentence],
) -> list[tuple[OpenPoint, Finding]]:
    """Return what the pages carry of an answer; what they don't is counted as refused."""
    known = {point.number: point for point in points}
    kept: list[tuple[OpenPoint, Finding]] = []
    told = Counter[int]()
    for said in answer.findings:
        point = known.get(said.point)
        if point is None or told[said.point] == MOST_FINDINGS:
            continue
        pointed = [lines[n] for n in dict.fromkeys(said.sentences) if n in lines]
        reading = Reading()
        run.rules.check_finding(
            reading,
            said.claim,
            pointed,
            run.ledger.aspects[point.aspect_id],
            run.question.text,
            MOST_QUOTES,
            keeps_quotes=True,
        )
        found = [
            each
            for each in reading.findings
            if "dictated" not in each.uncertainty
            and not is_rejected(each.source, run.ledger.rejected)
        ]
        run.journal.meter.usage.refused_quotes += len(reading.refusals)
        told[said.point] += len(found)
        kept += [(point, each) for each in found]
    return kept
