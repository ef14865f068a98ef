"""Task `last_look`: whether pages that were read tell what the author of a report leaves open.

The author knows the findings only. Findings beyond the most that are kept of a page, and what was
never shown of a long page, are unknown to it. So code looks for each point in the whole texts of
the pages, and the model says in one call which of the closest passages tell a point. What it points
at is checked like any other finding, and stands in the section of its sub-question as a statement,
which is checked with those of the draft.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import Any

from pydantic import Field

from research.engine.evidence.ledger import Ledger
from research.engine.evidence.store import Finding
from research.engine.journal.forms import Form
from research.engine.journal.model_calls import UNEXPECTED, contain_errors
from research.engine.llm_tasks.answers import Answer
from research.engine.llm_tasks.prompting.ask import Task, TaskFailedError
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
from research.engine.records import Evidence, OpenPoint
from research.engine.report.draft import Draft, Section, Statement
from research.engine.report.key_claims import is_led
from research.engine.report.parts.dating import with_previous_values
from research.engine.report.parts.headings import headings_of
from research.engine.report.rendering.closing import points_left
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
    """`whole` are the numbers of the points that the findings tell in full."""

    findings: list[LookFinding]
    whole: list[int] = Field(default_factory=list)


LAST_LOOK = Task("last_look", LookAnswer, 1500, role="reader")
Looked = tuple[list[tuple[OpenPoint, Finding]], set[OpenPoint]]
"""Findings with their points, and the points that they tell in full."""


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


async def with_last_look(run: Run, draft: Draft) -> tuple[Draft, frozenset[str]]:
    """Return the draft with what read pages tell of its open points, without those that they tell
    in full, and the ids of that evidence; as it is where nothing is left open or found, or the call
    failed.
    """
    points = _points_of(run, draft)
    if not points:
        return draft, frozenset()
    run.report_action("Looking once more for what is still open")
    try:
        found, settled = await look_once_more(run, points)
    except TaskFailedError as failed:
        run.fell_back(LAST_LOOK.name, failed.cause)
        return draft, frozenset()
    except ToolFailedError as failed:
        run.fell_back(LAST_LOOK.name, failed.reason)
        return draft, frozenset()
    found = _without_outdated(found, run.ledger)
    told = _told(_take_in(run, found), draft)
    whole, touched = ({each.text for each in points} for points in (settled, dict(found)))
    left = tuple(
        replace(each, in_part=each.text in touched)
        for each in draft.open or ()
        if each.text not in whole
    )
    late = frozenset(i for said in told for i in said.evidence)
    return replace(_with_told(draft, told, run.ledger), open=left), late


def _points_of(run: Run, draft: Draft) -> list[OpenPoint]:
    """Return the points that the report would name."""
    is_rewritten = run.question.seed is not None and run.question.seed.rewrites
    if run.form < Form.COMPUTED or not is_led(run) or is_rewritten or not draft.open:
        return []
    told = with_previous_values(draft, run.ledger)
    return points_left(told, run.ledger, headings_of(run.ledger).values())


def _without_outdated(
    found: Sequence[tuple[OpenPoint, Finding]], ledger: Ledger
) -> list[tuple[OpenPoint, Finding]]:
    """Return the findings without those whose quote gives a value that has been replaced."""
    records = ledger.book.records
    outdated = {s.quote for i in ledger.relations.replaced for s in records[i].sources}
    return [(point, each) for point, each in found if each.source.quote not in outdated]


def _take_in(
    run: Run, found: Sequence[tuple[OpenPoint, Finding]]
) -> dict[str, tuple[Evidence, str]]:
    """Enter findings into the ledger; return each record and its sub-question, by id."""
    ledger, wall = run.ledger, run.wall()
    before, taken = dict(ledger.book.records), dict[str, tuple[Evidence, str]]()
    for point, finding in found:
        masked = replace(finding, claim=wall.masked(finding.claim))
        record, _ = ledger.book.add(masked, ledger.round.number)
        taken[record.id] = record, point.aspect_id
        part = ledger.aspects[point.aspect_id]
        if record.id not in part.evidence_ids:
            ledger.set_aspect(part.id, evidence_ids=(*part.evidence_ids, record.id))
    ledger.emit_evidence(before)
    return taken


def _told(taken: Mapping[str, tuple[Evidence, str]], draft: Draft) -> dict[Statement, str]:
    """Return a statement for each record that the draft doesn't cite, with its sub-question."""
    cited = {i for said in draft.statements for i in said.evidence}
    return {
        Statement(record.claim, (record.id,), about=part): part
        for record, part in taken.values()
        if record.id not in cited
    }


def _with_told(draft: Draft, told: Mapping[Statement, str], ledger: Ledger) -> Draft:
    """Return the draft with statements at the end of the sections of their sub-questions."""
    sections = {section.aspect_id: section for section in draft.sections}
    for said, part in told.items():
        old = sections.get(part, Section(part, ()))
        sections[part] = replace(old, statements=(*old.statements, said))
    return replace(draft, sections=tuple(sections[i] for i in ledger.aspects if i in sections))


# --- the look --------------------------------------------------------------------------------


async def look_once_more(run: Run, points: Sequence[OpenPoint]) -> Looked:
    """Return checked findings on open points and the points that they tell in full, without a call
    where no passage may tell one.

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
        return [], set()
    answer, lines = await _ask(run, closest)
    return await run_in_thread(_checked, run, closest.points, answer, lines)


def closest_sentences(
    pages: Sequence[Page], points: Sequence[OpenPoint], asked: Mapping[str, str], question: str
) -> Closest:
    """Return the sentences of pages closest to the points on sub-questions, `asked` by id."""
    sought = [(f"{each.text} {each.words}".strip(), asked[each.aspect_id]) for each in points]
    found = closest_passages(pages, sought)
    near = numbers_shown([passage for passages in found for passage in passages])
    chosen, left_out = list[Page](), dict[str, Set[int]]()
    for page in (page for page in pages if page.url in near):
        every = split_sentences(page.text)
        shown = near[page.url] - only_quoted(every, question)
        if shown:
            chosen.append(page)
            left_out[page.url] = {each.number for each in every} - shown
    told = [point for point, passages in zip(points, found, strict=True) if passages and chosen]
    return Closest(dict(enumerate(told, 1)), chosen, left_out)


async def _ask(run: Run, closest: Closest) -> tuple[LookAnswer, dict[int, NumberedSentence]]:
    ledger, fence = run.ledger, fences(run)
    about = {point.aspect_id for point in closest.points.values()}

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
    points: Mapping[int, OpenPoint],
    answer: LookAnswer,
    lines: Mapping[int, NumberedSentence],
) -> Looked:
    """Return what the pages carry of an answer; what they don't is counted as refused, and leaves
    its point open.
    """
    kept: list[tuple[OpenPoint, Finding]] = []
    partial = set[OpenPoint]()
    told = Counter[int]()
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
            refuses_by=run.refuses_findings_by if run.form >= Form.EDITED else "likeness",
            told_before=run.form >= Form.EDITED,
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
        if not found:
            partial.add(point)
    settled = {points[n] for n in answer.whole if told[n]}
    return kept, settled - partial
