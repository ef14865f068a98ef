"""Task `draft`: the report, written from ledger ids."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from research.engine.evidence.claims.computed import OPERATIONS
from research.engine.evidence.claims.operands import ASKED
from research.engine.evidence.ledger import ANSWERING, Ledger
from research.engine.evidence.relations import Cell
from research.engine.journal.forms import Form
from research.engine.llm_tasks.answers import (
    ComputedStatement,
    DraftAnswer,
    OpenDraftAnswer,
    TabledDraftAnswer,
    TabledOpenDraftAnswer,
    TabledWholeDraftAnswer,
    WholeDraftAnswer,
    id_in,
)
from research.engine.llm_tasks.assess import gaps_shown, newest_disputes
from research.engine.llm_tasks.prompting.ask import Task, request_for
from research.engine.llm_tasks.prompting.fences import fences
from research.engine.llm_tasks.prompting.fit_to_context import (
    EVERYTHING,
    Context,
    ask_fitting,
    fit_uncut,
    most_relevant,
)
from research.engine.llm_tasks.prompting.stream_draft import DraftStream
from research.engine.offline.questions.compared import compared_things
from research.engine.offline.questions.question import asks_for_course
from research.engine.ports import ModelRequest
from research.engine.records import Evidence, OpenPoint
from research.engine.report.draft import (
    Computation,
    Draft,
    Section,
    Statement,
    aspect_of,
    cite_ids,
    owners_of,
    split_part,
    with_known_figures,
    without_ids,
)
from research.engine.report.parts.dating import MONTH, asks_for_changes, first_date, previous_values
from research.engine.report.parts.inline_quotes import quotable, quoted_if_due
from research.engine.report.parts.sources import lone_titles
from research.engine.report.report_format import (
    LENGTHS,
    MOST_OPEN,
    summary_words,
    wanted_form,
    wanted_length,
    words_of_statements,
    words_of_tables,
)
from research.engine.run import Run

COMPARED_FROM = 20
"""Records from which the findings are compared: fewer are compared while they are drafted."""
DRAFT = Task("draft", DraftAnswer, 4000)
TABLED_DRAFT: Task[DraftAnswer] = Task("draft", TabledDraftAnswer, 4000)
OPEN_DRAFT: Task[DraftAnswer] = Task("draft", OpenDraftAnswer, 4200)
TABLED_OPEN_DRAFT: Task[DraftAnswer] = Task("draft", TabledOpenDraftAnswer, 4200)
WHOLE_DRAFT: Task[DraftAnswer] = Task("draft", WholeDraftAnswer, 6500)
TABLED_WHOLE_DRAFT: Task[DraftAnswer] = Task("draft", TabledWholeDraftAnswer, 6500)
CONTEXT_WORDS = 25_000
BROAD_FROM = 4
VERDICT_FROM, MOST_OF_A_VERDICT, MOST_STEPS = 3, 2, 16
"""Sub-questions from which a verdict opens the short answer; sentences of that, and next steps."""
LEAST_DRAFT = 400
"""Minimum number of words for the sections of a draft, however long its tables are."""
MOST_SOUGHT = 12
"""Words that an open point is looked for by, besides its own."""
SPARE_DRAFT = 2
"""Drafted words of a broad quick report for each that it may keep, which code chooses."""


async def write_draft(run: Run) -> Draft:
    """Return the model's draft; takes over one that was begun ahead. Raises `TaskFailedError`."""
    begun = await _taken_up(run)
    place = begun.place if begun else f"{run.report_place}/draft"
    growing = begun.growing if begun else DraftStream(run)
    context = partial(_prompt_context, run)
    answer, _ = await ask_fitting(run, place, _task(run), context, growing.hear)
    growing.tell()
    return read_draft(run.ledger, answer)


@dataclass(frozen=True)
class PendingDraft:
    """A draft that is asked for ahead: where, by which request, on what, and who hears it."""

    place: str
    request: ModelRequest
    shown: Context
    growing: DraftStream


async def begin_pending_draft(run: Run, place: str) -> None:
    """Ask for the draft before it is certain that nothing is missing; see `speculative_draft.py`.

    Not where its prompt had to be cut: what is shown of the evidence may still change.
    """
    shown = _prompt_context(run, EVERYTHING)
    task = fit_uncut(_task(run), shown, await run.context_tokens())
    if task is None:
        return
    request, growing = request_for(run.journal, task, shown), DraftStream(run, is_told=False)
    run.begun = PendingDraft(place, request, shown, growing)
    run.journal.begin_model(place, request, growing.hear)


async def drop_draft(run: Run) -> None:
    """Give up the draft that was begun, if one was."""
    if (begun := run.begun) is not None:
        run.begun = None
        await run.journal.drop_model(begun.place, begun.request)
        run.tell_usage()


async def _taken_up(run: Run) -> PendingDraft | None:
    """Return the begun draft if its prompt would be the same now, apart from the gaps."""
    begun, now = run.begun, _prompt_context(run, EVERYTHING)
    if begun is None or {**begun.shown, "gaps": ()} != {**now, "gaps": ()}:
        await drop_draft(run)
        return None
    run.begun = None
    begun.growing.be_told()
    return begun


def earlier_values(
    run: Run, records: Sequence[Evidence], asked: Sequence[str]
) -> dict[str, tuple[Evidence, str]]:
    """Return the newest value that each record has replaced, with its date; before `Form.COMPUTED`
    only where the question or a sub-question asks what has changed.
    """
    texts = (run.question.text, *asked)
    if run.ledger.began < Form.COMPUTED and not any(map(asks_for_changes, texts)):
        return {}
    before = previous_values(run.ledger)
    newest = {r.id: max(before[r.id], key=first_date) for r in records if r.id in before}
    return {new: (old, first_date(old)[:MONTH]) for new, old in newest.items()}


def _prompt_context(run: Run, room: int) -> dict[str, Any]:
    ledger = run.ledger
    usable = usable_evidence(ledger)
    is_long = run.config.research_depth != "quick"
    asked = [aspect.text for aspect in ledger.aspects.values()]
    return {
        "question": run.question.text,
        "today": run.question.today,
        "instructions": ledger.instructions,
        "language": ledger.plan.language,
        "scope": ledger.plan.scope,
        "output_format": wanted_form(run.shape, ledger.plan.output_format),
        "aspects": list(ledger.aspects.values()),
        "evidence": most_relevant(usable, room),
        "quotable": quotable(ledger, ledger.aspects) if is_long else [],
        "earlier": earlier_values(run, usable, asked) if is_long else {},
        "fence": fences(run),
        "is_long": is_long,
        "disputes": newest_disputes(ledger),
        "length": wanted_length(run.shape, _usual_length(run), len(ledger.aspects)),
        "summary": summary_words(ledger),
        "has_verdict": _has_verdict(run),
        "words_of_part": _words_of_part(run),
        "most_open": MOST_OPEN,
        "seeks": run.form >= Form.COMPUTED,
        "names_holders": run.form >= Form.COMPUTED,
        "has_formulas": run.form >= Form.COMPUTED,
        "concludes": _has_verdict(run) and run.form >= Form.EDITED,
        "is_besides": _has_verdict(run) and run.shape.form not in LENGTHS,
        "is_concise": _is_quick_and_broad(run),
        "things": _tabled(run),
        "tables": ledger.tables,
        "titles": told_titles(run),
        "gaps": gaps_shown(ledger) if is_long and run.form >= Form.EDITED else [],
        "has_course": any(
            asks_for_course(text, ledger.began) for text in (run.question.text, *asked)
        ),
    }


def told_titles(run: Run) -> Mapping[str, str]:
    """Return the titles of pages that stand for their one site; none before `Form.EDITED`."""
    return lone_titles(run.ledger) if run.form >= Form.EDITED else {}


def _task(run: Run) -> Task[DraftAnswer]:
    if _has_verdict(run):
        return TABLED_WHOLE_DRAFT if _tabled(run) else WHOLE_DRAFT
    if run.config.research_depth != "quick":
        return TABLED_OPEN_DRAFT if _tabled(run) else OPEN_DRAFT
    return TABLED_DRAFT if _tabled(run) else DRAFT


def _has_verdict(run: Run) -> bool:
    """Return whether a verdict opens the short answer: not of a quick report, or of few parts."""
    is_broad = len(run.ledger.aspects) >= VERDICT_FROM or run.answers_at_once
    return is_broad and run.config.research_depth != "quick"


def _tabled(run: Run) -> tuple[str, ...]:
    """Return the things that a draft compares in a table: findings that are many are compared in a
    call of their own.
    """
    known = run.ledger.relations.is_known or len(usable_evidence(run.ledger)) >= COMPARED_FROM
    return () if known else compared_things(run.question.text)


def _words_of_part(run: Run) -> int:
    """Return the words that a report of the usual length has for each sub-question, in tens; 0
    where its form has a length of its own.
    """
    if not _has_verdict(run) or run.shape.form in LENGTHS:
        return 0
    parts = sum(part.state in ANSWERING for part in run.ledger.aspects.values())
    return _words_of_draft(run)[1] // max(1, parts) // 10 * 10


def _usual_length(run: Run) -> str:
    least, most = _words_of_draft(run)
    return f"{least:,} to {most:,}"


def _words_of_draft(run: Run) -> tuple[int, int]:
    least, most = run.limits.words
    if _is_quick_and_broad(run):
        most *= SPARE_DRAFT
    elif _has_verdict(run):
        parts, disputes = len(run.ledger.aspects), len(newest_disputes(run.ledger))
        room = words_of_statements(most, run.ledger.complexity, parts, disputes)
        room -= words_of_tables(run.ledger.relations)
        most = max(LEAST_DRAFT, 10 * (room // 10))
        least = min(least, most * 4 // 5 // 10 * 10)
    return least, most


def _is_quick_and_broad(run: Run) -> bool:
    is_quick = run.config.research_depth == "quick"
    return is_quick and len(run.ledger.aspects) >= BROAD_FROM


def usable_evidence(ledger: Ledger) -> list[Evidence]:
    """Return the current evidence on the sub-questions of the report, as much as fits a prompt."""
    replaced = ledger.relations.replaced
    return newest_within(
        [r for r in ledger.statable if r.aspect_id in ledger.aspects and r.id not in replaced]
    )


def newest_within(records: Sequence[Evidence], words: int = CONTEXT_WORDS) -> list[Evidence]:
    """Return the newest evidence whose quotes fit into this number of words (rule B6)."""
    kept: list[Evidence] = []
    for record in reversed(records):
        words -= sum(len(source.quote.split()) for source in record.sources)
        if words < 0:
            break
        kept.append(record)
    return kept[::-1]


def read_draft(ledger: Ledger, answer: DraftAnswer) -> Draft:
    """Return the draft with each statement in the section that it was put in, otherwise that of its
    first evidence; one without evidence belongs where `owners_of` puts it.
    """
    said = _placed(_all_statements(ledger, answer.statements, answer.computed), ledger)
    if isinstance(answer, WholeDraftAnswer):
        said = _with_spare(said, answer.spare)
    sections: dict[str, list[Statement]] = {}
    told_in_sections = [*filter(_has_text, said)]
    own = [each.about or aspect_of(each, ledger) or "" for each in told_in_sections]
    owners = owners_of(own, next(iter(ledger.aspects)), ledger)
    for aspect_id, statement in zip(owners, told_in_sections, strict=True):
        sections.setdefault(aspect_id, []).append(statement)
    short = [_short_statement(ledger, text, said) for text in answer.short_answer]
    told = answer.verdict if isinstance(answer, WholeDraftAnswer) else []
    verdict = [_short_statement(ledger, text, said) for text in told[:MOST_OF_A_VERDICT]]
    opening = [replace(each, is_verdict=True) for each in verdict if each and each.evidence]
    steps = answer.next_steps if isinstance(answer, WholeDraftAnswer) else []
    opened = with_known_figures([*opening, *filter(None, short)], said)
    return Draft(
        tuple(filter(_has_text, opened)),
        tuple(Section(i, tuple(part)) for i, part in sections.items()),
        newer=tuple(answer.newer),
        disagree=tuple(answer.disagree),
        cells=tuple(
            (cell.entity, cell.property, Cell(cell.value, tuple(cell.evidence)))
            for cell in (answer.cells if isinstance(answer, TabledDraftAnswer) else ())
        ),
        open=open_points(ledger, answer.open) if isinstance(answer, OpenDraftAnswer) else None,
        next_steps=tuple(
            with_known_figures([cite_ids(text, ledger) for text in steps[:MOST_STEPS]], said)
        ),
        is_whole=ledger.began >= Form.EDITED,
    )


def open_points(ledger: Ledger, told: Sequence[str]) -> tuple[OpenPoint, ...]:
    """Return what a report leaves open, each with its sub-question; not what names none."""
    points = (split_part(text, ledger) for text in told)
    return tuple(_open_point(part, text, ledger) for part, text in points if part)


def _open_point(part: str, text: str, ledger: Ledger) -> OpenPoint:
    """Return a point and the words behind its bar."""
    said, _, words = text.partition("|") if ledger.began >= Form.COMPUTED else (text, "", "")
    return OpenPoint(part, without_ids(said), " ".join(words.split()[:MOST_SOUGHT]))


def _with_spare(said: Sequence[Statement], numbers: Sequence[int]) -> list[Statement]:
    """Return the statements, those that can be left out with their place among these."""
    places = {number: place for place, number in enumerate(dict.fromkeys(numbers), 1)}
    return [replace(each, spare=places.get(n, 0)) for n, each in enumerate(said, 1)]


def _placed(said: Sequence[Statement], ledger: Ledger) -> list[Statement]:
    """Return the statements, if some are put under sub-questions all of them: one that isn't goes
    with those before it, unless nothing was put under the sub-question of its first evidence.
    """
    opened, about, placed = {each.about for each in said} - {""}, "", list[Statement]()
    for each in said:
        own = aspect_of(each, ledger) or ""
        about = each.about or (own if opened and own not in {"", *opened} else about)
        placed.append(replace(each, about=about))
    return placed


def statements_of(
    ledger: Ledger, texts: Sequence[str], computed: Sequence[ComputedStatement]
) -> list[Statement]:
    """Return the statements of an answer that say something, with what they cite."""
    return [each for each in _all_statements(ledger, texts, computed) if _has_text(each)]


def _all_statements(
    ledger: Ledger, texts: Sequence[str], computed: Sequence[ComputedStatement]
) -> list[Statement]:
    said = [_put_statement(text, ledger) for text in texts]
    return _with_computations(said, computed, ledger.began >= Form.EDITED)


def _put_statement(text: str, ledger: Ledger) -> Statement:
    """Return a sentence with its ids, and the sub-question that it is put under."""
    part, said = split_part(text, ledger)
    return replace(quoted_if_due(cite_ids(said, ledger), ledger), about=part)


def _with_computations(
    said: Sequence[Statement], computed: Sequence[ComputedStatement], is_edited: bool
) -> list[Statement]:
    """Return the statements with what they are computed by, which they cite as well."""
    by_number = {each.statement: each for each in computed}
    return [
        _computed(statement, by_number[number], is_edited) if number in by_number else statement
        for number, statement in enumerate(said, 1)
    ]


def named_operation(said: str) -> str:
    """Return the operation that a longer name begins with, as "duration_between_dates" does."""
    return next((name for name in OPERATIONS if said.startswith(f"{name}_")), said)


def _computed(statement: Statement, answer: ComputedStatement, is_edited: bool) -> Statement:
    evidence = tuple(dict.fromkeys(map(id_in, answer.evidence)))
    operation = "_".join(answer.operation.lower().split())
    operation = named_operation(operation) if is_edited else operation
    return replace(
        statement,
        evidence=tuple(i for i in dict.fromkeys((*statement.evidence, *evidence)) if i != ASKED),
        computed=Computation(operation, evidence),
    )


def _short_statement(ledger: Ledger, text: str, said: Sequence[Statement]) -> Statement | None:
    """Return a statement by its number, or a new sentence; None for an unknown number."""
    number = split_part(text, ledger)[1].strip(" []")
    if not number.isdecimal():
        return _put_statement(text, ledger)
    is_known = 0 < int(number) <= len(said)
    return replace(said[int(number) - 1], by_number=True) if is_known else None


def _has_text(statement: Statement) -> bool:
    return bool(statement.text)
