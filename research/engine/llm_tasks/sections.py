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
from itertools import pairwise, takewhile
from typing import Any

from pydantic import Field

from research.engine.evidence.ledger import ANSWERING, Ledger
from research.engine.journal.forms import Form
from research.engine.llm_tasks.answers import Answer, ComputedStatement
from research.engine.llm_tasks.assess import gaps_shown, newest_disputes
from research.engine.llm_tasks.draft import (
    MOST_OF_A_VERDICT,
    MOST_STEPS,
    earlier_values,
    open_points,
    statements_of,
    usable_evidence,
)
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
from research.engine.report.disputes import disputes_on
from research.engine.report.draft import (
    Draft,
    Section,
    Statement,
    split_part,
    statement_of,
    with_known_figures,
)
from research.engine.report.outline import OutlinePart, divide_part, group_parts, make_outline
from research.engine.report.parts.dating import amounts_of
from research.engine.report.parts.disagreement import rival_groups
from research.engine.report.parts.inline_quotes import quotable
from research.engine.report.parts.main_findings import MainFindings
from research.engine.report.parts.subjects import refers_back, turns_back_early
from research.engine.report.parts.timeline import asks_for_course
from research.engine.report.report_format import MOST_OPEN, wanted_form
from research.engine.run import Run
from research.engine.text.tokens import term_set

SUMMARY_WORDS = {Form.ATTRIBUTED: 16, Form.ORGANISED: 22, Form.GATHERED: 30}
"""Words of the summary on each sub-question, by the form since which they hold."""
SUMMARY_SHOWN, SHOWN_IN_ALL = 8, 60
"""Statements of each section that the summary is written from, and of a report of few sections."""
_NUMBERS = re.compile(r" ?\[[\d,; ]{1,80}\]")  # "… in 1889. [1, 4]"


class SectionAnswer(Answer):
    """Sentences with the ids that carry them in brackets, as in a draft."""

    statements: list[str]
    computed: list[ComputedStatement] = Field(default_factory=list)


class VerdictSummaryAnswer(Answer):
    """A summary whose `verdict` answers the question as a whole."""

    sentences: list[str]
    verdict: list[str] = Field(default_factory=list)


class WholeSummaryAnswer(VerdictSummaryAnswer):
    """A summary with what the report leaves open, and with steps for the asker where the question
    asks what to do.
    """

    next_steps: list[str] = Field(default_factory=list)
    open: list[str] = Field(default_factory=list)


UNDISPUTED = 2
"""Places for what answers most directly that the sides of disputes leave."""

SECTION = Task("section", SectionAnswer, 2500)
SUMMARY: Task[VerdictSummaryAnswer] = Task("summary", VerdictSummaryAnswer, 1500)
WHOLE_SUMMARY: Task[VerdictSummaryAnswer] = Task("summary", WholeSummaryAnswer, 2000)


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
    without any to the section of the one before.
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
    owner = begun.parts[0].aspect.id
    for said in statements_of(run.ledger, answer.statements, answer.computed):
        owner = next((owners[i] for i in said.evidence if i in owners), owner)
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
        "disputes": [pair for pair in newest_disputes(ledger) if pair[0].id in owners],
        "told_disputes": disputes,
        "is_terse": run.form >= Form.ATTRIBUTED,
        "has_formulas": run.form >= Form.COMPUTED,
        "has_timeline": run.form >= Form.COMPUTED
        and any(asks_for_course(part.aspect.text) for part in parts),
        "length": f"at most {sum(part.words for part in parts)}",
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
    shown = [
        each for section in draft.sections for each in summarised_of(section, run.ledger, most)
    ]
    place = f"{run.report_place}/summary"
    task = WHOLE_SUMMARY if run.form >= Form.REPAIRED else SUMMARY
    run.report_action("Writing the summary")
    try:
        answer, _ = await ask_fitting(
            run, place, task, lambda room: _summary_context(run, shown, room)
        )
    except TaskFailedError as failed:
        run.fell_back(SUMMARY.name, failed.cause)
        return draft
    steps, left = list[str](), None
    if isinstance(answer, WholeSummaryAnswer):
        steps, left = answer.next_steps, open_points(run.ledger, answer.open)

    def read(texts: Sequence[str]) -> list[Statement]:
        said = (
            summary_statement(text, [each.statement for each in shown], run.ledger)
            for text in texts
        )
        return [each for each in said if each]

    verdict = [replace(said, is_verdict=True) for said in read(answer.verdict[:MOST_OF_A_VERDICT])]
    return replace(
        draft,
        short_answer=(*verdict, *read(answer.sentences)),
        next_steps=tuple(read(steps[:MOST_STEPS])),
        open=left,
    )


def _summary_context(run: Run, shown: Sequence[Summarised], room: int) -> dict[str, Any]:
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
        "is_organised": run.form >= Form.ORGANISED,
        "is_terse": run.form >= Form.ATTRIBUTED,
        "has_steps": run.form >= Form.REPAIRED,
        "has_formulas": run.form >= Form.COMPUTED,
        "most_open": MOST_OPEN if run.form >= Form.REPAIRED else 0,
        "seeks": run.form >= Form.COMPUTED,
        "gaps": gaps_shown(ledger) if run.form >= Form.REPAIRED else [],
        "length": f"at most {words * max(2, len(parts))}",
    }


def summary_statement(
    text: str, statements: Sequence[Statement], ledger: Ledger
) -> Statement | None:
    """Return a sentence of the summary with the evidence of the statements that it names; None
    where it names none.
    """
    part, text = split_part(text, ledger)
    named = [int(n) for group in _NUMBERS.findall(text) for n in re.findall(r"\d+", group)]
    known = [statements[n - 1] for n in named if 0 < n <= len(statements)]
    cited = dict.fromkeys(i for each in known for i in each.evidence)
    evidence = tuple(i for i in cited if not _is_left_out(i, text, ledger)) or tuple(cited)
    said = replace(statement_of(_NUMBERS.sub("", text), evidence), about=part)
    said, *_ = with_known_figures([said], known)
    return said if said.text and evidence else None


def _is_left_out(record_id: str, text: str, ledger: Ledger) -> bool:
    """Return whether a record has an earlier value that a sentence on the newer one leaves out."""
    record = ledger.book.records.get(record_id)
    if record is None or ledger.began < Form.COMPUTED or record_id not in ledger.relations.replaced:
        return False
    return amounts_of(record.claim).isdisjoint(amounts_of(text))


# --- the statements that the summary is written from -------------------------------------------


@dataclass(frozen=True)
class Summarised:
    """A statement, and the sentence that it refers back to if that isn't the one in front of it."""

    aspect_id: str
    statement: Statement
    before: str = ""

    @property
    def size(self) -> int:
        return len(self.statement.text) + len(self.before)


def summarised_of(section: Section, ledger: Ledger, most: int) -> list[Summarised]:
    """Return about so many cited statements of a section: both sides of its disputes, and those
    that answer most directly. The most direct one leads, the others stand in the section's order.

    One that refers back is left out unless it is a side of a dispute, the sentence before it is
    shown too, or nothing else is there.
    """
    ranked = MainFindings(ledger).ranked(section)
    known = term_set(f"{ledger.question} {ledger.aspects[section.aspect_id].text}")
    language, is_full = ledger.plan.language, ledger.began >= Form.COMPUTED
    leaning = {s for s in ranked if refers_back(s.body, language, known)}
    if is_full:
        leaning |= {s for s in ranked if turns_back_early(s.body, language, known)}
    cited = [said for said in section.statements if said.evidence]
    disputes = [group for group in rival_groups(cited, ledger) if len(group) > 1]
    kept = _sides(disputes, ranked, most - UNDISPUTED, is_full)
    most = max(most, len(kept) + UNDISPUTED) if is_full else most
    disputed = {said for group in disputes for said in group}
    usual = [*ranked, *(said for said in cited if said.quoted and not _is_apart(said, ledger))]
    for said in usual:
        if said not in leaning | disputed and len(kept) < most:
            kept.add(said)
    for before, said in pairwise(section.statements):
        if said in leaning - disputed and before in kept and len(kept) < most:
            kept.add(said)
    kept = kept or {*cited[:1]}
    openings = {group[0] for group in disputes}
    shown = [
        Summarised(section.aspect_id, said, _before(section, at, kept, leaning, openings))
        for at, said in enumerate(section.statements)
        if said in kept
    ]
    heads = [s for s in ranked if s in kept and (s in openings or s not in leaning | disputed)]
    return _led_by(heads[0], shown, leaning | (disputed - openings)) if heads else shown


def _is_apart(said: Statement, ledger: Ledger) -> bool:
    """Return whether a quotation has what nothing may be stated from."""
    records = (ledger.book.records[i] for i in said.evidence)
    return ledger.began >= Form.COMPUTED and any(record.is_dictated for record in records)


def _led_by(
    head: Statement, shown: Sequence[Summarised], followers: set[Statement]
) -> list[Summarised]:
    """Return what is shown with this statement first, and what belongs behind it."""
    start = next(at for at, each in enumerate(shown) if each.statement == head)
    rest = shown[start + 1 :]
    behind = [*takewhile(lambda each: each.statement in followers, rest)]
    return [shown[start], *behind, *shown[:start], *rest[len(behind) :]]


def _sides(
    disputes: Sequence[list[Statement]], ranked: Sequence[Statement], most: int, tells_all: bool
) -> set[Statement]:
    """Return the statements of as many disputes as there is room for, of a long one two; two of
    every one if it `tells_all`.
    """
    rank = {said: at for at, said in enumerate(ranked)}
    kept: set[Statement] = set()
    for group in sorted(disputes, key=lambda each: min(rank.get(s, len(rank)) for s in each)):
        for sides in (group, group[:2]):
            is_short = tells_all and sides is not group
            if is_short or len(kept | {*sides}) <= most:
                kept |= {*sides}
                break
    return kept


def _before(
    section: Section,
    at: int,
    kept: set[Statement],
    leaning: set[Statement],
    openings: set[Statement],
) -> str:
    """Return the sentence in front of a statement if it refers back to it, or introduces a dispute
    with it, unless that sentence is shown itself.
    """
    said, before = section.statements[at], section.statements[at - 1] if at else None
    if before is None or before in kept:
        return ""
    is_introduced = said in openings and not before.evidence
    return before.body if said in leaning or is_introduced else ""
