"""The report: drafted from ledger ids, checked by code, repaired once, cut, rendered."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass, replace
from datetime import datetime

from research.engine.analyst import analyst_of
from research.engine.assessment.answer_status import is_judged_by_code, supporting
from research.engine.evidence.ledger import ANSWERING, Ledger
from research.engine.journal.forms import Form
from research.engine.llm_tasks.compare import (
    compare_findings,
    compares_findings,
    relate_drafted,
)
from research.engine.llm_tasks.draft import drop_draft, repair_draft
from research.engine.llm_tasks.judge import judge_report
from research.engine.llm_tasks.sections import write_sections, write_summary
from research.engine.offline.drafting import draft_closest, quote_statement
from research.engine.records import (
    Checks,
    Criterion,
    Evidence,
    GateDecision,
    GateResult,
    Report,
    Status,
)
from research.engine.report.draft import Draft, Section, Statement, replace_statements, walled
from research.engine.report.outline import with_other_findings
from research.engine.report.parts.comparison import told_columns
from research.engine.report.parts.dating import (
    Stale,
    asks_for_changes,
    counts_otherwise,
    date_of_statement,
    first_date,
    is_alike,
    recalls,
    with_previous_values,
)
from research.engine.report.parts.disagreement import join_rivals, with_both_sides
from research.engine.report.parts.inline_quotes import without_told_quotes, words_of_quoting
from research.engine.report.parts.main_findings import lead_with_findings
from research.engine.report.parts.paragraphs import MOST_SENTENCES
from research.engine.report.parts.repetitions import (
    cover_parts,
    drop_repetitions,
    merge_repetitions,
    told_once,
    without_recalled,
    without_replaced,
    without_summarised,
    without_tabled,
)
from research.engine.report.parts.verdict import verdict_of
from research.engine.report.rendering.markdown import Rendered, count_words
from research.engine.report.report_format import (
    SHORT_ANSWER_WORDS,
    Layout,
    apply_format,
    cost_by_words,
    most_words,
    shorten,
    summary_words,
)
from research.engine.report.report_i18n import Labels, labels_for
from research.engine.run import Run
from research.engine.text.offload import run_in_thread
from research.engine.text.tokens import term_set
from research.engine.untrusted.dictation import asks_for_wording
from research.engine.untrusted.order_model import is_firmly_an_order
from research.engine.untrusted.order_words import content_terms
from research.engine.verifier.check_ahead import begin_check, drop_check
from research.engine.verifier.check_draft import Verified, verify_draft
from research.engine.verifier.qualification import least_proportion
from research.engine.verifier.quote_instead import quote_instead

KEY_CLAIMS = 0.9
MOST_QUOTATIONS = 3
"""Of what pages dictate, on one sub-question."""
STATEMENTS = 0.5
LEFT_OUT = "left out for the report's length"
QUOTED_WITHOUT_REPAIR = 0.125
"""Share of statements for whose faults the model isn't asked again: quotes do as well."""
STALE_COST = 1000
"""By how much sooner a figure is cut that may have changed."""
IN_SECTIONS = frozenset({"full", "longer", "faq", "review"})
"""The shapes of a report that are drafted in sections where there are many."""


@dataclass(frozen=True)
class Checked:
    """A draft that passed, and what it took. `stood` is the share of what was drafted that neither
    code nor a believed verifier refused; `is_dense` says that the report is too long otherwise.
    """

    draft: Draft
    repaired: int
    cut: int
    verified: Verified
    stood: float = 1.0
    is_dense: bool = False


@dataclass(frozen=True)
class Written:
    """A draft that was checked and rendered, and what Gate 3 says of it."""

    checked: Checked
    rendered: Rendered
    gate: GateResult


async def compose_report(run: Run) -> Written | None:
    """Draft, check, repair, cut and judge the report; None where no sub-question is answered,
    though there may be notes on the topic.
    """
    ledger = run.ledger
    is_close = run.has_model and is_judged_by_code(ledger) and supporting(ledger) > 0
    if not (ledger.answered() or is_close):
        await drop_draft(run)
        await drop_check(run)
        return None
    if analyst_of(run).drafts_sections and compares_findings(run):
        await compare_findings(run)
    run.report_action("Writing the report")
    drafted = apply_format(await _draft_report(run), run.shape)
    if run.has_model:
        drafted = merge_repetitions(drafted)
    drafted = drop_repetitions(drafted)
    await relate_drafted(run, drafted.newer, drafted.disagree, drafted.cells)
    drafted = without_recalled(without_replaced(drafted, ledger.relations), ledger)
    if run.has_model:
        drafted = join_rivals(drafted, ledger, run.form >= Form.CARRIED)
    checked = await _check_draft(run, drafted)
    checked = _with_key_claims(run, checked)
    if run.has_model and not checked.draft.by_code:
        checked = replace(checked, draft=without_told_quotes(checked.draft))
    if run.config.research_depth == "quick":
        brief = without_tabled(without_summarised(checked.draft), ledger.relations)
        checked = replace(checked, draft=brief)
    rendered = _render_checked(run, checked)
    criteria = _report_criteria(run, checked, rendered)
    if run.has_model:
        checked = _within_length(run, checked)
        rendered = _render_checked(run, checked)
        criteria = _as_delivered(criteria, _report_criteria(run, checked, rendered))
    gate = await _report_gate(run, criteria)
    run.journal.emit(gate)
    return Written(checked, rendered, gate)


def _within_length(run: Run, checked: Checked) -> Checked:
    """Return the draft with the values that newer ones replaced where the report has room for
    them, cut to the length of its form and depth; up to half as long again where quotations take
    more words than the statements whose place they take.
    """
    most = most_words(run.shape, run.config.research_depth)
    asked = term_set(run.question.text)

    def is_short(draft: Draft) -> bool:
        rendered = _render_checked(run, replace(checked, draft=draft))
        if most is None:
            return True
        longer = words_of_quoting(draft) if run.form >= Form.CARRIED else 0
        room = most + min(longer, most // 2)
        return count_words(rendered.markdown) <= room

    records = run.ledger.book.records

    def is_disputed(said: Statement) -> bool:
        return any(records[i].contradicts for i in said.evidence)

    answered = {a.id for a in run.ledger.aspects.values() if a.state in ANSWERING}

    def answered_by(said: Statement) -> Set[str]:
        return {part for i in said.evidence for part in records[i].answers} & answered

    recent = Stale.on(run.question.today).figures

    def cost(said: Statement) -> float:
        dates = [date_of_statement(records[i]) for i in said.evidence if records[i].fields.numbers]
        is_stale = bool(dates) and "" < max(dates) < recent
        return cost_by_words(said, asked) + STALE_COST * is_stale

    dated = with_previous_values(checked.draft, run.ledger, run.form >= Form.CARRIED)
    if is_short(dated):
        return replace(checked, draft=dated)
    draft, is_concise = checked.draft, _is_concise(run)
    if is_concise and not draft.by_code:
        draft = with_other_findings(draft, run.ledger)
    has_figures = run.config.research_depth != "quick" or is_concise
    draft = told_once(draft, run.ledger.relations, has_figures)
    checked = replace(checked, draft=draft, is_dense=True)
    return replace(checked, draft=shorten(draft, is_short, is_disputed, answered_by, cost))


async def _draft_report(run: Run) -> Draft:
    """One draft, or for a run of many parts a draft of each section."""
    if is_sectioned(run) and run.shape.form in IN_SECTIONS:
        return await write_sections(run)
    if not run.ledger.statable:
        await drop_draft(run)
        return Draft((), ())
    if analyst_of(run).works_ahead:
        await begin_check(run, f"{run.report_place}/claims")
    return await analyst_of(run).write_draft()


def is_sectioned(run: Run) -> bool:
    """Return whether the report is long enough to be drafted section by section."""
    return analyst_of(run).drafts_sections and run.limits.sections > 1


async def publish_report(run: Run, written: Written | None) -> None:
    """Emit the report as it was written and end the run; of evidence that answers nothing, only
    the closest passages.
    """
    if written is not None:
        _emit_report(run, written.checked, written.rendered)
    elif run.ledger.evidence:
        draft = draft_closest(run.ledger)
        draft = replace(draft, short_answer=_choose_short(draft.short_answer, ()))
        checked = Checked(draft, 0, 0, Verified(draft))
        _emit_report(run, checked, _render_checked(run, checked))
    else:
        run.journal.emit(Report(""))
    await run.journal.elapsed("end")
    run.tell_usage()
    run.update_state(status=Status.COMPLETED)
    if written is not None and run.has_model and run.config.enable_online_evals:
        await judge_report(run, written.rendered.markdown)


def _render_checked(run: Run, checked: Checked) -> Rendered:
    draft = walled(checked.draft, run.wall())
    words = labels_for(run.ledger.plan.language)
    by_code = run.journal.meter.usage.fallen_back
    ended = words.ended(run.state.termination_reason, run.state.termination_text or "")
    depth, has_model = run.config.research_depth, run.has_model
    is_quick = depth == "quick"
    layout = Layout(
        as_table=run.shape.form == "table",
        is_brief=has_model and is_quick,
        is_terse=_is_terse(run) or checked.is_dense,
        is_dense=checked.is_dense,
        names_sources=has_model and run.shape.form == "review",
        has_figures=has_model and (not is_quick or (checked.is_dense and _is_concise(run))),
        stale=_stale(run),
        has_extremes=has_model and not is_quick and not checked.is_dense,
        summary_sentences=MOST_SENTENCES - has_model,
        is_direct=has_model,
        labels_items=_has_verdict(run),
        lists_changes=_lists_changes(run),
        names_kinds=run.form >= Form.CARRIED and not is_quick,
        has_room=run.form >= Form.CARRIED and depth == "thorough",
        form=run.began,
    )
    if layout.is_terse and not layout.is_dense:
        ended = ""
    told = " · ".join(filter(None, (_how_checked(words, _checks(checked)), ended)))
    return run.rules.render_report(run.ledger, draft, told, checked.cut, by_code, layout)


def _stale(run: Run) -> Stale | None:
    """Return what counts as old in the report; figures without a date are marked only where most
    pages have one.
    """
    if not run.has_model:
        return None
    pages = run.ledger.pages.values()
    is_dated = 2 * sum(bool(page.published) for page in pages) > len(pages)
    return Stale.on(run.question.today, tells_undated=is_dated)


def _lists_changes(run: Run) -> bool:
    """Return whether the report has a table of what has changed: the question asks for it, and the
    report has room.
    """
    is_long = run.config.research_depth != "quick" and run.shape.form in IN_SECTIONS
    return run.form >= Form.CARRIED and is_long and asks_for_changes(run.question.text)


def _is_concise(run: Run) -> bool:
    """Return whether a report that is too long has key figures, and may say what the draft left
    out: a quick one whose form nobody chose.
    """
    return _is_terse(run) and run.shape.form == "full"


def _is_terse(run: Run) -> bool:
    return run.has_model and run.config.research_depth == "quick"


def _how_checked(words: Labels, checks: Checks) -> str:
    """Return what vouches for the statements, and how many planted errors the verifier found; ""
    where code vouches for all.
    """
    if not checks.verifier:
        return ""
    counts = {"code": checks.by_code, "model": checks.by_model, "neither": checks.by_neither}
    told = words["checked_by"].format(**counts)
    if not checks.planted:
        return told
    least = round(100 * least_proportion(checks.planted_found, checks.planted))
    found = {"found": checks.planted_found, "planted": checks.planted, "least": least}
    return f"{told} · {words['planted'].format(**found)}"


def _emit_report(run: Run, checked: Checked, rendered: Rendered) -> None:
    _mark_cited(run.ledger, rendered)
    run.journal.emit(_to_report(checked, rendered))


async def _check_draft(run: Run, draft: Draft) -> Checked:
    """Faulty statements get one repair by the model if they are many; what is still faulty is cut,
    and its quotes come in its place. What code can't vouch for goes to the verifier.
    """
    found, repaired = await run_in_thread(run.rules.find_faults, draft, run.ledger), 0
    is_worth_a_call = len(found) > QUOTED_WITHOUT_REPAIR * len(draft.statements)
    if is_worth_a_call and analyst_of(run).repairs_drafts:
        draft = replace_statements(draft, await repair_draft(run, draft, found))
        left = await run_in_thread(run.rules.find_faults, draft, run.ledger)
        repaired, found = max(0, len(found) - len(left)), left
    faulty = [fault.statement for fault in found]
    draft = quote_instead(draft, faulty, run.ledger)
    if not draft.short_answer and draft.sections and is_sectioned(run):
        draft = await _summarise(run, draft)
    verifies = run.rules.verifies_statements
    verified = await verify_draft(run, draft) if verifies else Verified(draft)
    refused, drafted = len(set(faulty)) + verified.refused, len(set(draft.statements))
    stood = 1 - refused / drafted if drafted else 1.0
    return Checked(verified.draft, repaired, len(found), verified, stood)


async def _summarise(run: Run, draft: Draft) -> Draft:
    """Return the draft with a summary of its statements; sentences that their evidence doesn't
    carry give way to statements that do.
    """
    summary = await write_summary(run, draft)
    found = await run_in_thread(run.rules.find_faults, Draft(summary, ()), run.ledger)
    faulty = {fault.statement for fault in found}
    kept = tuple(each for each in summary if each not in faulty)
    if not kept:
        kept = tuple(s for section in draft.sections[:1] for s in section.statements[:1])
    return replace(draft, short_answer=kept)


def _with_key_claims(run: Run, checked: Checked) -> Checked:
    """Cutting is no way to pass: what answers a sub-question best comes in as a quotation where
    the draft lost it, or has no section on that sub-question; of a model's draft no value that is
    outdated or that a claim gives beside its own.
    """
    ledger, draft = run.ledger, checked.draft
    cited = {i for s in draft.statements for i in s.evidence}
    sections = {section.aspect_id: section for section in draft.sections}
    for aspect_id in ledger.aspects:
        current = (r for r in ledger.supporting(aspect_id) if r.id not in ledger.relations.replaced)
        keys = (r for r in current if r.key)
        if run.has_model:
            keys = (r for r in keys if not _is_outdated(ledger, r))
        best = next(keys, None)
        if best and (best.id not in cited or aspect_id not in sections):
            old = sections.get(aspect_id, Section(aspect_id, ()))
            said = (*old.statements, quote_statement(best))
            sections[aspect_id] = replace(old, statements=said)
    found = [sections[a] for a in ledger.aspects if a in sections]
    ordered = tuple(_with_dictated(run, section) for section in found)
    given = [said for said in draft.short_answer if _may_answer(ledger, said)]
    is_broad, most = len(ledger.aspects) > 1 and not draft.by_code, summary_words(ledger)
    short: tuple[Statement, ...] = ()
    if is_broad and run.has_model:
        language = ledger.plan.language
        columns = {}
        if run.config.research_depth != "quick":
            columns = told_columns(ledger.relations, labels_for(language), language)
        short = lead_with_findings(ledger, given, ordered, most, columns)
    if not short:
        answering = [s for s in ordered if ledger.aspects[s.aspect_id].state in ANSWERING]
        short = _choose_short(given, answering, most)
        short = cover_parts(ledger, short, ordered) if is_broad else short
    if run.has_model:
        short = with_both_sides(short, ordered, ledger)
    if is_broad and _has_verdict(run) and not any(said.is_verdict for said in short):
        language = ledger.plan.language
        verdict = verdict_of(ledger.relations, labels_for(language), language)
        short = (verdict, *short) if verdict and short else short
    return replace(checked, draft=replace(draft, sections=ordered, short_answer=short))


def _has_verdict(run: Run) -> bool:
    return run.has_model and run.config.research_depth != "quick"


def _with_dictated(run: Run, section: Section) -> Section:
    """Return the section with what pages dictate to others, as quotations, where nothing else
    answers, the question is about such words, or they hold most words of the sub-question; of a
    model's draft also the one that holds most of them, unless it is firmly an order.
    """
    ledger = run.ledger
    found = ledger.supporting(section.aspect_id)
    asked = ledger.aspects[section.aspect_id].text
    is_all = all(record.is_dictated for record in found)
    is_all = is_all or asks_for_wording(f"{ledger.question} {asked}")
    dictated = [record for record in found if record.is_dictated]
    told = [r for r in dictated if is_all or _holds_most(r.claim, asked)]
    if run.has_model and not told:
        wanted = content_terms(asked)
        may_be_honest = [r for r in dictated if not is_firmly_an_order(r.claim)]
        may_be_honest.sort(key=lambda r: -len(content_terms(r.claim) & wanted))
        told = may_be_honest[:1]
    cited = {i for said in section.statements for i in said.evidence}
    if run.has_model:
        told = [r for r in told if not _is_outdated(ledger, r)]
    if run.form >= Form.CARRIED:  # one side of what is disputed is told by who holds it
        told = [r for r in told if cited.isdisjoint(r.contradicts)]
    added = [quote_statement(r) for r in told[:MOST_QUOTATIONS] if r.id not in cited]
    if run.has_model:
        quoted = {said.body: said for said in (*reversed(added), *section.statements)}
        added = [said for said in added if quoted[said.body] is said]
    return replace(section, statements=(*section.statements, *added))


def _is_outdated(ledger: Ledger, record: Evidence) -> bool:
    """Return whether a record is replaced, a younger claim counts another number of such things, or
    a claim on the same thing gives its value beside another one.
    """
    if record.id in ledger.relations.replaced:
        return True
    date = first_date(record)
    if any(counts_otherwise(each, record) and date < first_date(each) for each in ledger.statable):
        return True
    return any(recalls(each, record) and is_alike(each, record) for each in ledger.statable)


def _holds_most(text: str, asked: str) -> bool:
    wanted = content_terms(asked)
    return 2 * len(wanted & content_terms(text)) >= len(wanted)


def _may_answer(ledger: Ledger, said: Statement) -> bool:
    """Return whether a statement may be part of the short answer: notes on a sub-question that
    stays open may not.
    """
    cited = [ledger.book.records[i] for i in said.evidence]
    answered = {a.id for a in ledger.aspects.values() if a.state in ANSWERING}
    return not cited or any(answered.intersection(record.answers) for record in cited)


def _choose_short(
    given: Sequence[Statement], sections: Sequence[Section], most: int = SHORT_ANSWER_WORDS
) -> tuple[Statement, ...]:
    """As many whole statements as fit into the short answer of at most so many words. Where none
    that is cited does, the first cited one of the draft that fits, or its first at all. Passages
    chosen by code stay whole.
    """
    if given and all(said.quoted for said in given):
        return tuple(given)
    kept: list[Statement] = []
    room = most
    for said in given:
        room -= said.words
        if room < 0:
            break
        kept.append(said)
    if any(said.evidence for said in kept):
        return tuple(kept)
    every = [*given, *(said for section in sections for said in section.statements)]
    spare = [said for said in every if said.evidence]
    fitting = (said for said in spare if said.words <= most)
    return tuple([next(fitting, *spare[:1])] if spare else ())


def _to_report(checked: Checked, rendered: Rendered) -> Report:
    return Report(rendered.markdown, rendered.citations, _checks(checked), rendered.short_answer)


def _checks(checked: Checked) -> Checks:
    statements = checked.draft.statements
    cited = sum(bool(statement.evidence) for statement in statements)
    verified, uncited = checked.verified, len(statements) - cited
    stated = [each for each in statements if each.evidence and not each.quoted]
    by_model = sum(each in verified.carried for each in stated)
    return Checks(
        statements=len(statements),
        cited=cited,
        connections=uncited,
        repaired=checked.repaired,
        cut=checked.cut,
        by_code=len(stated) - by_model,
        by_model=by_model,
        by_neither=uncited,
        quoted_instead=checked.draft.quoted_instead,
        planted=verified.planted,
        planted_found=verified.planted_found,
        verifier=verified.use,
    )


def _mark_cited(ledger: Ledger, rendered: Rendered) -> None:
    for citation in rendered.citations:
        ledger.put_source(replace(ledger.sources[citation.url], status="cited"))


def _report_criteria(run: Run, checked: Checked, rendered: Rendered) -> tuple[Criterion, ...]:
    """Return coverage, structure and citations of the draft, with their figures."""
    ledger, draft = run.ledger, checked.draft
    replaced = ledger.relations.replaced
    keys = [record for record in ledger.evidence if record.key and record.id not in replaced]
    cited = {i for citation in rendered.citations for i in citation.evidence_ids}
    answered = [a for a in ledger.aspects.values() if a.state in ANSWERING]
    covered = {section.aspect_id for section in draft.sections}
    if run.has_model:  # a short report says some things in its short answer alone
        told = {i for said in draft.short_answer for i in said.evidence}
        if run.form >= Form.CARRIED:  # an earlier value stands beside the current one
            told |= {i for said in draft.statements for i in said.earlier}
        covered |= {part for i in told for part in ledger.book.records[i].answers}
    return (
        Criterion("share of answered sub-questions with a section",
                  sum(a.id in covered for a in answered) / max(1, len(answered)), 1),
        Criterion("short answer", float(bool(draft.short_answer)), 1),
        Criterion("share of key claims in the report",
                  sum(r.id in cited for r in keys) / max(1, len(keys)), KEY_CLAIMS),
        Criterion("share of statements that stood the check",
                  round(checked.stood, 4), STATEMENTS),
    )  # fmt: skip


def _as_delivered(
    drafted: Sequence[Criterion], delivered: Sequence[Criterion]
) -> tuple[Criterion, ...]:
    """Return the criteria of the report that is delivered; no more is to be had of one that the
    draft met before it was cut to its length.
    """
    return tuple(
        replace(after, unavailable=LEFT_OUT) if before.met and not after.met else after
        for before, after in zip(drafted, delivered, strict=True)
    )


async def _report_gate(run: Run, criteria: tuple[Criterion, ...]) -> GateResult:
    """Gate 3 on the report."""
    short = [criterion for criterion in criteria if not criterion.met]
    decision: GateDecision = "retry" if short else "pass"
    if short and all(criterion.unavailable for criterion in short):
        decision = "not_to_be_had"
    at = datetime.fromisoformat(await run.journal.now(f"{run.report_place}/gate"))
    failed = tuple(criterion.name for criterion in short)
    score = round(sum(min(1.0, c.value / c.minimum) for c in criteria) / len(criteria), 4)
    return GateResult(
        run.ledger.round.number, "draft", decision, score, None, criteria, failed, at,
    )  # fmt: skip
