"""The report: drafted from ledger ids, checked by code, repaired once, cut, rendered."""

from __future__ import annotations

from collections import Counter
from collections.abc import Set
from dataclasses import replace
from functools import cache

from research.engine.analyst import analyst_of
from research.engine.assessment.answer_status import is_judged_by_code, supporting
from research.engine.evidence.ledger import ANSWERING, Ledger
from research.engine.evidence.relations import Relations
from research.engine.journal.forms import Form
from research.engine.limits import USUAL_PARTS
from research.engine.llm_tasks.compare import compare_findings, compares_findings, relate_drafted
from research.engine.llm_tasks.draft import drop_draft
from research.engine.llm_tasks.judge import judge_report
from research.engine.llm_tasks.sections import write_sections
from research.engine.offline.drafting import draft_closest
from research.engine.records import Checks, Report, Status
from research.engine.report.checking.check import check_draft, is_sectioned
from research.engine.report.draft import Draft, Statement, walled
from research.engine.report.ending import recount_answers
from research.engine.report.key_claims import choose_short, is_led, with_key_claims
from research.engine.report.outline import with_other_findings, with_thin_sections_marked
from research.engine.report.parts.dating import (
    Stale,
    asks_for_changes,
    date_of_statement,
    stale_in,
    with_previous_values,
)
from research.engine.report.parts.disagreement import first_of_sides, gather_rivals
from research.engine.report.parts.inline_quotes import (
    unplaced_quotes,
    without_told_quotes,
    words_of_quoting,
)
from research.engine.report.parts.paragraphs import MOST_SENTENCES, course_items
from research.engine.report.parts.repetitions import (
    drop_repetitions,
    merge_repetitions,
    told_once,
    without_recalled,
    without_replaced,
    without_summarised,
    without_tabled,
)
from research.engine.report.parts.timeline import (
    course_events,
    with_course_of_events,
    with_one_landmark,
    without_told_events,
)
from research.engine.report.rendering.markdown import Rendered, count_words
from research.engine.report.report_format import (
    SPARE_COST,
    Layout,
    apply_format,
    cost_by_words,
    most_words,
    shorten,
    without_loose_ends,
)
from research.engine.report.report_gate import (
    Checked,
    Written,
    as_delivered,
    report_criteria,
    report_gate,
)
from research.engine.report.report_i18n import Labels, labels_for
from research.engine.run import Run
from research.engine.text.tokens import term_set
from research.engine.verifier.check_ahead import begin_check, drop_check
from research.engine.verifier.check_draft import Verified
from research.engine.verifier.qualification import least_proportion

STALE_COST = 1000
"""By how much sooner a figure is cut that may have changed."""
UNPLACED_COST = 2 * SPARE_COST
"""By how much sooner a quotation is cut that no author placed: before any statement."""
IN_SECTIONS = frozenset({"full", "longer", "faq", "review"})
"""The shapes of a report that are drafted in sections where there are many."""


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
        drafted = drafted if drafted.is_authored else gather_rivals(drafted, ledger)
        drafted = with_course_of_events(drafted, ledger)
    checked = await check_draft(run, drafted)
    recount_answers(run, checked.draft)
    checked = replace(checked, draft=without_told_events(checked.draft, ledger))
    checked = replace(checked, draft=with_key_claims(run, checked.draft))
    if run.has_model and not checked.draft.by_code:
        checked = replace(checked, draft=without_told_quotes(checked.draft))
    if _tells_what_is_thin(run, checked.draft):
        checked = replace(checked, draft=with_thin_sections_marked(checked.draft, ledger))
    if run.config.research_depth == "quick":
        brief = without_tabled(without_summarised(checked.draft), ledger.relations)
        checked = replace(checked, draft=brief)
    rendered = _render_checked(run, checked)
    criteria = report_criteria(run, checked, rendered)
    if run.has_model:
        checked = _within_length(run, checked)
        rendered = _render_checked(run, checked)
        criteria = as_delivered(criteria, report_criteria(run, checked, rendered))
    gate = await report_gate(run, criteria)
    run.journal.emit(gate)
    return Written(checked, rendered, gate)


def _within_length(run: Run, checked: Checked) -> Checked:
    """Return the draft with the values that newer ones replaced where the report has room for
    them, cut to the length of its form and depth; up to half as long again where quotations take
    more words than the statements whose place they take. What its asker is to do comes on top,
    but not in a memo.
    """
    wanted = run.limits.words[1] if len(run.ledger.aspects) > USUAL_PARTS else 0
    most = most_words(run.shape, run.config.research_depth, wanted)
    asked = term_set(run.question.text)

    def fits(checked: Checked) -> bool:
        if most is None:
            return True
        room = most + min(words_of_quoting(checked.draft), most // 2)
        if run.form >= Form.EDITED and run.shape.form != "memo":
            room += sum(step.words for step in checked.draft.next_steps)
        return count_words(_render_checked(run, checked).markdown) <= room

    def is_short(draft: Draft) -> bool:
        return fits(replace(checked, draft=draft))

    records = run.ledger.book.records
    events = [said for _, said in course_events(checked.draft, run.ledger)]
    events += course_items(checked.draft) if run.form >= Form.EDITED else []

    sides = first_of_sides(checked.draft, run.ledger)

    gives_way = unplaced_quotes(checked.draft)

    def is_kept(said: Statement) -> bool:
        if said in gives_way:
            return False
        is_disputed = any(records[i].contradicts for i in said.evidence)
        is_side = is_disputed and said in sides
        is_late = not checked.found_late.isdisjoint(said.evidence)
        is_needed = is_late or said in leads or said in explaining
        return said in events or is_side or is_needed

    answered = {a.id for a in run.ledger.aspects.values() if a.state in ANSWERING}

    def answered_by(said: Statement) -> Set[str]:
        return {part for i in said.evidence for part in records[i].answers} & answered

    recent = Stale.on(run.question.today).figures
    leads, explaining = _leads(run, checked.draft), _explaining(checked.draft)

    @cache
    def cost(said: Statement) -> float:
        dates = [date_of_statement(records[i]) for i in said.evidence if records[i].fields.numbers]
        is_stale = bool(dates) and "" < max(dates) < recent
        is_unplaced = said in gives_way
        return cost_by_words(said, asked) + STALE_COST * is_stale + UNPLACED_COST * is_unplaced

    dated = with_previous_values(checked.draft, run.ledger)
    if is_short(dated):
        return replace(checked, draft=dated)
    draft, is_concise = checked.draft, _is_concise(run)
    if is_concise and not draft.by_code:
        draft = with_other_findings(draft, run.ledger)
    has_figures = run.config.research_depth != "quick" or is_concise
    draft = replace(draft, short_answer=with_one_landmark(draft.short_answer))
    tabled = Relations() if is_led(run) and run.ledger.tables else run.ledger.relations
    draft = told_once(draft, tabled, has_figures, events, is_led(run))
    checked = replace(checked, draft=draft, is_dense=True)
    short = shorten(draft, is_short, is_kept, answered_by, cost)
    if draft.is_authored and run.form >= Form.EDITED:
        short = without_loose_ends(short, draft, run.ledger.plan.language)
    left = _in_sections(draft) - _in_sections(short)
    shortened = replace(checked, draft=short, shortened=len(left))
    whole = replace(shortened, keeps_figures=True)
    is_room = run.form >= Form.COMPUTED and fits(whole)
    return whole if is_room else shortened


def _in_sections(draft: Draft) -> set[Statement]:
    return {said for part in draft.sections for said in part.statements if said.evidence}


def _leads(run: Run, draft: Draft) -> set[Statement]:
    """Return the first statement of each section, if sections begin with their answers."""
    return {part.statements[0] for part in draft.sections} if is_led(run) else set()


def _explaining(draft: Draft) -> set[Statement]:
    """Return the statements of sections that alone have evidence of the short answer."""
    short = {i for said in draft.short_answer if not said.is_verdict for i in said.evidence}
    told: dict[str, list[Statement]] = {}
    for section in draft.sections:
        for said in section.statements:
            for i in short.intersection(said.evidence):
                told.setdefault(i, []).append(said)
    return {only for only, *others in told.values() if not others}


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


async def publish_report(run: Run, written: Written | None) -> None:
    """Emit the report as it was written and end the run; of evidence that answers nothing, only
    the closest passages.
    """
    if written is not None:
        _emit_report(run, written.checked, written.rendered)
    elif run.ledger.evidence:
        draft = draft_closest(run.ledger)
        draft = replace(draft, short_answer=choose_short(draft.short_answer, ()))
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
    is_quick, checks = depth == "quick", _checks(checked)
    layout = Layout(
        as_table=run.shape.form == "table",
        is_brief=has_model and is_quick,
        is_terse=_is_terse(run) or checked.is_dense,
        is_dense=checked.is_dense,
        keeps_figures=checked.keeps_figures,
        names_sources=has_model and run.shape.form == "review",
        has_figures=_has_figures(run, checked),
        stale=stale_in(run.ledger, run.question.today) if has_model else None,
        has_extremes=has_model and not is_quick and not checked.is_dense,
        summary_sentences=MOST_SENTENCES - has_model,
        is_direct=has_model,
        lists_changes=_lists_changes(run),
        names_kinds=has_model and not is_quick,
        has_room=has_model and depth == "thorough",
        is_led=is_led(run),
        today=run.question.today if has_model else "",
        checks=checks if has_model and run.form >= Form.COMPUTED else None,
    )
    if layout.is_terse and not layout.is_dense:
        ended = ""
    shortened = words.count("shortened", checked.shortened) if checked.shortened else ""
    how = _how_checked(words, checks) if run.form < Form.COMPUTED else ""
    told = " · ".join(filter(None, (how, shortened, ended)))
    return run.rules.render_report(run.ledger, draft, told, checked.cut, by_code, layout)


def _lists_changes(run: Run) -> bool:
    """Return whether the report has a table of what has changed, which needs room."""
    is_long = run.config.research_depth != "quick" and run.shape.form in IN_SECTIONS
    is_told = run.form >= Form.COMPUTED and bool(run.ledger.relations.changes)
    return run.has_model and is_long and (is_told or asks_for_changes(run.question.text))


def _tells_what_is_thin(run: Run, draft: Draft) -> bool:
    """Return whether the report should be exhaustive and mark sections without further findings."""
    is_whole = run.config.research_depth == "thorough" and run.shape.form in IN_SECTIONS
    return run.has_model and is_whole and not draft.by_code


def _has_figures(run: Run, checked: Checked) -> bool:
    """Return whether key figures stand above the sections: not where steps answer the question, or
    their author has chosen what to tell.
    """
    draft = checked.draft
    if not run.has_model or (run.form >= Form.EDITED and (draft.next_steps or draft.is_authored)):
        return False
    is_quick = run.config.research_depth == "quick"
    return not is_quick or (checked.is_dense and _is_concise(run))


def _is_concise(run: Run) -> bool:
    """Return whether a report that is too long has key figures, and may say what the draft left
    out: a quick one whose form nobody chose.
    """
    return _is_terse(run) and run.shape.form == "full"


def _is_terse(run: Run) -> bool:
    return run.has_model and run.config.research_depth == "quick"


def _how_checked(words: Labels, checks: Checks) -> str:
    """Return what vouches for the statements, and how many planted errors the verifier found; ""
    where code vouches for all. Since `Form.COMPUTED` the method note says it.
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
    _mark_open(run.ledger, rendered)
    run.journal.emit(_to_report(checked, rendered))


def _to_report(checked: Checked, rendered: Rendered) -> Report:
    listed = rendered.open_points
    left_open = tuple((each.aspect_id, each.text) for each in listed or ())
    number = None if listed is None else len(listed)
    checks = replace(
        _checks(checked),
        open_points=number,
        left_open=left_open,
        disputes=rendered.disputes if checked.draft.is_whole else None,
    )
    return Report(rendered.markdown, rendered.citations, checks, rendered.short_answer)


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
        shortened=checked.shortened,
        steps_refused=checked.steps_refused,
        steps_unchecked=checked.steps_unchecked,
    )


def _mark_open(ledger: Ledger, rendered: Rendered) -> None:
    """Count on each sub-question what the report leaves open."""
    listed = Counter(each.aspect_id for each in rendered.open_points or ())
    for part in ledger.aspects:
        ledger.set_aspect(part, open_points=listed[part])


def _mark_cited(ledger: Ledger, rendered: Rendered) -> None:
    for citation in rendered.citations:
        ledger.put_source(replace(ledger.sources[citation.url], status="cited"))
