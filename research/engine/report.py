"""The report: drafted from ledger ids, checked by code, repaired once, cut, rendered."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from research.engine.draft import Draft, Section, Statement, faults, mended, without
from research.engine.extractive.drafting import SHORT_ANSWER_WORDS, closest, statement
from research.engine.labels import labels
from research.engine.ledger import ANSWERING, Ledger
from research.engine.markdown import Rendered, render
from research.engine.records import (
    Checks,
    Criterion,
    GateResult,
    Report,
    Status,
)
from research.engine.run import Run
from research.engine.shaping import shaped
from research.engine.tasks.draft import drop, repair, write
from research.engine.tasks.judge import judge

KEY_CLAIMS = 0.9
STATEMENTS = 0.5


@dataclass(frozen=True)
class Checked:
    """A draft that passed, and what it took."""

    draft: Draft
    repaired: int
    cut: int


@dataclass(frozen=True)
class Written:
    """A draft that was checked and rendered, and what Gate 3 says of it."""

    checked: Checked
    rendered: Rendered
    gate: GateResult


async def compose(run: Run) -> Written | None:
    """Draft, check, repair, cut and judge the report; None where no sub-question is answered,
    though there may be notes on the topic.
    """
    ledger = run.ledger
    if not ledger.answered():
        await drop(run)
        return None
    run.doing("Writing the report")
    drafted = shaped(await write(run), run.shape)
    checked = _with_key_claims(ledger, await _checked(run, drafted))
    rendered = _rendered(run, checked)
    gate = await _gate(run, checked, rendered)
    run.journal.emit(gate)
    return Written(checked, rendered, gate)


async def publish(run: Run, written: Written | None) -> None:
    """Emit the report as it was written and end the run; of evidence that answers nothing, only
    the closest passages.
    """
    if written is not None:
        _emit(run, written.checked, written.rendered)
    elif run.ledger.evidence:
        draft = closest(run.ledger)
        checked = Checked(replace(draft, short_answer=_short(draft.short_answer, ())), 0, 0)
        _emit(run, checked, _rendered(run, checked))
    else:
        run.journal.emit(Report(""))
    await run.journal.elapsed("end")
    run.tell_usage()
    run.change(status=Status.COMPLETED)
    if written is not None and run.has_model and run.config.enable_online_evals:
        await judge(run, written.rendered.markdown)


def _rendered(run: Run, checked: Checked) -> Rendered:
    words, by_code = labels(run.ledger.plan.language), run.journal.meter.usage.fallen_back
    ended = words.ended(run.state.termination_reason, run.state.termination_text or "")
    as_table = run.shape.form == "table"
    return render(run.ledger, checked.draft, ended, checked.cut, by_code, as_table)


def _emit(run: Run, checked: Checked, rendered: Rendered) -> None:
    _mark_cited(run.ledger, rendered)
    run.journal.emit(_report(checked, rendered))


async def _checked(run: Run, draft: Draft) -> Checked:
    """Faulty statements get one repair by the model; what is still faulty is cut."""
    found, repaired = faults(draft, run.ledger), 0
    if found and run.has_model and not run.is_small:
        draft = mended(draft, await repair(run, draft, found))
        left = faults(draft, run.ledger)
        repaired, found = max(0, len(found) - len(left)), left
    return Checked(without(draft, {fault.number for fault in found}), repaired, len(found))


def _with_key_claims(ledger: Ledger, checked: Checked) -> Checked:
    """Cutting is no way to pass: what answers a sub-question best comes in as a quotation where
    the draft lost it, or has no section on that sub-question.
    """
    draft = checked.draft
    cited = {i for s in draft.statements for i in s.evidence}
    sections = {section.aspect_id: section for section in draft.sections}
    for aspect_id in ledger.aspects:
        best = next((r for r in ledger.supporting(aspect_id) if r.key), None)
        if best and (best.id not in cited or aspect_id not in sections):
            old = sections.get(aspect_id, Section(aspect_id, ()))
            said = (*old.statements, statement(best))
            sections[aspect_id] = replace(old, statements=said)
    ordered = tuple(sections[a] for a in ledger.aspects if a in sections)
    given = [said for said in draft.short_answer if _answers(ledger, said)]
    short = _short(given, [s for s in ordered if ledger.aspects[s.aspect_id].state in ANSWERING])
    return replace(checked, draft=replace(draft, sections=ordered, short_answer=short))


def _answers(ledger: Ledger, said: Statement) -> bool:
    """Whether a statement may be part of the short answer: notes on a sub-question that stays
    open may not.
    """
    cited = [ledger.book.records[i] for i in said.evidence]
    answered = {a.id for a in ledger.aspects.values() if a.state in ANSWERING}
    return not cited or any(answered.intersection(record.answers) for record in cited)


def _short(given: Sequence[Statement], sections: Sequence[Section]) -> tuple[Statement, ...]:
    """As many whole statements as fit into the short answer. Where none that is cited does, the
    first cited one of the draft that fits, or its first at all.
    """
    kept: list[Statement] = []
    room = SHORT_ANSWER_WORDS
    for said in given:
        room -= said.words
        if room < 0:
            break
        kept.append(said)
    if any(said.evidence for said in kept):
        return tuple(kept)
    every = [*given, *(said for section in sections for said in section.statements)]
    spare = [said for said in every if said.evidence]
    fitting = (said for said in spare if said.words <= SHORT_ANSWER_WORDS)
    return tuple([next(fitting, *spare[:1])] if spare else ())


def _report(checked: Checked, rendered: Rendered) -> Report:
    statements = checked.draft.statements
    cited = sum(bool(statement.evidence) for statement in statements)
    checks = Checks(len(statements), cited, len(statements) - cited, checked.repaired, checked.cut)
    return Report(rendered.markdown, rendered.citations, checks, rendered.short_answer)


def _mark_cited(ledger: Ledger, rendered: Rendered) -> None:
    for citation in rendered.citations:
        ledger.put_source(replace(ledger.sources[citation.url], status="cited"))


async def _gate(run: Run, checked: Checked, rendered: Rendered) -> GateResult:
    """Gate 3 on the draft: coverage, structure, citations, with its figures."""
    ledger, draft = run.ledger, checked.draft
    keys = [record for record in ledger.evidence if record.key]
    cited = {i for citation in rendered.citations for i in citation.evidence_ids}
    answered = [a for a in ledger.aspects.values() if a.state in ANSWERING]
    covered = {section.aspect_id for section in draft.sections}
    stood = len(draft.statements)
    criteria = (
        Criterion("share of answered sub-questions with a section",
                  sum(a.id in covered for a in answered) / max(1, len(answered)), 1),
        Criterion("short answer", float(bool(draft.short_answer)), 1),
        Criterion("share of key claims in the report",
                  sum(r.id in cited for r in keys) / max(1, len(keys)), KEY_CLAIMS),
        Criterion("share of statements that stood the check",
                  round(stood / max(1, stood + checked.cut), 4), STATEMENTS),
    )  # fmt: skip
    passed = all(criterion.met for criterion in criteria)
    at = datetime.fromisoformat(await run.journal.now(f"{run.report_place}/gate"))
    failed = tuple(c.name for c in criteria if not c.met)
    score = round(sum(min(1.0, c.value / c.minimum) for c in criteria) / len(criteria), 4)
    return GateResult(
        ledger.round.number, "draft", "pass" if passed else "retry",
        score, None, criteria, failed, at,
    )  # fmt: skip
