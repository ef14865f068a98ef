"""Check a draft: code, then the verifier, then once more what the model has repaired of it. What
nothing vouches for in the end becomes a quotation.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from research.engine.analyst import analyst_of
from research.engine.evidence.ledger import Ledger
from research.engine.journal.forms import Form
from research.engine.llm_tasks.compared_findings import find_disagreements
from research.engine.llm_tasks.repair import repair_statements
from research.engine.llm_tasks.sections import write_summary
from research.engine.records import Complexity, OpenPoint
from research.engine.report.checking.citations import completed_citations
from research.engine.report.checking.lacking import explain_faults
from research.engine.report.checking.last_look import with_last_look
from research.engine.report.checking.next_steps import (
    NOT_FOLLOWING,
    conclusion_faults,
    with_few_conclusions,
)
from research.engine.report.checking.statement_check import (
    idle_sentences,
    unfollowed_sentences,
)
from research.engine.report.checking.steps_check import look_at_steps, settle_steps
from research.engine.report.checking.table_values import cell_statements, settle_cells
from research.engine.report.draft import (
    Clash,
    Draft,
    Fault,
    Section,
    Statement,
    aspect_of,
    put_instead,
)
from research.engine.report.key_claims import is_led
from research.engine.report.parts.headings import with_fitting_headings
from research.engine.report.rendering.closing import with_untold_parts
from research.engine.report.report_gate import Checked
from research.engine.run import Run
from research.engine.text.offload import run_in_thread
from research.engine.verifier.check_draft import (
    Verdicts,
    Verified,
    test_verifier,
    verify_statements,
)
from research.engine.verifier.quote_instead import (
    quote_instead,
    with_stand_ins,
    with_whole_verdict,
)

QUOTED_WITHOUT_REPAIR = 0.125
"""Share of faulty statements up to which a report quotes instead of asking again, where it is brief
or no verifier could judge the second try.
"""
WORTH_A_REPAIR, WORTH_BEFORE = 3, 5
"""Faulty statements from which they are, also before `Form.EDITED`: fewer are quoted, since a
repair takes two calls.
"""
NOT_CARRIED = (
    "a checker found a word, figure, cause, rank or scope that its quotes don't give, or a "
    "condition, doubt or speaker left out"
)
ONLY_ONE = "only one of this and [{n}] can be right: {about}"
RESTS_ON = "it rests on [{n}], which may change"
Mended = Mapping[Statement, Statement | None]


async def check_draft(run: Run, draft: Draft) -> Checked:
    """Return the draft with quotations in the place of statements that nothing vouches for. What
    code or a believed verifier refuses is repaired once before, and checked again. Sections that
    were drafted by themselves get their summary.
    """
    await test_verifier(run, draft.statements)
    draft = with_few_conclusions(await _with_summary(run, draft))
    look = await with_last_look(run, with_untold_parts(draft, run.ledger))
    draft = look.draft
    idle = await run_in_thread(idle_sentences, draft, run.ledger)
    draft = put_instead(draft, dict.fromkeys(idle))
    found = await _find_faults(run, draft)
    if run.form >= Form.EDITED:
        completed = await run_in_thread(completed_citations, draft, found, run.ledger)
        draft = put_instead(draft, completed)
        found = await _find_faults(run, draft) if completed else found
    cells = cell_statements(run)
    first = await _verify(run, [*_others(draft.statements, found), *cells], "verify")
    first = settle_cells(run, cells, first)
    faults = _with_refused(draft, found, first)
    mends_verdicts, dropped = run.form >= Form.EDITED, set[Statement]()
    if not mends_verdicts:
        dropped = needless_verdicts(run, draft, faults)
        draft = put_instead(draft, dict.fromkeys(dropped))
        faults = [fault for fault in faults if fault.statement not in dropped]
    steps_seen = await look_at_steps(run, draft.next_steps)
    odd = _as_faults(draft, steps_seen.faults)
    clashes = new_clashes(draft, run.ledger)
    mended, second = dict[Statement, Statement | None](), Verdicts()
    is_wanted = bool(clashes or steps_seen.refused)
    if is_wanted or _is_worth_a_repair(run, draft, [*found, *odd], first):
        refused_too = {fault.statement for fault in faults}
        against = [f for f in clash_faults(draft, clashes) if f.statement not in refused_too]
        mended, second = await _repair(run, draft, [*faults, *against], odd)
    draft = with_clashes_told(draft, clashes, mended, run.ledger)
    given = put_instead(draft, mended)
    left = [fault for fault in faults if fault.statement not in mended]
    if mends_verdicts:
        dropped = needless_verdicts(run, given, left)
        given = put_instead(given, dict.fromkeys(dropped))
        left = [fault for fault in left if fault.statement not in dropped]
    steps = await settle_steps(run, draft.next_steps, steps_seen, mended)
    refused = [fault.statement for fault in left]
    amiss = [*refused, *first.unvouched]
    course = tuple(said for said in given.course if said not in amiss)
    given = replace(given, next_steps=steps.shown, course=course)
    shown = quote_instead(given, amiss, run.ledger)
    shown = look.reopened(shown)
    if run.form >= Form.EDITED:  # what a sentence led over to may be gone
        shown = put_instead(shown, dict.fromkeys(unfollowed_sentences(shown)))
    verified = Verified(
        shown,
        first.carried | second.carried,
        len(set(refused)),
        first.planted + second.planted + steps.planted,
        first.planted_found + second.planted_found + steps.found,
        first.use or second.use,
    )
    if run.has_model and not is_led(run):
        shown = with_stand_ins(shown, given.short_answer)
    if shown.is_authored and run.form >= Form.EDITED:
        tried = tuple(mended.get(said) or said for said in draft.short_answer)
        shown = with_whole_verdict(shown, tried)
    drafted = len(set(draft.statements))
    return Checked(
        with_fitting_headings(shown, run.ledger),
        sum(said is not None for said in mended.values()),
        sum(fault in found for fault in left) + len(dropped) + len(idle),
        verified,
        1 - verified.refused / drafted if drafted else 1.0,
        found_late=look.evidence,
        steps_refused=steps.left_out if steps.is_judged else 0,
        steps_unchecked=0 if steps.is_judged else steps.left_out,
    )


async def _with_summary(run: Run, draft: Draft) -> Draft:
    """Return the draft, one of sections with the summary of what code lets stand of them."""
    if not _lacks_summary(run, draft):
        return draft
    faulty = [fault.statement for fault in await _find_faults(run, draft)]
    summed = await write_summary(run, quote_instead(draft, faulty, run.ledger))
    return replace(
        draft,
        short_answer=summed.short_answer,
        next_steps=summed.next_steps,
        open=summed.open,
        course=summed.course,
        clashes=summed.clashes,
    )


def is_sectioned(run: Run) -> bool:
    """Return whether the report is long enough to be drafted section by section."""
    return analyst_of(run).drafts_sections and run.limits.sections > 1


def _lacks_summary(run: Run, draft: Draft) -> bool:
    return bool(not draft.short_answer and draft.sections and is_sectioned(run))


async def _find_faults(run: Run, draft: Draft) -> list[Fault]:
    found = await run_in_thread(run.rules.find_faults, draft, run.ledger)
    own = await run_in_thread(conclusion_faults, draft, run.ledger)
    return sorted([*found, *own], key=lambda fault: fault.number)


async def _verify(run: Run, statements: Sequence[Statement], step: str) -> Verdicts:
    if not run.rules.verifies_statements:
        return Verdicts()
    return await verify_statements(run, statements, step)


def _others(statements: Sequence[Statement], found: Sequence[Fault]) -> list[Statement]:
    faulty = {fault.statement for fault in found}
    return [said for said in statements if said not in faulty]


def _with_refused(draft: Draft, found: Sequence[Fault], verdicts: Verdicts) -> list[Fault]:
    """Return the faults, and what the verifier refused, in the order of the draft."""
    by_number = {fault.number: fault for fault in found}
    refused = {*verdicts.refused}
    for number, said in enumerate(draft.statements, 1):
        if said in refused:
            reason = NOT_FOLLOWING if said.concludes else NOT_CARRIED
            by_number.setdefault(number, Fault(number, said, reason))
    return [by_number[number] for number in sorted(by_number)]


def needless_verdicts(run: Run, draft: Draft, faults: Sequence[Fault]) -> set[Statement]:
    """Return the faulty verdict sentences if the first one is sound: without them the report still
    opens with an answer, which stands alone better than with what each of their quotes says.
    """
    faulty = {fault.statement for fault in faults}
    told = [said for said in draft.short_answer if said.is_verdict]
    stands = run.form >= Form.COMPUTED and told and told[0] not in faulty
    return faulty.intersection(told) if stands else set()


def _is_worth_a_repair(run: Run, draft: Draft, found: Sequence[Fault], verdicts: Verdicts) -> bool:
    """Return whether the model is asked again: where code found many faults always, else for some
    where the report is more than brief, the question is not simple, and a verifier can judge the
    second try, or for an author's verdict, with which the report would lose its answer.
    """
    if not analyst_of(run).repairs_drafts:
        return False
    if len(found) > QUOTED_WITHOUT_REPAIR * len(draft.statements):
        return True
    is_brief = run.config.research_depth == "quick" or run.ledger.complexity is Complexity.SIMPLE
    is_judged = verdicts.use in {"", "believed"}
    faulty = {*verdicts.refused, *(fault.statement for fault in found)}
    if draft.is_authored and is_judged and any(said.is_verdict for said in faulty):
        return True
    least = WORTH_A_REPAIR if run.form >= Form.EDITED else WORTH_BEFORE
    return len(faulty) >= least and is_judged and not is_brief


def _as_faults(draft: Draft, steps: Mapping[Statement, str]) -> list[Fault]:
    """Return steps as faults that are numbered behind the draft's statements."""
    first = len(draft.statements) + 1
    return [Fault(n, each, what) for n, (each, what) in enumerate(steps.items(), first)]


async def _repair(
    run: Run, draft: Draft, faults: Sequence[Fault], steps: Sequence[Fault]
) -> tuple[dict[Statement, Statement | None], Verdicts]:
    """Return what takes the place of a draft's faulty statements, None where the model leaves one
    out, and the verdicts on it; a second try that fails the check as well is not among them. That
    at a step is not judged here.
    """
    if run.form >= Form.EDITED:
        faults = await run_in_thread(explain_faults, faults, run.ledger, frozenset([NOT_CARRIED]))
    tried = await repair_statements(run, [*faults, *steps], draft.sections)
    inferred = {step.statement for step in steps}
    new = tuple(said for old, said in tried.items() if said and old not in inferred)
    found = await _find_faults(run, Draft((), (Section("", new),)))
    if run.form >= Form.EDITED and found:
        draft = Draft((), (Section("", new),))
        completed = await run_in_thread(completed_citations, draft, found, run.ledger)
        tried = {old: completed.get(said, said) if said else None for old, said in tried.items()}
        new = tuple(completed.get(said, said) for said in new)
        found = [fault for fault in found if fault.statement not in completed]
    verdicts = await _verify(run, _others(new, found), "verify/repaired")
    failed = {*verdicts.refused, *verdicts.unvouched, *(fault.statement for fault in found)}
    if run.form >= Form.EDITED:
        failed |= {said for said in new if not said.evidence}
    kept = {
        old: said
        for old, said in tried.items()
        if said is not old and (said not in failed or old in inferred)
    }
    return kept, verdicts


# --- clashes ----------------------------------------------------------------------------------
# Each section is drafted from its own evidence, and each statement is checked against its own
# quotes only, so two statements may contradict each other: a section misread a quote, or sources
# disagree. The repair prompt shows the quotes of both. If both are supported, the report presents a
# dispute, or an open point if both are from one site.


def new_clashes(draft: Draft, ledger: Ledger) -> list[Clash]:
    """Return the clashes between statements that are still in the sections, without those that are
    known disputes, or an earlier and a later value.
    """
    told = {said for section in draft.sections for said in section.statements}
    return [
        each
        for each in draft.clashes
        if told.issuperset((each.one, each.other)) and not _is_known(each, ledger)
    ]


def _is_known(clash: Clash, ledger: Ledger) -> bool:
    records, newer = ledger.book.records, ledger.relations.replaced
    pairs = [(one, other) for one in clash.one.evidence for other in clash.other.evidence]
    return any(
        other in records[one].contradicts or newer.get(one) == other or newer.get(other) == one
        for one, other in pairs
    )


def clash_faults(draft: Draft, clashes: Sequence[Clash]) -> list[Fault]:
    """Return faults for the repair: the statements that clash, and those of the short answer and of
    the course of events that rest on one of them; quotations are exempt.
    """
    numbers = {said: number for number, said in reversed([*enumerate(draft.statements, 1)])}
    reasons = dict[Statement, str]()
    for each in clashes:
        for said, other in ((each.one, each.other), (each.other, each.one)):
            reasons.setdefault(said, ONLY_ONE.format(n=numbers[other], about=each.about))
    for said in [*reasons]:
        for summed in (*draft.short_answer, *draft.course):
            if {*summed.evidence} >= {*said.evidence}:
                reasons.setdefault(summed, RESTS_ON.format(n=numbers[said]))
    faults = (Fault(numbers[said], said, reason) for said, reason in reasons.items())
    return sorted((each for each in faults if not each.statement.quoted), key=lambda f: f.number)


def with_clashes_told(
    draft: Draft, clashes: Iterable[Clash], mended: Mended, ledger: Ledger
) -> Draft:
    """Return a repaired draft with each clash of which neither side was `mended`: as a dispute if
    their sources are independent, otherwise as an open point.
    """
    before = dict(ledger.book.records)
    for each in clashes:
        if mended.keys().isdisjoint((each.one, each.other)):
            draft = _told(draft, each, ledger)
    ledger.emit_evidence(before)
    return draft


def _told(draft: Draft, clash: Clash, ledger: Ledger) -> Draft:
    one, other = clash.one.evidence[0], clash.other.evidence[0]
    if find_disagreements(ledger, [(one, other)]):
        records, matters = ledger.book.records, ledger.relations.matters
        ledger.book.oppose(records[one], records[other])
        ledger.relations = replace(ledger.relations, matters={**matters, (one, other): clash.about})
        return _side_by_side(draft, clash)
    part = aspect_of(clash.one, ledger)
    if part is None or not clash.about:
        return draft
    return replace(draft, open=(*(draft.open or ()), OpenPoint(part, clash.about)))


def _side_by_side(draft: Draft, clash: Clash) -> Draft:
    """Return the draft with the second statement of a clash moved to directly after the first."""

    def placed(section: Section) -> Section:
        told = [said for said in section.statements if said != clash.other]
        if clash.one in told:
            told.insert(told.index(clash.one) + 1, clash.other)
        return replace(section, statements=tuple(told))

    sections = tuple(map(placed, draft.sections))
    return replace(draft, sections=tuple(each for each in sections if each.statements))
