"""The end of research: why it ended, what stays open and whether a report follows. Once, a draft
that fails Gate 3 sends the run back to research, where a budget is left.
"""

from __future__ import annotations

from research.engine.assessment import stages
from research.engine.assessment.answer_status import count_answered
from research.engine.assessment.stop_rule import Stop
from research.engine.budget.wind_down import cost_of_a_round
from research.engine.evidence.ledger import ANSWERING, Ledger
from research.engine.journal.forms import Form
from research.engine.records import AspectState, Status, StopReason
from research.engine.report import messages
from research.engine.report.draft import Draft, Statement
from research.engine.report.rendering.closing import shares_words
from research.engine.report.report_gate import Written
from research.engine.rounds.topics import choose_topics, further_topics, unsearched_aspects
from research.engine.run import Run
from research.engine.text.tokens import unique_texts

FINAL = frozenset(
    {
        StopReason.CANCELLED,
        StopReason.USER_STOPPED,
        StopReason.PAGES_UNREADABLE,
        StopReason.NOTHING_FOUND,
    }
)


LEAST_STATED = 2
"""Fewest statements of a section that answers what the last assessment left open."""


async def finish_research(run: Run, stop: Stop) -> bool:
    """Write down why it ended; True where a report is to be written."""
    ledger = run.ledger
    missed = [] if run.is_fixed else unsearched_aspects(ledger, run.topic_threshold)
    for aspect in ledger.open_aspects():
        state = AspectState.NOT_SEARCHED if aspect in missed else AspectState.NOT_FOUND
        ledger.set_aspect(aspect.id, state=state)
    text = messages.stop_message(stop.reason, ledger, run.config, run.earned)
    if stop.reason is StopReason.CANCELLED:
        run.update_state(
            status=Status.CANCELLED, termination_reason=stop.reason, termination_text=text
        )
        return False
    if _everything_failed(run) and stop.reason is not StopReason.BUDGET_TIME:
        run.update_state(status=Status.FAILED, verdict=messages.FAILED, quality_score=None)
        return False
    run.update_state(stage=stages.next_stage(run.state.stage, "early_end"))
    run.update_state(
        status=Status.WRITING, termination_reason=stop.reason, termination_text=text, verdict=text
    )
    return True


def recount_answers(run: Run, draft: Draft) -> None:
    """Tell why research ended by the answers that there are once a report is checked, as every
    display counts them: the last look, what authors compared, and the sections of the `draft` may
    have added some.
    """
    ledger, state = run.ledger, run.state
    reason, told = state.termination_reason, state.termination_text
    is_rewritten = run.question.seed is not None and run.question.seed.rewrites
    if run.form < Form.EDITED:
        return
    _count_sections(ledger, draft)
    if reason is None or not told or is_rewritten:
        return
    text = messages.stop_message(reason, ledger, run.config, run.earned)
    if text == told:
        return
    run.update_state(termination_text=text, verdict=text)
    ledger.retell_decisions(told, text)
    ledger.update_round(answered=count_answered(ledger))


def _count_sections(ledger: Ledger, draft: Draft) -> None:
    """Count as answered each sub-question that the last assessment left open though its section has
    several statements (of one that the section only covers, several that cite its evidence), unless
    the author of the report leaves open what it asks, and not only a detail, and concludes nothing
    on it: the author has seen all findings, and what was found since.
    """
    if draft.open is None:
        return
    records = ledger.book.records
    for section in draft.sections:
        every = [each for each in section.statements if each.evidence and not each.quoted]
        for aspect in map(ledger.aspects.__getitem__, section.parts):
            is_own = aspect.id == section.aspect_id
            stated = every if is_own else [s for s in every if _cites(s, aspect.id, ledger)]
            found = unique_texts(i for said in stated for i in said.evidence)
            concludes = draft.is_authored and any(said.concludes for said in stated)
            points = (each.text for each in draft.open if each.aspect_id == aspect.id)
            is_open = any(shares_words(text, aspect.text) for text in points) and not concludes
            if aspect.state in ANSWERING or is_open or len(stated) < LEAST_STATED:
                continue
            sources = {key for i in found for key in records[i].keys}
            state = AspectState.ANSWERED if len(sources) > 1 else AspectState.ONE_SOURCE
            ledger.set_aspect(aspect.id, state=state, evidence_ids=tuple(found))


def _cites(said: Statement, aspect_id: str, ledger: Ledger) -> bool:
    """Return whether a statement cites evidence on a sub-question."""
    return any(aspect_id in ledger.book.records[i].answers for i in said.evidence)


def _everything_failed(run: Run) -> bool:
    """Nothing was found because no search, page or model answered at all."""
    return not run.ledger.evidence and run.journal.all_failed()


async def should_reopen(run: Run, written: Written | None) -> bool:
    """Return whether research goes on for one round: the next round's topics are ready then."""
    if written is None or written.gate.decision != "retry" or run.is_fixed:
        return False
    if not run.rules.reopens_after_draft or await _is_wanted_at_once(run):
        return False
    reason = run.state.termination_reason
    full = len(run.ledger.rounds) >= run.config.adaptive_max_depth
    units_left = run.config.max_research_units > len(run.ledger.topics)
    if reason in FINAL or full or not units_left or run.journal.meter.refused:
        return False
    seconds, cost = run.marks[-1].seconds, cost_of_a_round(run, run.limits.topics_per_round)
    if run.journal.meter.short_of(cost, seconds, run.has_model):
        return False
    topics = further_topics(run.ledger)
    if not choose_topics(topics, run.ledger, 1, run.topic_threshold).topics:
        return False
    run.is_reopened, run.candidates = True, topics
    run.log("research reopens: the draft failed in %s", ", ".join(written.gate.feedback))
    return True


async def _is_wanted_at_once(run: Run) -> bool:
    """Return whether a person wants the report without further answers of the model."""

    async def read() -> bool:
        return run.journal.is_broken_off

    if run.form < Form.EDITED:
        return False
    wanted: bool = await run.journal.decide_once(f"{run.report_place}/wanted_at_once", read)
    return wanted


async def reopen_research(run: Run) -> None:
    """Go back from the report to research; the time so far was the report's."""
    await run.journal.elapsed("report")
    stage = stages.next_stage(run.state.stage, "draft_failed")
    run.update_state(stage=stage, termination_reason=None, termination_text=None)
