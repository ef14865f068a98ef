"""Task `draft`: the report, written from ledger ids."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from research.engine.evidence.ledger import Ledger
from research.engine.journal.forms import Form
from research.engine.llm_tasks.answers import (
    DraftAnswer,
    OpenDraftAnswer,
    TabledDraftAnswer,
    TabledOpenDraftAnswer,
    TabledWholeDraftAnswer,
    WholeDraftAnswer,
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
from research.engine.records import Evidence
from research.engine.report.draft import (
    Draft,
)
from research.engine.report.draft_answer import read_draft
from research.engine.report.parts.dating import MONTH, asks_for_changes, first_date, previous_values
from research.engine.report.parts.inline_quotes import quotable
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
WHOLE_DRAFT: Task[DraftAnswer] = Task("draft", WholeDraftAnswer, 6500, prompt="report")
TABLED_WHOLE_DRAFT: Task[DraftAnswer] = Task("draft", TabledWholeDraftAnswer, 6500, prompt="report")
CONTEXT_WORDS = 25_000
BROAD_FROM = 4
VERDICT_FROM = 3
"""Sub-questions from which a report is written as a whole, with a verdict and its own sections."""
ROOM_FOR_WHOLE = 8_000
"""Tokens of the smallest window whose model is asked for that: less holds too little evidence."""
ASKED_SHARE = 0.8
"""Share of the words that a report has room for which its author is asked for: authors write more,
and what is cut leaves gaps.
"""
LEAST_DRAFT = 400
"""Minimum number of words for the sections of a draft, however long its tables are."""
SPARE_DRAFT = 2
"""Drafted words of a broad quick report for each that it may keep, which code chooses."""
MOST_TOLD_BEFORE = 16_000
"""Characters of the earlier report that the author of a follow-up is shown."""


async def write_draft(run: Run) -> Draft:
    """Return the model's draft; takes over one that was begun ahead. Raises `TaskFailedError`."""
    begun = await _taken_up(run)
    place = begun.place if begun else f"{run.report_place}/draft"
    growing = begun.growing if begun else DraftStream(run)
    is_whole = await _is_whole(run)
    context = partial(_prompt_context, run, is_whole)
    answer, _ = await ask_fitting(run, place, _task(run, is_whole), context, growing.hear)
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
    is_whole = await _is_whole(run)
    shown = _prompt_context(run, is_whole, EVERYTHING)
    task = fit_uncut(_task(run, is_whole), shown, await run.context_tokens())
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
    begun, now = run.begun, _prompt_context(run, await _is_whole(run), EVERYTHING)
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


def _prompt_context(run: Run, is_whole: bool, room: int) -> dict[str, Any]:
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
        "length": wanted_length(run.shape, _usual_length(run, is_whole), len(ledger.aspects)),
        "summary": summary_words(ledger),
        "most_open": MOST_OPEN,
        "seeks": run.form >= Form.COMPUTED,
        "names_holders": run.form >= Form.COMPUTED,
        "has_formulas": run.form >= Form.COMPUTED,
        "concludes": is_whole and run.form >= Form.EDITED,
        "is_besides": is_whole and run.shape.form not in LENGTHS,
        "is_concise": _is_quick_and_broad(run),
        "things": _tabled(run),
        "tables": ledger.tables,
        "titles": told_titles(run),
        "told_before": ledger.told_before[:MOST_TOLD_BEFORE],
        "gaps": gaps_shown(ledger) if is_long and run.form >= Form.EDITED else [],
        "has_course": any(
            asks_for_course(text, ledger.began) for text in (run.question.text, *asked)
        ),
    }


def told_titles(run: Run) -> Mapping[str, str]:
    """Return the titles of pages that stand for their one site; none before `Form.EDITED`."""
    return lone_titles(run.ledger) if run.form >= Form.EDITED else {}


def _task(run: Run, is_whole: bool) -> Task[DraftAnswer]:
    if is_whole:
        return TABLED_WHOLE_DRAFT if _tabled(run) else WHOLE_DRAFT
    if run.config.research_depth != "quick":
        return TABLED_OPEN_DRAFT if _tabled(run) else OPEN_DRAFT
    return TABLED_DRAFT if _tabled(run) else DRAFT


async def _is_whole(run: Run) -> bool:
    """Return whether the report is written as a whole: not a quick one, one of few parts that is no
    follow-up, or one by a model with a small window.
    """
    is_broad = len(run.ledger.aspects) >= VERDICT_FROM or bool(run.ledger.told_before)
    is_broad = is_broad or run.answers_at_once
    if not is_broad or run.config.research_depth == "quick":
        return False
    window = await run.context_tokens()
    return window is None or window >= ROOM_FOR_WHOLE


def _tabled(run: Run) -> tuple[str, ...]:
    """Return the things that a draft compares in a table: findings that are many are compared in a
    call of their own.
    """
    known = run.ledger.relations.is_known or len(usable_evidence(run.ledger)) >= COMPARED_FROM
    return () if known else compared_things(run.question.text)


def _usual_length(run: Run, is_whole: bool) -> str:
    least, most = _words_of_draft(run, is_whole)
    return f"{least:,} to {most:,}"


def _words_of_draft(run: Run, is_whole: bool) -> tuple[int, int]:
    least, most = run.limits.words
    if _is_quick_and_broad(run):
        most *= SPARE_DRAFT
    elif is_whole and not run.answers_at_once:
        parts, disputes = len(run.ledger.aspects), len(newest_disputes(run.ledger))
        room = words_of_statements(most, run.ledger.complexity, parts, disputes)
        room -= words_of_tables(run.ledger.relations)
        most = max(LEAST_DRAFT, int(ASKED_SHARE * room) // 10 * 10)
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
