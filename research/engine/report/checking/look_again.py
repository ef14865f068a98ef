"""The call of the task `last_look`: which passages of read pages tell a point after all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

from pydantic import Field

from research.engine.evidence.claims.names import adds_nothing_to
from research.engine.evidence.store import Finding
from research.engine.journal.forms import Form
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
from research.engine.offline.passages.open_points import closest_passages, numbers_shown
from research.engine.ports import Page, ToolFailedError
from research.engine.records import OpenPoint
from research.engine.report.draft import Statement, without_ids
from research.engine.report.parts.subjects import needs_before
from research.engine.rounds.findings import Reading
from research.engine.run import Run
from research.engine.text.language import language_of
from research.engine.text.offload import run_in_thread, run_in_thread_if_long
from research.engine.text.sentences import Sentence, split_sentences
from research.engine.text.similarity import COPIED
from research.engine.text.tokens import words_in
from research.engine.threads.seed import is_rejected
from research.engine.untrusted.prompt_injection import only_quoted
from research.engine.untrusted.screening import suspicious_pages

MOST_FINDINGS = 2
"""Most findings that are kept on one point."""
LONGER = 4
"""Most words that the rest of a point may have more than the point."""
MOST_BEFORE = 2
"""Most sentences that are shown before one that refers back to them."""
SAMPLE = 2000
"""Characters of a page from which its language is detected."""


class LookFinding(Answer):
    point: int
    claim: str
    sentences: list[int]


class LookAnswer(Answer):
    """`whole` are the numbers of the points that the findings tell in full."""

    findings: list[LookFinding]
    whole: list[int] = Field(default_factory=list)


class LeftOfPoint(Answer):
    point: int
    text: str


class EditedLookAnswer(LookAnswer):
    """`left` words what is still open of points that are told in part."""

    left: list[LeftOfPoint] = Field(default_factory=list)


LAST_LOOK = Task("last_look", LookAnswer, 1500, role="reader")
EDITED_LOOK = replace(LAST_LOOK, answer=EditedLookAnswer)


@dataclass(frozen=True)
class Found:
    """A finding on a point. `refused` is the model's claim if the quote replaced it, else ""."""

    point: OpenPoint
    finding: Finding
    refused: str = ""


@dataclass(frozen=True)
class Looked:
    """Findings, the points that are told in full, and what is left of some that aren't."""

    found: Sequence[Found] = ()
    settled: Set[OpenPoint] = frozenset()
    left: Mapping[OpenPoint, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Closest:
    """The points that some page may tell, by their numbers in the prompt, the pages, and the
    sentences left out of each.
    """

    points: Mapping[int, OpenPoint]
    pages: list[Page]
    left_out: Mapping[str, Set[int]]

    def numbered(
        self, question: str, room: int | None = None, copied_share: float = COPIED
    ) -> list[PromptPage]:
        """Return the sentences that are not left out as a prompt shows them."""
        aims = (question, *(point.text for point in self.points.values()))
        return number_sentences(
            self.pages, aims, room, copied_share, whole=True, known=self.left_out, pointed=True
        )


async def look_once_more(
    run: Run, points: Sequence[OpenPoint], told_on: Mapping[OpenPoint, Sequence[Statement]]
) -> Looked:
    """Return checked findings on open points and what is left of these, without a call where no
    passage may tell one. `told_on` are the statements shown beside each.

    Pages with instructions are left out, and so are sentences that may only be quoted. Raises
    `TaskFailedError`, and `ToolFailedError` for an unexpected error of the search.
    """
    known = list(run.ledger.pages.values())
    suspicious = await suspicious_pages(known, run.question.text)
    pages = [page for page in known if page not in suspicious]
    asked = {each.aspect_id: run.ledger.aspects[each.aspect_id].text for each in points}
    is_edited = run.form >= Form.EDITED
    with contain_errors("last look", ToolFailedError(UNEXPECTED)):
        closest = await run_in_thread_if_long(
            pages, closest_sentences, pages, points, asked, run.question.text, is_edited
        )
    if not closest.points:
        return Looked()
    answer, lines = await _ask(run, closest, told_on)
    return await run_in_thread(_checked, run, closest.points, answer, lines, told_on)


def closest_sentences(
    pages: Sequence[Page],
    points: Sequence[OpenPoint],
    asked: Mapping[str, str],
    question: str,
    follows_back: bool = True,
) -> Closest:
    """Return the sentences of pages closest to the points on sub-questions, `asked` by id; one that
    refers back with those before it, if it `follows_back`.
    """
    sought = [(f"{each.text} {each.words}".strip(), asked[each.aspect_id]) for each in points]
    found = closest_passages(pages, sought)
    near = numbers_shown([passage for passages in found for passage in passages])
    chosen, left_out = list[Page](), dict[str, Set[int]]()
    for page in (page for page in pages if page.url in near):
        every = split_sentences(page.text)
        shown = near[page.url]
        if follows_back:
            shown = with_sentences_before(every, shown, language_of(page.text[:SAMPLE]))
        shown -= only_quoted(every, question)
        if shown:
            chosen.append(page)
            left_out[page.url] = {each.number for each in every} - shown
    told = [point for point, passages in zip(points, found, strict=True) if passages and chosen]
    return Closest(dict(enumerate(told, 1)), chosen, left_out)


def with_sentences_before(
    every: Sequence[Sentence], shown: frozenset[int], language: str
) -> frozenset[int]:
    """Return the numbers of the sentences that are shown, and of those before them in the same
    block that they refer back to.
    """
    before = {after.number: each for each, after in pairwise(every) if each.block == after.block}
    more = set(shown)
    for first in (each for each in every if each.number in shown):
        each = first
        for _ in range(MOST_BEFORE):
            if each.number not in before or not needs_before(each.text, language):
                break
            each = before[each.number]
            more.add(each.number)
    return frozenset(more)


async def _ask(
    run: Run, closest: Closest, told_on: Mapping[OpenPoint, Sequence[Statement]]
) -> tuple[LookAnswer, dict[int, NumberedSentence]]:
    ledger, fence = run.ledger, fences(run)
    about = {point.aspect_id for point in closest.points.values()}
    is_edited = run.form >= Form.EDITED

    def context(room: int) -> dict[str, Any]:
        sheets = closest.numbered(run.question.text, room, run.rules.near_copy_share)
        return {
            "question": run.question.text,
            "today": run.question.today,
            "instructions": ledger.instructions,
            "aspects": [part for part in ledger.aspects.values() if part.id in about],
            "points": closest.points,
            "told_on": told_on,
            "words_left": is_edited,
            "fence": fence,
            "sheets": sheets,
            "has_names": any(e.heading or e.term for sheet in sheets for e in sheet.lines),
        }

    place = f"{run.report_place}/last_look"
    task = EDITED_LOOK if is_edited else LAST_LOOK
    answer, shown = await ask_fitting(run, place, task, context, pages=closest.pages)
    return answer, {line.number: line for sheet in shown["sheets"] for line in sheet.lines}


def _checked(
    run: Run,
    points: Mapping[int, OpenPoint],
    answer: LookAnswer,
    lines: Mapping[int, NumberedSentence],
    told_on: Mapping[OpenPoint, Sequence[Statement]],
) -> Looked:
    """Return what the pages carry of an answer; what they don't is counted as refused, and leaves
    its point open.
    """
    kept: list[Found] = []
    partial = set[OpenPoint]()
    told = Counter[int]()
    is_edited = run.form >= Form.EDITED
    for said in answer.findings:
        point = points.get(said.point)
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
            refuses_by=run.refuses_findings_by if is_edited else "likeness",
            in_context=is_edited,
        )
        found = [
            each
            for each in reading.findings
            if "dictated" not in each.uncertainty
            and not is_rejected(each.source, run.ledger.rejected)
        ]
        run.journal.meter.usage.refused_quotes += len(reading.refusals)
        refused = said.claim if is_edited and reading.refusals else ""
        told[said.point] += len(found)
        kept += [Found(point, each, refused) for each in found]
        if not found:
            partial.add(point)
    shown = {n for n, point in points.items() if told[n] or told_on[point]}
    settled = {points[n] for n in answer.whole if n in shown} - partial
    left = dict[OpenPoint, str]()
    for each in answer.left if isinstance(answer, EditedLookAnswer) else ():
        point = points.get(each.point)
        if point and each.point in shown and point not in {*partial, *settled}:
            left[point] = _left_of(run, point, each.text, told_on[point])
    return Looked(kept, settled, left)


def _left_of(run: Run, point: OpenPoint, text: str, told: Sequence[Statement]) -> str:
    """Return what is left of a point in the words of the model; the point as it is where these are
    too many, or have a name or number that neither it nor what is told on it has.
    """
    said = run.admitted(without_ids(text))
    known = " ".join((run.question.text, point.text, *(each.body for each in told)))
    is_brief = words_in(said) <= words_in(point.text) + LONGER
    is_known = bool(said) and adds_nothing_to(said, known, run.ledger.plan.language)
    return said if is_known and is_brief else point.text
