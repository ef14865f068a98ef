"""Task `last_look`: whether pages that were read tell what the author of a report leaves open.

The author knows the findings only. Findings beyond the most that are kept of a page, what was never
shown of a long page, and pages that no round read, are unknown to it. So code searches once more
for each point, and looks for it in the whole texts of all pages, and the model says in one call
which of the closest passages tell a point. What it points at is checked like any other finding, and
stands in the section of its sub-question as a statement, which is checked with those of the draft.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace

from research.engine.evidence.ledger import Ledger
from research.engine.journal.forms import Form
from research.engine.llm_tasks.prompting.ask import TaskFailedError
from research.engine.ports import ToolFailedError
from research.engine.records import Evidence, OpenPoint
from research.engine.report.checking.look_again import LAST_LOOK, Found, look_once_more
from research.engine.report.draft import Draft, Section, Statement
from research.engine.report.key_claims import is_led
from research.engine.report.parts.dating import with_previous_values
from research.engine.report.parts.headings import headings_of
from research.engine.report.parts.inline_quotes import quotation_among_statements
from research.engine.report.parts.subjects import refers_back
from research.engine.report.rendering.closing import points_left
from research.engine.rounds.looking_up import look_up
from research.engine.run import Run
from research.engine.untrusted.order_words import content_terms

LEAST_SHARED = 2
"""Fewest content words that an added statement has in common with the one that it follows."""
MOST_TOLD = 5
"""Most statements of the report that the prompt shows under a point."""


@dataclass(frozen=True)
class Outcome:
    """The state of an open point after the look.

    `now` is the point with what is left of it, None if it is answered in full. The answer rests on
    the records `found` by the look, or on those behind the statements that the prompt showed with
    the point (`told`).
    """

    point: OpenPoint
    now: OpenPoint | None
    found: frozenset[str] = frozenset()
    told: frozenset[str] = frozenset()

    def holds(self, cited: Set[str]) -> bool:
        """Return whether a report that cites this evidence still tells what changed the point."""
        return self.now == self.point or (
            self.found <= cited and not cited.isdisjoint(self.found or self.told)
        )


@dataclass(frozen=True)
class LastLook:
    """A draft after the look, and the ids of the evidence that was found."""

    draft: Draft
    evidence: frozenset[str] = frozenset()
    outcomes: Sequence[Outcome] = ()

    def reopened(self, checked: Draft) -> Draft:
        """Return a checked draft whose points are open again where the check removed what answered
        them; points that were added since are kept.
        """
        cited = {i for said in checked.statements for i in said.evidence}
        if all(each.holds(cited) for each in self.outcomes):
            return checked
        points = [each.now if each.holds(cited) else each.point for each in self.outcomes]
        known = {each.now for each in self.outcomes} | {each.point for each in self.outcomes}
        points += [point for point in checked.open or () if point not in known]
        return replace(checked, open=tuple(point for point in points if point))


async def with_last_look(run: Run, draft: Draft) -> LastLook:
    """Return the draft with what read pages tell of its open points, without those that are told in
    full; as it is where nothing is left open or found, or the call failed.
    """
    points = _points_of(run, draft)
    if not points:
        return LastLook(draft)
    run.report_action("Looking once more for what is still open")
    is_edited = run.form >= Form.EDITED
    if is_edited:
        await look_up(run, points)
    told_on = {each: _told_on(each, draft) if is_edited else [] for each in points}
    try:
        looked = await look_once_more(run, points, told_on)
    except TaskFailedError as failed:
        run.fell_back(LAST_LOOK.name, failed.cause)
        return LastLook(draft)
    except ToolFailedError as failed:
        run.fell_back(LAST_LOOK.name, failed.reason)
        return LastLook(draft)
    found = _without_outdated(looked.found, run.ledger)
    taken = _take_in(run, found)
    told = _told(taken, draft, run.ledger)
    by_point: dict[str, set[str]] = {}
    for record_id, (_, each) in taken.items():
        by_point.setdefault(each.point.text, set()).add(record_id)
    late = frozenset(i for said in told for i in said.evidence)
    whole = {each.text for each in looked.settled}
    outcomes = []
    for point in draft.open or ():
        now = replace(
            point,
            text=looked.left.get(point, point.text),
            in_part=point.text in by_point or point in looked.left,
        )
        seen = {i for said in told_on.get(point, ()) for i in said.evidence}
        found_on = frozenset(by_point.get(point.text, ()))
        is_whole = point.text in whole
        outcomes.append(Outcome(point, None if is_whole else now, found_on, frozenset(seen)))
    left = tuple(each.now for each in outcomes if each.now)
    new = replace(_with_told(draft, told, run.ledger), open=left)
    return LastLook(new, late, outcomes if is_edited else ())


def _told_on(point: OpenPoint, draft: Draft) -> list[Statement]:
    """Return the statements that share most content words with a point, those of its sub-question
    first.
    """
    wanted = content_terms(f"{point.text} {point.words}")
    shared = {
        said: len(wanted & content_terms(said.body)) + (point.aspect_id in section.parts) / 2
        for section in draft.sections
        for said in section.statements
    }
    on_it = [said for said, number in shared.items() if number >= 1]
    return sorted(on_it, key=lambda said: -shared[said])[:MOST_TOLD]


def _points_of(run: Run, draft: Draft) -> list[OpenPoint]:
    """Return the points that the report would name."""
    is_rewritten = run.question.seed is not None and run.question.seed.rewrites
    if run.form < Form.COMPUTED or not is_led(run) or is_rewritten or not draft.open:
        return []
    told = with_previous_values(draft, run.ledger)
    return points_left(told, run.ledger, headings_of(run.ledger).values())


def _without_outdated(found: Sequence[Found], ledger: Ledger) -> list[Found]:
    """Return the findings without those whose quote gives a value that has been replaced."""
    records = ledger.book.records
    outdated = {s.quote for i in ledger.relations.replaced for s in records[i].sources}
    return [each for each in found if each.finding.source.quote not in outdated]


def _take_in(run: Run, found: Sequence[Found]) -> dict[str, tuple[Evidence, Found]]:
    """Enter findings into the ledger; return each record with its finding, by id."""
    ledger, wall = run.ledger, run.wall()
    before, taken = dict(ledger.book.records), dict[str, tuple[Evidence, Found]]()
    for each in found:
        masked = replace(each.finding, claim=wall.masked(each.finding.claim))
        record, _ = ledger.book.add(masked, ledger.round.number)
        taken[record.id] = record, each
        part = ledger.aspects[each.point.aspect_id]
        if record.id not in part.evidence_ids:
            ledger.set_aspect(part.id, evidence_ids=(*part.evidence_ids, record.id))
    ledger.emit_evidence(before)
    return taken


def _told(
    taken: Mapping[str, tuple[Evidence, Found]], draft: Draft, ledger: Ledger
) -> dict[Statement, str]:
    """Return a statement for each record that the draft doesn't cite, with its sub-question; of one
    whose claim was refused its quotation.
    """
    cited = {i for said in draft.statements for i in said.evidence}
    told: dict[Statement, str] = {}
    for record, each in taken.values():
        part = each.point.aspect_id
        said: Statement | None = Statement(record.claim, (record.id,), about=part)
        if each.refused:
            said = quotation_among_statements(record, ledger.aspects[part].text, each.refused)
        if said and record.id not in cited:
            told[said] = part
    return told


def _with_told(draft: Draft, told: Mapping[Statement, str], ledger: Ledger) -> Draft:
    """Return the draft with statements in the sections of their sub-questions, of several the one
    that has most words in common with it, each behind the statement with which it has most, as an
    item if that is one, otherwise at the end.
    """
    sections = {section.aspect_id: section for section in draft.sections}
    for said, part in told.items():
        terms = content_terms(said.body)
        on_it = (section for section in draft.sections if part in section.parts)
        closest = max(
            on_it,
            key=lambda each: max(
                (len(terms & content_terms(s.body)) for s in each.statements), default=0
            ),
            default=None,
        )
        old = closest or Section(part, ())
        own = sections.get(old.aspect_id, old)
        told_there = _with_one_more(own.statements, said, ledger)
        sections[own.aspect_id] = replace(own, statements=told_there)
    order = sections if draft.is_authored else ledger.aspects
    return replace(draft, sections=tuple(sections[i] for i in order if i in sections))


def _with_one_more(
    statements: Sequence[Statement], said: Statement, ledger: Ledger
) -> tuple[Statement, ...]:
    """Return the statements with one more, not between one and another that refers back to it."""
    terms = content_terms(said.body)
    near = max(statements, key=lambda each: len(terms & content_terms(each.body)), default=said)
    shared = len(terms & content_terms(near.body)) if near != said else 0
    if shared < LEAST_SHARED or ledger.began < Form.EDITED:
        return (*statements, said)
    at, language = statements.index(near) + 1, ledger.plan.language
    while at < len(statements) and refers_back(statements[at].body, language, frozenset()):
        at += 1
    return (*statements[:at], replace(said, is_item=near.is_item), *statements[at:])
