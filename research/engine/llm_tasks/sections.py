"""Tasks `section` and `summary`: draft a long report in parallel sections.

Each section has a place of its own in the journal and owns its evidence. All calls are reserved
in the order of the sub-questions before the first answer is there, and taken in that order.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from pydantic import Field

from research.engine.evidence.ledger import ANSWERING, Ledger
from research.engine.journal.forms import Form
from research.engine.llm_tasks.answers import Answer, ComputedStatement
from research.engine.llm_tasks.assess import gaps_shown, newest_disputes
from research.engine.llm_tasks.draft import earlier_values, told_titles, usable_evidence
from research.engine.llm_tasks.prompting.ask import Task, TaskFailedError, ask_model, request_for
from research.engine.llm_tasks.prompting.fences import fences
from research.engine.llm_tasks.prompting.fit_to_context import (
    Context,
    ask_fitting,
    fit_task,
    most_relevant,
)
from research.engine.llm_tasks.prompting.stream_draft import DraftStream
from research.engine.offline import drafting
from research.engine.offline.questions.question import asks_for_course
from research.engine.report.checking.summarised import Summarised, summarised_of
from research.engine.report.disputes import disputes_on
from research.engine.report.draft import (
    Clash,
    Draft,
    Section,
    Statement,
    owners_of,
    split_conclusion,
    split_part,
    statement_of,
    with_known_figures,
)
from research.engine.report.draft_answer import (
    MOST_OF_A_VERDICT,
    MOST_STEPS,
    open_points,
    statements_of,
)
from research.engine.report.outline import OutlinePart, divide_part, group_parts, make_outline
from research.engine.report.parts.dating import amounts_of
from research.engine.report.parts.inline_quotes import quotable, quotable_parts
from research.engine.report.parts.timeline import course_part, dated_events
from research.engine.report.report_format import MOST_OPEN, wanted_form
from research.engine.run import Run
from research.engine.text.tokens import normalise_space

SUMMARY_WORDS = {Form.EDITED: 22, Form.REPAIRED: 16}
"""Words of the summary on each sub-question, by the form since which they hold."""
SUMMARY_SHOWN, SHOWN_IN_ALL = 8, 60
"""Statements of each section that the summary is written from, and of a report of few sections."""
_NUMBERS = re.compile(r" ?\[[\d,; ]{1,80}\]")  # "… in 1889. [1, 4]"


class SectionAnswer(Answer):
    """Sentences with the ids that carry them in brackets, as in a draft."""

    statements: list[str]
    computed: list[ComputedStatement] = Field(default_factory=list)


class SummaryAnswer(Answer):
    """A summary with what the report leaves open, and with steps for the asker where the question
    asks what to do.
    """

    sentences: list[str]
    verdict: list[str] = Field(default_factory=list)
    next_steps: list[str] = Field(default_factory=list)
    open: list[str] = Field(default_factory=list)


class ClashAnswer(Answer):
    """Numbers of two statements of which only one can be right."""

    statements: list[int]
    about: str = ""


class EditedSummaryAnswer(SummaryAnswer):
    """A summary with the statements that contradict each other without saying so."""

    clashes: list[ClashAnswer] = Field(default_factory=list)


class CourseSummaryAnswer(EditedSummaryAnswer):
    """A summary with the course of events across the sections."""

    course: list[str] = Field(default_factory=list)


SECTION = Task("section", SectionAnswer, 2500)
SUMMARY = Task("summary", SummaryAnswer, 2000)
EDITED_SUMMARY: Task[SummaryAnswer] = Task("summary", EditedSummaryAnswer, 2200)
COURSE_SUMMARY: Task[SummaryAnswer] = Task("summary", CourseSummaryAnswer, 2800)
MOST_CLASHES, MOST_OF_COURSE = 6, 20


@dataclass(frozen=True)
class _Begun:
    """Sections that are being drafted, one as a rule."""

    parts: tuple[OutlinePart, ...]
    place: str
    task: Task[SectionAnswer]
    shown: Context


async def write_sections(run: Run) -> Draft:
    """Return the model's sections; what fails is made of quotations, the others stay."""
    outline = make_outline(run.ledger, usable_evidence(run.ledger), run.limits.words[1])
    window = await run.context_tokens()
    groups = [piece for group in group_parts(outline) for piece in _divided(group)]
    begun = [_begin_sections(run, group, outline, window) for group in groups]
    quoted = drafting.draft_offline(run.ledger)
    passages = {section.aspect_id: section for section in quoted.sections}
    growing, sections = DraftStream(run), dict[str, Section]()
    for each in begun:
        growing.go_on(each.parts[0].aspect.text)
        drafted = await _take_sections(run, each, growing)
        if not drafted and each.parts[0] not in outline:
            drafted = _quoted_part(each.parts[0])
        for i, section in drafted.items():
            before = sections[i].statements if i in sections else ()
            sections[i] = replace(section, statements=(*before, *section.statements))
    found = (sections.get(i) or passages.get(i) for i in (part.aspect.id for part in outline))
    return Draft((), tuple(filter(None, found)))


def _quoted_part(part: OutlinePart) -> dict[str, Section]:
    """Return a part of a section without a draft: its evidence in quotations."""
    quoted = tuple(drafting.quote_statement(record) for record in part.records)
    return {part.aspect.id: Section(part.aspect.id, quoted)}


def _divided(group: tuple[OutlinePart, ...]) -> list[tuple[OutlinePart, ...]]:
    """Return a group of sections, or the parts of its only one that are drafted by themselves."""
    return [(piece,) for piece in divide_part(group[0])] if len(group) == 1 else [group]


def _begin_sections(
    run: Run, parts: tuple[OutlinePart, ...], outline: Sequence[OutlinePart], window: int | None
) -> _Begun:
    """Begin one draft; those of further parts of a section are told apart by their first record."""
    first = parts[0]
    place = f"{run.report_place}/section/{first.aspect.id}"
    if first.records[0] not in [part.records[0] for part in outline]:
        place = f"{place}/{first.records[0].id}"
    task, shown = fit_task(run, SECTION, partial(_section_context, run, parts), window)
    run.journal.begin_model(place, request_for(run.journal, task, shown))
    return _Begun(parts, place, task, shown)


async def _take_sections(run: Run, begun: _Begun, growing: DraftStream) -> dict[str, Section]:
    """Return the sections by sub-question; a statement belongs where its first evidence does, and
    without any where `owners_of` puts it.
    """
    attempts = run.config.max_model_attempts
    try:
        answer = await ask_model(run.journal, attempts, begun.place, begun.task, begun.shown)
    except TaskFailedError as failed:
        run.fell_back(SECTION.name, failed.cause)
        return {}
    growing.hear(json.dumps({"statements": answer.statements}))
    growing.tell()
    owners = {record.id: part.aspect.id for part in begun.parts for record in part.records}
    sections: dict[str, list[Statement]] = {}
    told = statements_of(run.ledger, answer.statements, answer.computed)
    own = [next((owners[i] for i in said.evidence if i in owners), "") for said in told]
    placed = owners_of(own, begun.parts[0].aspect.id, run.ledger)
    for owner, said in zip(placed, told, strict=True):
        sections.setdefault(owner, []).append(said)
    return {i: Section(i, tuple(said)) for i, said in sections.items()}


def _section_context(run: Run, parts: Sequence[OutlinePart], room: int) -> dict[str, Any]:
    ledger = run.ledger
    owners = {record.id: part.aspect.id for part in parts for record in part.records}
    records = [record for part in parts for record in part.records]
    disputes = disputes_on(ledger, owners) if run.form >= Form.EDITED else []
    rivals = [each for told in disputes for side, _ in told.sides for each in side]
    shown = most_relevant([*records, *(each for each in rivals if each.id not in owners)], room)
    places = {record.id: record.aspect_id for record in rivals} | owners
    return {
        "question": run.question.text,
        "today": run.question.today,
        "instructions": ledger.instructions,
        "language": ledger.plan.language,
        "scope": ledger.plan.scope,
        "output_format": wanted_form(run.shape, ledger.plan.output_format),
        "parts": parts,
        "owners": places,
        "evidence": shown,
        "quotable": quotable(ledger, {part.aspect.id for part in parts}),
        "earlier": earlier_values(run, records, [part.aspect.text for part in parts]),
        "fence": fences(run),
        "disputes": []
        if run.form >= Form.EDITED
        else [pair for pair in newest_disputes(ledger) if pair[0].id in owners],
        "told_disputes": disputes,
        "has_formulas": run.form >= Form.COMPUTED,
        "concludes": run.form >= Form.EDITED,
        "has_timeline": run.form >= Form.COMPUTED
        and any(asks_for_course(part.aspect.text, ledger.began) for part in parts),
        "length": f"at most {sum(part.words for part in parts)}",
        "tables": run.ledger.tables,
        "titles": told_titles(run),
    }


# --- the summary ----------------------------------------------------------------------------


async def write_summary(run: Run, draft: Draft) -> Draft:
    """Return a checked draft with its summary as short answer, which cites nothing but what its
    statements cite, steps for the asker and what it leaves open; without them where the model gives
    none.
    """
    most = SUMMARY_SHOWN
    if run.form >= Form.COMPUTED:
        most = max(most, SHOWN_IN_ALL // max(1, len(draft.sections)))
    has_course = run.form >= Form.EDITED and course_part(draft, run.ledger) is not None
    dated = {said for _, said in dated_events(draft, run.ledger)} if has_course else set()
    shown = [
        each
        for section in draft.sections
        for each in summarised_of(section, run.ledger, most, dated)
    ]
    place = f"{run.report_place}/summary"
    task: Task[SummaryAnswer] = SUMMARY
    if run.form >= Form.EDITED:
        task = COURSE_SUMMARY if has_course else EDITED_SUMMARY
    run.report_action("Writing the summary")
    try:
        answer, _ = await ask_fitting(
            run, place, task, lambda room: _summary_context(run, shown, has_course, room)
        )
    except TaskFailedError as failed:
        run.fell_back(SUMMARY.name, failed.cause)
        return draft

    def read(texts: Sequence[str]) -> list[Statement]:
        said = (
            summary_statement(text, [each.statement for each in shown], run.ledger)
            for text in texts
        )
        return [each for each in said if each]

    course, clashes = list[Statement](), list[Clash]()
    if isinstance(answer, CourseSummaryAnswer):
        course = read(answer.course[:MOST_OF_COURSE])
    if isinstance(answer, EditedSummaryAnswer):
        pairs = answer.clashes[:MOST_CLASHES]
        clashes = [found for each in pairs if (found := _clash(each, shown))]
    verdict = [replace(said, is_verdict=True) for said in read(answer.verdict[:MOST_OF_A_VERDICT])]
    return replace(
        draft,
        short_answer=(*verdict, *read(answer.sentences)),
        next_steps=tuple(read(answer.next_steps[:MOST_STEPS])),
        open=open_points(run.ledger, answer.open),
        course=tuple(course),
        clashes=tuple(clashes),
    )


def _clash(answer: ClashAnswer, shown: Sequence[Summarised]) -> Clash | None:
    """Return two of the statements that were shown; None where the answer names others."""
    said = [shown[n - 1].statement for n in answer.statements if 0 < n <= len(shown)]
    if not len(answer.statements) == len({*said}) == 2:
        return None
    one, other = said
    return Clash(one, other, normalise_space(answer.about))


def _summary_context(
    run: Run, shown: Sequence[Summarised], has_course: bool, room: int
) -> dict[str, Any]:
    ledger, kept = run.ledger, []
    for number, each in enumerate(shown, 1):
        room -= each.size
        if room >= 0:
            kept.append((number, each))
    parts = [aspect for aspect in ledger.aspects.values() if aspect.state in ANSWERING]
    words = next(words for since, words in SUMMARY_WORDS.items() if run.form >= since)
    return {
        "question": run.question.text,
        "instructions": ledger.instructions,
        "language": ledger.plan.language,
        "aspects": parts,
        "statements": kept,
        "fence": fences(run),
        "has_formulas": run.form >= Form.COMPUTED,
        "most_open": MOST_OPEN,
        "seeks": run.form >= Form.COMPUTED,
        "is_edited": run.form >= Form.EDITED,
        "most_of_course": MOST_OF_COURSE if has_course else 0,
        "gaps": gaps_shown(ledger),
        "only_quoted": quotable_parts(ledger),
        "length": f"at most {words * max(2, len(parts))}",
    }


def summary_statement(
    text: str, statements: Sequence[Statement], ledger: Ledger
) -> Statement | None:
    """Return a sentence of the summary with the evidence of the statements that it names; None
    where it names none.
    """
    part, text = split_part(text, ledger)
    text, is_marked = split_conclusion(text, ledger)
    named = [int(n) for group in _NUMBERS.findall(text) for n in re.findall(r"\d+", group)]
    known = [statements[n - 1] for n in named if 0 < n <= len(statements)]
    cited = dict.fromkeys(i for each in known for i in each.evidence)
    evidence = tuple(i for i in cited if not _is_left_out(i, text, ledger)) or tuple(cited)
    said = statement_of(_NUMBERS.sub("", text), evidence)
    said = replace(said, about=part, concludes=is_marked and len(evidence) > 1)
    said, *_ = with_known_figures([said], known)
    return said if said.text and evidence else None


def _is_left_out(record_id: str, text: str, ledger: Ledger) -> bool:
    """Return whether a record has an earlier value that a sentence on the newer one leaves out. One
    that gives neither may compare them: "Fewer people are killed today".
    """
    record = ledger.book.records.get(record_id)
    if record is None or ledger.began < Form.COMPUTED or record_id not in ledger.relations.replaced:
        return False
    newer = ledger.book.records.get(ledger.relations.replaced[record_id])
    said = amounts_of(text)
    compares = newer is not None and amounts_of(newer.claim).isdisjoint(said)
    if ledger.began >= Form.EDITED and compares:
        return False
    return amounts_of(record.claim).isdisjoint(said)
