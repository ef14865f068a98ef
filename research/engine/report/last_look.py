"""A last look for what a report would leave open, on the pages that were read.

To leave a point open that a read page tells is worse than to leave it out. What the look finds
stands in the section of its sub-question, as a statement where code vouches for it, otherwise as a
quotation: no verifier is asked about it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from research.engine.evidence.ledger import Ledger
from research.engine.evidence.store import Finding
from research.engine.journal.forms import Form
from research.engine.llm_tasks.last_look import LAST_LOOK, OpenPoint, look_once_more
from research.engine.llm_tasks.prompting.ask import TaskFailedError
from research.engine.offline.drafting import quote_statement
from research.engine.ports import ToolFailedError
from research.engine.records import Evidence
from research.engine.report.draft import Draft, Section, Statement, check_statement, find_faults
from research.engine.report.key_claims import is_led
from research.engine.report.parts.headings import headings_of
from research.engine.report.rendering.closing import points_left
from research.engine.report.report_gate import Checked
from research.engine.run import Run
from research.engine.text.offload import run_in_thread


async def with_last_look(run: Run, checked: Checked) -> Checked:
    """Return the checked draft with what read pages tell of its open points, without these points;
    as it is where nothing is left open or found, or the call failed.
    """
    points = _points_of(run, checked.draft)
    if not points:
        return checked
    run.report_action("Looking once more for what is still open")
    try:
        found = await look_once_more(run, points)
    except TaskFailedError as failed:
        run.fell_back(LAST_LOOK.name, failed.cause)
        return checked
    except ToolFailedError as failed:
        run.fell_back(LAST_LOOK.name, failed.reason)
        return checked
    told = await run_in_thread(_told, _take_in(run, found), checked.draft, run.ledger)
    draft = _with_told(checked.draft, told, run.ledger)
    settled = {point.text for point, _ in found}
    left = tuple(each for each in draft.open or () if each[1] not in settled)
    return replace(checked, draft=replace(draft, open=left), found_late=tuple(told))


def _points_of(run: Run, draft: Draft) -> list[OpenPoint]:
    """Return the points that the report would name."""
    is_rewritten = run.question.seed is not None and run.question.seed.rewrites
    if run.form < Form.COMPUTED or not is_led(run) or is_rewritten or not draft.open:
        return []
    left = points_left(draft, run.ledger, headings_of(run.ledger).values())
    return [OpenPoint(n, part, text) for n, (part, text) in enumerate(left, 1)]


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


def _told(
    taken: Mapping[str, tuple[Evidence, str]], draft: Draft, ledger: Ledger
) -> dict[Statement, str]:
    """Return a statement for each record that the draft doesn't cite, with its sub-question."""
    cited = {i for said in draft.statements for i in said.evidence}
    told: dict[Statement, str] = {}
    for record, part in taken.values():
        if record.id in cited:
            continue
        said = Statement(record.claim, (record.id,))
        is_faulty = find_faults(Draft((), (Section(part, (said,)),)), ledger)
        if is_faulty or check_statement(said, ledger).outcome != "carried":
            said = quote_statement(record)
        told[replace(said, about=part)] = part
    return told


def _with_told(draft: Draft, told: Mapping[Statement, str], ledger: Ledger) -> Draft:
    """Return the draft with statements at the end of the sections of their sub-questions."""
    sections = {section.aspect_id: section for section in draft.sections}
    for said, part in told.items():
        old = sections.get(part, Section(part, ()))
        sections[part] = replace(old, statements=(*old.statements, said))
    return replace(draft, sections=tuple(sections[i] for i in ledger.aspects if i in sections))
